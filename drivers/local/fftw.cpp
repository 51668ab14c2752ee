// FFTW 3, double and single, through its guru interface.
//
// Wisdom is text: a line "plans of fftw", then sections that begin with a line [decisions], [double] or [single]. The
// last two hold what FFTW exports for that precision; the first has one line "work = candidate" for each choice that
// SplitPlanner took, and "plan ... = stopped" for each plan for which FFTW had not the time.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "interfaces/local_fft.hpp"
#include "local/fftw_api.hpp"
#include "local/pass_fft.hpp"
#include "local/split_fft.hpp"
#include "results/output_file.hpp"

namespace fourscore::local {

namespace {

constexpr std::string_view wisdom_header = "plans of fftw";
constexpr const char* stopped = "stopped";

/// One plan of FFTW.
template <class Real>
class DirectPass : public Pass {
 public:
  enum class Kind { complex, r2c, c2r };
  DirectPass(typename FftwApi<Real>::Handle handle, Kind kind) : handle_(handle), kind_(kind) {}
  void run(std::byte* in, std::byte* out) const override {
    switch (kind_) {
      case Kind::complex:
        return Api::execute(handle_.get(), as<Complex>(in), as<Complex>(out));
      case Kind::r2c:
        return Api::execute_r2c(handle_.get(), as<Real>(in), as<Complex>(out));
      case Kind::c2r:
        return Api::execute_c2r(handle_.get(), as<Complex>(in), as<Real>(out));
    }
  }
  [[nodiscard]] std::string describe() const override { return handle_.describe(); }

 private:
  using Api = FftwApi<Real>;
  using Complex = typename Api::Complex;
  template <class T>
  static T* as(std::byte* place) {
    return reinterpret_cast<T*>(place);
  }

  FftwHandle<Real> handle_;
  Kind kind_;
};

std::string first_line_of(const std::string& text) { return text.substr(0, text.find('\n')); }

/// FFTW's text of all plans of this process; its first line names the set of solvers.
template <class Real>
std::string exported_plans() {
  const FftwText text(FftwApi<Real>::export_wisdom());
  if (!text) throw std::runtime_error("FFTW could not export its wisdom");
  return text.get();
}

template <class Real>
class FftwPlanner : public PassPlanner {
 public:
  enum class From { anything, memory };
  FftwPlanner(const LocalFftSpec& spec, Decisions& decisions, From from)
      : spec_(spec), decisions_(decisions), from_(from) {}

  [[nodiscard]] PassPtr plan(const Work& work, double limit_s) const override {
    use_fftw_threads<Real>(spec_.threads);
    const Handle handle =
        spec_.effort == Effort::estimate ? handle_of(work, FFTW_ESTIMATE) : measured_handle(work, limit_s);
    if (handle == nullptr)
      throw std::runtime_error(fmt::format("FFTW refused to plan axes{} batch{}{} (count:in stride:out stride)",
                                           loops_text(work.axes), loops_text(work.batch),
                                           work.real_length > 0 ? fmt::format(" reals {}", work.real_length) : ""));
    using Kind = typename DirectPass<Real>::Kind;
    return std::make_unique<DirectPass<Real>>(handle, work.real_length == 0 ? Kind::complex
                                                      : forward()           ? Kind::r2c
                                                                            : Kind::c2r);
  }

  /// FFTW imports nothing over what it knows, so it forgets that first.
  [[nodiscard]] bool share(PlanningPeers& peers) const override {
    const std::string own = exported_plans<Real>();
    const std::string shared = peers.of_first(own);
    const std::string stopped_names = peers.of_first(names_stopped());
    if (peers.is_first()) {
      planned_.clear();
      return false;
    }
    Api::forget_wisdom();
    if (Api::import_wisdom(shared.c_str()) == 0 || Api::import_wisdom(own.c_str()) == 0)
      throw std::runtime_error("FFTW does not accept the plans of another rank");
    for (const std::string& name : std::exchange(planned_, {})) decisions_.erase(name);
    std::istringstream lines(stopped_names);
    for (std::string name; std::getline(lines, name);) decisions_[name] = stopped;
    return true;
  }

  [[nodiscard]] bool same_alignment(std::byte* place, Index bytes) const override {
    return Api::alignment(reinterpret_cast<Real*>(place)) == Api::alignment(reinterpret_cast<Real*>(place + bytes));
  }

 private:
  using Api = FftwApi<Real>;
  using Complex = typename Api::Complex;
  using Handle = typename Api::Handle;

  [[nodiscard]] bool forward() const { return spec_.direction == Direction::forward; }

