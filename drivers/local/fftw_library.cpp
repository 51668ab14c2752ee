// The guru interface of FFTW 3.
//
// Wisdom is text: a line "plans of NAME", then sections that begin with a line [decisions], [double] or [single]. The
// last two hold what FFTW exports for that precision; the first has one line "work = candidate" for each choice that
// SplitPlanner took, and "plan ... = stopped" for each plan for which FFTW had not the time.

#include "local/fftw_library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <set>
#include <sstream>
#include <stdexcept>

#include "local/pass_fft.hpp"

namespace fourscore::local {

namespace {

constexpr const char* stopped = "stopped";
constexpr Index alignment_without_a_word = 64;

/// One plan of FFTW.
template <class Real>
class DirectPass : public Pass {
 public:
  enum class Kind { complex, r2c, c2r };
  DirectPass(FftwHandle<Real> handle, Kind kind) : handle_(std::move(handle)), kind_(kind) {}
  void run(std::byte* in, std::byte* out) const override {
    switch (kind_) {
      case Kind::complex:
        return handle_.api().execute(handle_.get(), as<Complex>(in), as<Complex>(out));
      case Kind::r2c:
        return handle_.api().execute_r2c(handle_.get(), as<Real>(in), as<Complex>(out));
      case Kind::c2r:
        return handle_.api().execute_c2r(handle_.get(), as<Complex>(in), as<Real>(out));
    }
  }
  [[nodiscard]] std::string describe() const override { return handle_.describe(); }

 private:
  using Complex = typename FftwApi<Real>::Complex;
  template <class T>
  static T* as(std::byte* place) {
    return reinterpret_cast<T*>(place);
  }

  FftwHandle<Real> handle_;
  Kind kind_;
};

std::string first_line_of(const std::string& text) { return text.substr(0, text.find('\n')); }

/// FFTW's text of all plans of this process; its first line names the set of solvers. Empty for a library that has no
/// memory of its own: it plans by rules, and alike on all ranks.
template <class Real>
std::string exported_plans(const FftwApi<Real>& api) {
  if (api.export_wisdom == nullptr || api.import_wisdom == nullptr || api.forget_wisdom == nullptr) return {};
  const FftwText text(api.export_wisdom());
  return text ? text.get() : "";
}

template <class Real>
class FftwPlanner : public PassPlanner {
 public:
  enum class From { anything, memory };
  using OwnCandidates = std::function<std::vector<Candidate>(const Work&)>;
  FftwPlanner(const FftwFunctions& functions, const LocalFftSpec& spec, Decisions& decisions, From from,
              OwnCandidates own)
      : functions_(functions),
        api_(functions.of<Real>()),
        spec_(spec),
        decisions_(decisions),
        from_(from),
        own_(std::move(own)) {}

  [[nodiscard]] PassPtr plan(const Work& work, double limit_s) const override {
    functions_.use_threads<Real>(spec_.threads);
    Handle handle = spec_.effort == Effort::estimate ? handle_of(work, FFTW_ESTIMATE) : measured_handle(work, limit_s);
    if (!handle && work.batch.size() > 1) return plan_with_one_loop(work, limit_s);
    if (!handle)
      throw std::runtime_error(fmt::format("FFTW refused to plan axes{} batch{}{} (count:in stride:out stride)",
                                           loops_text(work.axes), loops_text(work.batch),
                                           work.real_length > 0 ? fmt::format(" reals {}", work.real_length) : ""));
    using Kind = typename DirectPass<Real>::Kind;
    return std::make_unique<DirectPass<Real>>(std::move(handle), work.real_length == 0 ? Kind::complex
                                                                 : forward()           ? Kind::r2c
                                                                                       : Kind::c2r);
  }

  [[nodiscard]] std::vector<Candidate> candidates(const Work& work) const override { return own_(work); }

  /// FFTW imports nothing over what it knows, so it forgets that first.
  [[nodiscard]] bool share(PlanningPeers& peers) const override {
    const std::string own = exported_plans(api_);
    if (own.empty()) return false;
    const std::string shared = peers.of_first(own);
    const std::string stopped_names = peers.of_first(names_stopped());
    if (peers.is_first()) {
      planned_.clear();
      return false;
    }
    api_.forget_wisdom();
    if (api_.import_wisdom(shared.c_str()) == 0 || api_.import_wisdom(own.c_str()) == 0)
      throw std::runtime_error("FFTW does not accept the plans of another rank");
    for (const std::string& name : std::exchange(planned_, {})) decisions_.erase(name);
    std::istringstream lines(stopped_names);
    for (std::string name; std::getline(lines, name);) decisions_[name] = stopped;
    return true;
  }

