#include "local/planned_library.hpp"

#include <fmt/format.h>

#include <sstream>

#include "local/pass_fft.hpp"

namespace fourscore::local {

std::unique_ptr<LocalFft> PlannedLibrary::make(const LocalFftSpec& spec, void* in, void* out) const {
  NoPeers alone;
  return made(spec, in, out, &alone);
}

std::unique_ptr<LocalFft> PlannedLibrary::make_from_memory(const LocalFftSpec& spec, void* in, void* out) const {
  try {
    return made(spec, in, out, nullptr);
  } catch (const NotRemembered&) {
    return nullptr;
  }
}

void PlannedLibrary::plan_together(const LocalFftSpec& spec, void* in, void* out, PlanningPeers& peers) const {
  (void)made(spec, in, out, &peers);
}

std::unique_ptr<LocalFft> PlannedLibrary::made(const LocalFftSpec& spec, void* in, void* out,
                                               PlanningPeers* peers) const {
  if (spec.threads < 1) throw InputError(fmt::format("threads is {}; expected 1 or more", spec.threads));
  if (const auto reason = refuses(spec.real_length > 0 ? Kind::r2c : Kind::c2c, spec.threads))
    throw InputError(*reason);
  PassPtr pass;
  if (!is_empty(spec)) {
    const std::lock_guard lock(mutex_);
    const std::unique_ptr<PassPlanner> library = planner_for(spec);
    auto* const from = static_cast<std::byte*>(in);
    auto* const to = static_cast<std::byte*>(out);
    const Work whole{spec.axes, spec.batch, from, to, false, spec.real_length};
    if (!spec.single_plan && same_strides(spec))
      pass = SplitPlanner(spec, *library, decisions_, peers).plan(from, to);
    else if (peers == nullptr)
      pass = library->plan(whole, -1);
    else
      peers->agree("the library's own plan", [&] { pass = library->plan(whole, -1); }, {});
  }
  return std::make_unique<PassFft>(std::move(pass), in, out, credited_flops_of(spec));
}

void PlannedLibrary::import_wisdom(const std::string& text, const std::string& origin) const {
  std::istringstream stream(text);
  std::string line;
  if (!std::getline(stream, line) || line != wisdom_header())
    throw InputError(fmt::format("{} cannot be used: expected '{}' as its first line", origin, wisdom_header()));
  const std::lock_guard lock(mutex_);
  while (std::getline(stream, line)) {
    if (line.empty()) continue;
    const auto equals = line.find(" = ");
    if (equals == std::string::npos)
      throw InputError(fmt::format("{} cannot be used: line '{}'; expected 'work = candidate'", origin, line));
    decisions_[line.substr(0, equals)] = line.substr(equals + 3);
  }
}

std::string PlannedLibrary::export_wisdom() const {
  const std::lock_guard lock(mutex_);
  std::string text = wisdom_header() + "\n";
  for (const auto& [work, candidate] : decisions_) text += work + " = " + candidate + "\n";
  return text;
}

}  // namespace fourscore::local