  /// Where FFTW is stopped while it measures it gives the plan of its estimate, and forgets that it tried. So the name
  /// of the plan is kept: later launches take the same plan, and do not try for as long again.
  [[nodiscard]] Handle measured_handle(const Work& work, double limit_s) const {
    const unsigned effort = fftw_flag(spec_.effort);
    const std::string name = name_of(work);
    const auto decided = decisions_.find(name);
    if (decided != decisions_.end() && decided->second == stopped) return handle_of(work, FFTW_ESTIMATE);
    if (const Handle known = handle_of(work, effort | FFTW_WISDOM_ONLY); known != nullptr) return known;
    if (from_ == From::memory) throw NotRemembered{};
    planned_.insert(name);
    const auto start = std::chrono::steady_clock::now();
    Api::limit_time(limit_s < 0 ? FFTW_NO_TIMELIMIT : limit_s);
    const Handle handle = handle_of(work, effort);
    Api::limit_time(FFTW_NO_TIMELIMIT);
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    if (limit_s < 0 || spent.count() < limit_s || FftwHandle<Real>(handle_of(work, effort | FFTW_WISDOM_ONLY)))
      return handle;
    decisions_[name] = stopped;
    FftwHandle<Real>{handle};  // given back
    return handle_of(work, FFTW_ESTIMATE);
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
    return work.real_length > 0 ? real_plan(work, effort) : complex_plan(work, effort);
  }
  [[nodiscard]] static unsigned flags(const Work& work, unsigned effort) {
    return effort | (work.in == work.out ? 0U : static_cast<unsigned>(FFTW_DESTROY_INPUT)) |
           (work.any_alignment ? static_cast<unsigned>(FFTW_UNALIGNED) : 0U);
  }
  [[nodiscard]] Handle complex_plan(const Work& work, unsigned effort) const {
    const std::vector<fftw_iodim64> axes = dimensions(work.axes, 1, 1);
    const std::vector<fftw_iodim64> batch = dimensions(work.batch, 1, 1);
    return Api::plan(static_cast<int>(axes.size()), axes.data(), static_cast<int>(batch.size()), batch.data(),
                     reinterpret_cast<Complex*>(work.in), reinterpret_cast<Complex*>(work.out),
                     forward() ? FFTW_FORWARD : FFTW_BACKWARD, flags(work, effort));
  }
  /// FFTW counts strides of the real side in reals, two to a complex element, and halves the last axis it is given.
  [[nodiscard]] Handle real_plan(const Work& work, unsigned effort) const {
    const Index in_unit = forward() ? 2 : 1;
    const Index out_unit = forward() ? 1 : 2;
    std::vector<fftw_iodim64> axes = dimensions({work.axes.begin() + 1, work.axes.end()}, in_unit, out_unit);
    axes.push_back({work.real_length, 1, 1});
    const std::vector<fftw_iodim64> batch = dimensions(work.batch, in_unit, out_unit);
    const auto rank = static_cast<int>(axes.size());
    const auto loops = static_cast<int>(batch.size());
    if (forward())
      return Api::plan_r2c(rank, axes.data(), loops, batch.data(), reinterpret_cast<Real*>(work.in),
                           reinterpret_cast<Complex*>(work.out), flags(work, effort));
    return Api::plan_c2r(rank, axes.data(), loops, batch.data(), reinterpret_cast<Complex*>(work.in),
                         reinterpret_cast<Real*>(work.out), flags(work, effort));
  }
  [[nodiscard]] static std::vector<fftw_iodim64> dimensions(const std::vector<Loop>& loops, Index in_unit,
                                                            Index out_unit) {
    std::vector<fftw_iodim64> result;
    for (const Loop& loop : loops) result.push_back({loop.count, in_unit * loop.in_stride, out_unit * loop.out_stride});
    return result;
  }

  const LocalFftSpec& spec_;
  Decisions& decisions_;
  From from_;
  mutable std::set<std::string> planned_;  ///< names of plans for which FFTW timed since the last share()
};

class Fftw : public LocalFftLibrary {
 public:
  [[nodiscard]] Card card() const override {
    return {"fftw", "FFTW 3, passes split and timed at planning", "https://www.fftw.org"};
  }
  [[nodiscard]] std::string version() const override { return fftw_version; }

  [[nodiscard]] std::optional<std::string> refuses(Kind /*kind*/, int threads) const override {
    if (threads > 1 && !fftw_has_threads)
      return fmt::format("{} threads, but this program was built without FFTW's threads (no libfftw3_threads)",
                         threads);
    return std::nullopt;
  }

  [[nodiscard]] std::unique_ptr<LocalFft> make(const LocalFftSpec& spec, void* in, void* out) const override {
    if (spec.threads < 1) throw InputError(fmt::format("threads is {}; expected 1 or more", spec.threads));
    if (const auto reason = refuses(Kind::c2c, spec.threads)) throw InputError(*reason);
    NoPeers alone;
    return made(spec, in, out, &alone);
  }
  [[nodiscard]] std::unique_ptr<LocalFft> make_from_memory(const LocalFftSpec& spec, void* in,
                                                           void* out) const override {
    try {
      return made(spec, in, out, nullptr);
    } catch (const NotRemembered&) {
      return nullptr;
    }
  }
  void plan_together(const LocalFftSpec& spec, void* in, void* out, PlanningPeers& peers) const override {
    (void)made(spec, in, out, &peers);
  }