  [[nodiscard]] bool same_alignment(std::byte* place, Index bytes) const override {
    if (api_.alignment == nullptr) return bytes % alignment_without_a_word == 0;
    return api_.alignment(reinterpret_cast<Real*>(place)) == api_.alignment(reinterpret_cast<Real*>(place + bytes));
  }

 private:
  using Complex = typename FftwApi<Real>::Complex;
  using Handle = FftwHandle<Real>;

  /// Other libraries may take one loop over transforms, as MKL's does: they are called for each element of the others.
  [[nodiscard]] PassPtr plan_with_one_loop(const Work& work, double limit_s) const {
    std::vector<Loop> loops = merged(work.batch);
    const auto longest = std::ranges::max_element(loops, {}, &Loop::count);
    Work inner = work;
    inner.batch.assign(longest, loops.empty() ? longest : longest + 1);
    if (!loops.empty()) loops.erase(longest);
    inner.any_alignment = !loops.empty();
    PassPtr pass = plan(inner, limit_s);
    constexpr auto bytes = static_cast<Index>(sizeof(Complex));
    for (const Loop& loop : loops)
      pass = repeated(loop.count, loop.in_stride * bytes, loop.out_stride * bytes, std::move(pass));
    return pass;
  }
  [[nodiscard]] bool forward() const { return spec_.direction == Direction::forward; }

  /// Where FFTW is stopped while it measures it gives the plan of its estimate, and forgets that it tried. So the name
  /// of the plan is kept: later launches take the same plan, and do not try for as long again.
  [[nodiscard]] Handle measured_handle(const Work& work, double limit_s) const {
    const unsigned effort = fftw_flag(spec_.effort);
    const std::string name = name_of(work);
    const auto decided = decisions_.find(name);
    if (decided != decisions_.end() && decided->second == stopped) return handle_of(work, FFTW_ESTIMATE);
    if (exported_plans(api_).empty()) return handle_of(work, effort);
    if (Handle known = handle_of(work, effort | FFTW_WISDOM_ONLY)) return known;
    if (from_ == From::memory) throw NotRemembered{};
    planned_.insert(name);
    const auto start = std::chrono::steady_clock::now();
    limit_time(limit_s < 0 ? FFTW_NO_TIMELIMIT : limit_s);
    Handle handle = handle_of(work, effort);
    limit_time(FFTW_NO_TIMELIMIT);
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    if (limit_s < 0 || spent.count() < limit_s || handle_of(work, effort | FFTW_WISDOM_ONLY)) return handle;
    decisions_[name] = stopped;
    return handle_of(work, FFTW_ESTIMATE);
  }
  void limit_time(double seconds) const {
    if (api_.limit_time != nullptr) api_.limit_time(seconds);
  }
  /// Names the plans made since the last share(), a line each.
  [[nodiscard]] std::string names_stopped() const {
    std::string names;
    for (const std::string& name : planned_)
      if (decisions_.contains(name)) names += name + "\n";
    return names;
  }
  [[nodiscard]] std::string name_of(const Work& work) const {
    return fmt::format("plan {} {} threads={} {} {}{}{} axes{} batch{}",
                       std::is_same_v<Real, double> ? "double" : "single", to_string(spec_.effort), spec_.threads,
                       to_string(spec_.direction), work.in == work.out ? "in-place" : "out-of-place",
                       work.any_alignment ? " any-alignment" : "",
                       work.real_length > 0 ? fmt::format(" reals {}", work.real_length) : "", loops_text(work.axes),
                       loops_text(work.batch));
  }