  void import_wisdom(const std::string& text, const std::string& origin) const override;
  [[nodiscard]] std::string export_wisdom() const override;

 private:
  /// `peers` null: from memory.
  [[nodiscard]] std::unique_ptr<LocalFft> made(const LocalFftSpec& spec, void* in, void* out,
                                               PlanningPeers* peers) const {
    const std::lock_guard lock(mutex_);
    start_fftw_threads();
    PassPtr pass;
    if (!is_empty(spec))
      pass = spec.precision == Precision::double_precision ? plan<double>(spec, in, out, peers)
                                                           : plan<float>(spec, in, out, peers);
    return std::make_unique<PassFft>(std::move(pass), in, out, credited_flops_of(spec));
  }
  template <class Real>
  [[nodiscard]] PassPtr plan(const LocalFftSpec& spec, void* in, void* out, PlanningPeers* peers) const {
    using Planner = FftwPlanner<Real>;
    const Planner library(spec, decisions_, peers == nullptr ? Planner::From::memory : Planner::From::anything);
    auto* from = static_cast<std::byte*>(in);
    auto* to = static_cast<std::byte*>(out);
    if (!spec.single_plan && same_strides(spec)) return SplitPlanner(spec, library, decisions_, peers).plan(from, to);
    const Work whole{spec.axes, spec.batch, from, to, false, spec.real_length};
    if (peers == nullptr) return library.plan(whole, -1);
    PassPtr pass;
    peers->agree("the library's own plan", [&] { pass = library.plan(whole, -1); }, {});
    return !peers->alone() && library.share(*peers) ? library.plan(whole, -1) : std::move(pass);
  }
  void import_section(const std::string& origin, const std::string& section, const std::string& body) const;
  template <class Real>
  void import_plans(const std::string& origin, const std::string& section, const std::string& body) const;
  template <class Real>
  void keep_plans(const std::string& section) const;

  mutable std::mutex mutex_;  ///< FFTW's planner is not thread-safe
  mutable Decisions decisions_;
  /// Sections of plans, by name and by FFTW's own first line, which names the set of solvers. FFTW takes no plans of
  /// another set, as of a program with its MPI transforms, but files are shared: what is not ours is handed on.
  mutable std::map<std::pair<std::string, std::string>, std::string> sections_;
};

void Fftw::import_wisdom(const std::string& text, const std::string& origin) const {
  std::istringstream stream(text);
  std::string line;
  if (!std::getline(stream, line) || line != wisdom_header)
    throw InputError(fmt::format("{} cannot be used: expected '{}' as its first line", origin, wisdom_header));
  const std::lock_guard lock(mutex_);
  start_fftw_threads();
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

void Fftw::import_section(const std::string& origin, const std::string& section, const std::string& body) const {
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
void Fftw::import_plans(const std::string& origin, const std::string& section, const std::string& body) const {
  const std::string solvers = first_line_of(body);
  const std::string ours = first_line_of(exported_plans<Real>());
  // "(fftw-3.3.10 fftw_wisdom": the rest of the line are the hashes of the solvers.
  const std::string version = ours.substr(0, ours.find(" #"));
  if (solvers != ours && solvers.starts_with(version + " #")) {
    sections_[{section, solvers}] = body;
    return;
  }
  if (FftwApi<Real>::import_wisdom(body.c_str()) == 0)
    throw InputError(fmt::format(
        "{} cannot be used: FFTW ({}) does not accept its section {}; it may be damaged or of another version", origin,
        fftw_version, section));
  sections_[{section, solvers}] = body;
}

template <class Real>
void Fftw::keep_plans(const std::string& section) const {
  std::string plans = exported_plans<Real>();
  const std::string solvers = first_line_of(plans);
  sections_[{section, solvers}] = std::move(plans);
}

std::string Fftw::export_wisdom() const {
  const std::lock_guard lock(mutex_);
  start_fftw_threads();  // also where nothing was planned: wisdom is bound to the set of solvers
  keep_plans<double>("[double]");
  keep_plans<float>("[single]");
  std::ostringstream text;
  text << wisdom_header << "\n[decisions]\n";
  for (const auto& [work, candidate] : decisions_) text << work << " = " << candidate << "\n";
  for (const auto& [key, plans] : sections_) text << key.first << "\n" << plans;
  return text.str();
}

FOURSCORE_REGISTER_LOCAL_FFT(Fftw);

}  // namespace

}  // namespace fourscore::local