  [[nodiscard]] Handle handle_of(const Work& work, unsigned effort) const {
    return {work.real_length > 0 ? real_plan(work, effort) : complex_plan(work, effort), api_};
  }
  [[nodiscard]] static unsigned flags(const Work& work, unsigned effort) {
    return effort | (work.in == work.out ? 0U : static_cast<unsigned>(FFTW_DESTROY_INPUT)) |
           (work.any_alignment ? static_cast<unsigned>(FFTW_UNALIGNED) : 0U);
  }
  [[nodiscard]] typename FftwApi<Real>::Handle complex_plan(const Work& work, unsigned effort) const {
    const std::vector<fftw_iodim64> axes = dimensions(work.axes, 1, 1);
    const std::vector<fftw_iodim64> batch = dimensions(work.batch, 1, 1);
    return api_.plan(static_cast<int>(axes.size()), axes.data(), static_cast<int>(batch.size()), batch.data(),
                     reinterpret_cast<Complex*>(work.in), reinterpret_cast<Complex*>(work.out),
                     forward() ? FFTW_FORWARD : FFTW_BACKWARD, flags(work, effort));
  }
  /// FFTW counts strides of the real side in reals, two to a complex element, and halves the last axis it is given.
  [[nodiscard]] typename FftwApi<Real>::Handle real_plan(const Work& work, unsigned effort) const {
    const Index in_unit = forward() ? 2 : 1;
    const Index out_unit = forward() ? 1 : 2;
    std::vector<fftw_iodim64> axes = dimensions({work.axes.begin() + 1, work.axes.end()}, in_unit, out_unit);
    axes.push_back({work.real_length, 1, 1});
    const std::vector<fftw_iodim64> batch = dimensions(work.batch, in_unit, out_unit);
    const auto rank = static_cast<int>(axes.size());
    const auto loops = static_cast<int>(batch.size());
    if (forward())
      return api_.plan_r2c(rank, axes.data(), loops, batch.data(), reinterpret_cast<Real*>(work.in),
                           reinterpret_cast<Complex*>(work.out), flags(work, effort));
    return api_.plan_c2r(rank, axes.data(), loops, batch.data(), reinterpret_cast<Complex*>(work.in),
                         reinterpret_cast<Real*>(work.out), flags(work, effort));
  }
  [[nodiscard]] static std::vector<fftw_iodim64> dimensions(const std::vector<Loop>& loops, Index in_unit,
                                                            Index out_unit) {
    std::vector<fftw_iodim64> result;
    for (const Loop& loop : loops) result.push_back({loop.count, in_unit * loop.in_stride, out_unit * loop.out_stride});
    return result;
  }

  const FftwFunctions& functions_;
  const FftwApi<Real>& api_;
  const LocalFftSpec& spec_;
  Decisions& decisions_;
  From from_;
  OwnCandidates own_;
  mutable std::set<std::string> planned_;  ///< names of plans for which FFTW timed since the last share()
};

}  // namespace

Reason FftwLibrary::refuses(Kind /*kind*/, int threads) const {
  if (threads > 1 && !functions().has_threads())
    return fmt::format("{} threads, but {} has none of FFTW's functions for threads", threads, threadless());
  return std::nullopt;
}

std::unique_ptr<LocalFft> FftwLibrary::make(const LocalFftSpec& spec, void* in, void* out) const {
  if (spec.threads < 1) throw InputError(fmt::format("threads is {}; expected 1 or more", spec.threads));
  if (const auto reason = refuses(Kind::c2c, spec.threads)) throw InputError(*reason);
  NoPeers alone;
  return made(spec, in, out, &alone);
}

std::unique_ptr<LocalFft> FftwLibrary::make_from_memory(const LocalFftSpec& spec, void* in, void* out) const {
  try {
    return made(spec, in, out, nullptr);
  } catch (const NotRemembered&) {
    return nullptr;
  }
}

void FftwLibrary::plan_together(const LocalFftSpec& spec, void* in, void* out, PlanningPeers& peers) const {
  (void)made(spec, in, out, &peers);
}

std::unique_ptr<LocalFft> FftwLibrary::made(const LocalFftSpec& spec, void* in, void* out, PlanningPeers* peers) const {
  const std::lock_guard lock(mutex_);
  PassPtr pass;
  if (!is_empty(spec))
    pass = spec.precision == Precision::double_precision ? plan<double>(spec, in, out, peers)
                                                         : plan<float>(spec, in, out, peers);
  return std::make_unique<PassFft>(std::move(pass), in, out, credited_flops_of(spec));
}

template <class Real>
PassPtr FftwLibrary::plan(const LocalFftSpec& spec, void* in, void* out, PlanningPeers* peers) const {
  using Planner = FftwPlanner<Real>;
  const Planner library(functions(), spec, decisions_,
                        peers == nullptr ? Planner::From::memory : Planner::From::anything,
                        [&](const Work& work) { return candidates(work, spec); });
  auto* from = static_cast<std::byte*>(in);
  auto* to = static_cast<std::byte*>(out);
  const bool is_single = spec.single_plan && has_single_plans();
  if (!is_single && same_strides(spec)) return SplitPlanner(spec, library, decisions_, peers).plan(from, to);
  const Work whole{spec.axes, spec.batch, from, to, false, spec.real_length};
  if (peers == nullptr) return library.plan(whole, -1);
  PassPtr pass;
  peers->agree("the library's own plan", [&] { pass = library.plan(whole, -1); }, {});
  return !peers->alone() && library.share(*peers) ? library.plan(whole, -1) : std::move(pass);
}

void FftwLibrary::import_wisdom(const std::string& text, const std::string& origin) const {
  std::istringstream stream(text);
  std::string line;
  if (!std::getline(stream, line) || line != wisdom_header())
    throw InputError(fmt::format("{} cannot be used: expected '{}' as its first line", origin, wisdom_header()));
  const std::lock_guard lock(mutex_);
  std::string section;
  std::string body;
  const auto finish = [&] {
    if (!section.empty()) import_section(origin, section, body);
    body.clear();
  };
  while (std::getline(stream, line)) {
    if (line == "[decisions]" || line == "[double]" || line == "[single]") {
      finish();
      section = line;
    } else if (!line.empty() && section.empty()) {
      throw InputError(
          fmt::format("{} cannot be used: '{}' stands before any section; expected [decisions], [double] or [single]",
                      origin, line));
    } else {
      body += line + "\n";
    }
  }
  finish();
}

void FftwLibrary::import_section(const std::string& origin, const std::string& section, const std::string& body) const {
  if (section == "[decisions]") {
    std::istringstream lines(body);
    for (std::string line; std::getline(lines, line);) {
      if (line.empty()) continue;
      const auto equals = line.find(" = ");
      if (equals == std::string::npos)
        throw InputError(fmt::format("{} cannot be used: line '{}'; expected 'work = candidate'", origin, line));
      decisions_[line.substr(0, equals)] = line.substr(equals + 3);
    }
    return;
  }
  if (section == "[double]")
    import_plans<double>(origin, section, body);
  else
    import_plans<float>(origin, section, body);
}

template <class Real>
void FftwLibrary::import_plans(const std::string& origin, const std::string& section, const std::string& body) const {
  const std::string solvers = first_line_of(body);
  if (exported_plans(functions().of<Real>()).empty()) return;
  const std::string ours = first_line_of(exported_plans(functions().of<Real>()));
  // "(fftw-3.3.10 fftw_wisdom": the rest of the line are the hashes of the solvers.
  const std::string version = ours.substr(0, ours.find(" #"));
  if (solvers != ours && solvers.starts_with(version + " #")) {
    sections_[{section, solvers}] = body;
    return;
  }
  if (functions().of<Real>().import_wisdom(body.c_str()) == 0)
    throw InputError(fmt::format(
        "{} cannot be used: FFTW ({}) does not accept its section {}; it may be damaged or of another version", origin,
        functions().version, section));
  sections_[{section, solvers}] = body;
}

template <class Real>
void FftwLibrary::keep_plans(const std::string& section) const {
  std::string plans = exported_plans(functions().of<Real>());
  if (plans.empty()) return;
  const std::string solvers = first_line_of(plans);
  sections_[{section, solvers}] = std::move(plans);
}

std::string FftwLibrary::export_wisdom() const {
  const std::lock_guard lock(mutex_);
  keep_plans<double>("[double]");
  keep_plans<float>("[single]");
  std::ostringstream text;
  text << wisdom_header() << "\n[decisions]\n";
  for (const auto& [work, candidate] : decisions_) text << work << " = " << candidate << "\n";
  for (const auto& [key, plans] : sections_) text << key.first << "\n" << plans;
  return text.str();
}

}  // namespace fourscore::local
