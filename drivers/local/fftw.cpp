// FFTW 3, double and single, through its guru interface.
//
// A wisdom file is text: a line "fourscore-wisdom 1", then sections that begin with a line [decisions], [double] or
// [single]. The last two hold what FFTW exports for that precision; the first has one line "work = candidate" for each
// choice that SplitPlanner took.

#include <fftw3.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "core/local_fft.hpp"
#include "local/split_fft.hpp"

namespace fourscore::local {

namespace {

constexpr std::string_view wisdom_header = "fourscore-wisdom 1";

#ifdef FOURSCORE_FFTW_THREADS
constexpr bool has_threads = true;
#else
constexpr bool has_threads = false;
#endif

template <class Real>
struct Api;

template <>
struct Api<double> {
  using Complex = fftw_complex;
  using Handle = fftw_plan;
  static constexpr auto plan = &fftw_plan_guru64_dft;
  static constexpr auto execute = &fftw_execute_dft;
  static constexpr auto destroy = &fftw_destroy_plan;
  static constexpr auto print = &fftw_sprint_plan;
  static constexpr auto alignment = &fftw_alignment_of;
  static constexpr auto limit_time = &fftw_set_timelimit;
  static constexpr auto import_wisdom = &fftw_import_wisdom_from_string;
  static constexpr auto export_wisdom = &fftw_export_wisdom_to_string;
#ifdef FOURSCORE_FFTW_THREADS
  static constexpr auto use_threads = &fftw_plan_with_nthreads;
#endif
};

template <>
struct Api<float> {
  using Complex = fftwf_complex;
  using Handle = fftwf_plan;
  static constexpr auto plan = &fftwf_plan_guru64_dft;
  static constexpr auto execute = &fftwf_execute_dft;
  static constexpr auto destroy = &fftwf_destroy_plan;
  static constexpr auto print = &fftwf_sprint_plan;
  static constexpr auto alignment = &fftwf_alignment_of;
  static constexpr auto limit_time = &fftwf_set_timelimit;
  static constexpr auto import_wisdom = &fftwf_import_wisdom_from_string;
  static constexpr auto export_wisdom = &fftwf_export_wisdom_to_string;
#ifdef FOURSCORE_FFTW_THREADS
  static constexpr auto use_threads = &fftwf_plan_with_nthreads;
#endif
};

struct FreeText {
  void operator()(char* text) const { std::free(text); }
};
using Text = std::unique_ptr<char, FreeText>;

/// One plan of FFTW.
template <class Real>
class DirectPass : public Pass {
 public:
  explicit DirectPass(typename Api<Real>::Handle handle) : handle_(handle) {}
  void run(std::byte* in, std::byte* out) const override {
    Api<Real>::execute(handle_.get(), reinterpret_cast<typename Api<Real>::Complex*>(in),
                       reinterpret_cast<typename Api<Real>::Complex*>(out));
  }
  [[nodiscard]] std::string describe() const override {
    const Text text(Api<Real>::print(handle_.get()));
    return text ? text.get() : "";
  }

 private:
  struct Destroy {
    void operator()(typename Api<Real>::Handle handle) const { Api<Real>::destroy(handle); }
  };
  std::unique_ptr<std::remove_pointer_t<typename Api<Real>::Handle>, Destroy> handle_;
};

std::string loops_text(const std::vector<Loop>& loops) {
  std::string text;
  for (const Loop& loop : loops) text += fmt::format(" {}:{}:{}", loop.count, loop.in_stride, loop.out_stride);
  return text;
}

template <class Real>
class FftwPlanner : public PassPlanner {
 public:
  explicit FftwPlanner(const LocalFftSpec& spec) : spec_(spec) {}

  [[nodiscard]] PassPtr plan(const Work& work, double limit_s) const override {
    using Complex = typename Api<Real>::Complex;
    const std::vector<fftw_iodim64> axes = dimensions(work.axes);
    const std::vector<fftw_iodim64> batch = dimensions(work.batch);
    unsigned flags = effort_flag() | (work.in == work.out ? 0U : static_cast<unsigned>(FFTW_DESTROY_INPUT));
    if (work.any_alignment) flags |= FFTW_UNALIGNED;
#ifdef FOURSCORE_FFTW_THREADS
    Api<Real>::use_threads(spec_.threads);
#endif
    Api<Real>::limit_time(limit_s < 0 ? FFTW_NO_TIMELIMIT : limit_s);
    const auto handle =
        Api<Real>::plan(static_cast<int>(axes.size()), axes.data(), static_cast<int>(batch.size()), batch.data(),
                        reinterpret_cast<Complex*>(work.in), reinterpret_cast<Complex*>(work.out),
                        spec_.direction == Direction::forward ? FFTW_FORWARD : FFTW_BACKWARD, flags);
    Api<Real>::limit_time(FFTW_NO_TIMELIMIT);
    if (handle == nullptr)
      throw std::runtime_error(fmt::format("FFTW refused to plan axes{} batch{} (count:in stride:out stride)",
                                           loops_text(work.axes), loops_text(work.batch)));
    return std::make_unique<DirectPass<Real>>(handle);
  }

  [[nodiscard]] bool same_alignment(std::byte* place, Index bytes) const override {
    return Api<Real>::alignment(reinterpret_cast<Real*>(place)) ==
           Api<Real>::alignment(reinterpret_cast<Real*>(place + bytes));
  }

 private:
  [[nodiscard]] static std::vector<fftw_iodim64> dimensions(const std::vector<Loop>& loops) {
    std::vector<fftw_iodim64> result;
    for (const Loop& loop : loops) result.push_back({loop.count, loop.in_stride, loop.out_stride});
    return result;
  }
  [[nodiscard]] unsigned effort_flag() const {
    switch (spec_.effort) {
      case Effort::estimate:
        return FFTW_ESTIMATE;
      case Effort::measure:
        return FFTW_MEASURE;
      case Effort::patient:
        return FFTW_PATIENT;
    }
    throw std::logic_error("an effort without a flag of FFTW");
  }

  const LocalFftSpec& spec_;
};

class FftwFft : public LocalFft {
 public:
  FftwFft(PassPtr pass, void* in, void* out, double credited_flops)
      : pass_(std::move(pass)),
        in_(static_cast<std::byte*>(in)),
        out_(static_cast<std::byte*>(out)),
        credited_flops_(credited_flops) {}
  void execute() override {
    if (pass_) pass_->run(in_, out_);
  }
  [[nodiscard]] std::string describe() const override { return pass_ ? pass_->describe() : "nothing to do"; }
  [[nodiscard]] double credited_flops() const override { return credited_flops_; }

 private:
  PassPtr pass_;  ///< null: an empty spec
  std::byte* in_;
  std::byte* out_;
  double credited_flops_;
};

/// 5 n log2 n for each transform of n = the product of the axes.
double flops_of(const LocalFftSpec& spec) {
  double points = 1;
  double transforms = 1;
  for (const Loop& loop : spec.axes) points *= static_cast<double>(loop.count);
  for (const Loop& loop : spec.batch) transforms *= static_cast<double>(loop.count);
  return points * transforms == 0 ? 0 : 5 * points * std::log2(points) * transforms;
}

bool any_loop(const LocalFftSpec& spec, bool (*test)(const Loop&)) {
  return std::ranges::any_of(spec.axes, test) || std::ranges::any_of(spec.batch, test);
}

class Fftw : public LocalFftLibrary {
 public:
  [[nodiscard]] Card card() const override {
    return {"fftw", "FFTW 3, passes split and timed at planning", "https://www.fftw.org"};
  }
  [[nodiscard]] std::string version() const override { return fftw_version; }

  [[nodiscard]] std::unique_ptr<LocalFft> make(const LocalFftSpec& spec, void* in, void* out) const override {
    if (spec.threads < 1) throw InputError(fmt::format("threads is {}; expected 1 or more", spec.threads));
    if (spec.threads > 1 && !has_threads)
      throw InputError(
          fmt::format("threads is {}, but this program was built without FFTW's threads (libfftw3_threads "
                      "was not found); expected 1",
                      spec.threads));
    const std::lock_guard lock(mutex_);
    init_threads();
    PassPtr pass;
    if (!any_loop(spec, [](const Loop& loop) { return loop.count == 0; }))
      pass = spec.precision == Precision::double_precision ? plan<double>(spec, in, out) : plan<float>(spec, in, out);
    return std::make_unique<FftwFft>(std::move(pass), in, out, flops_of(spec));
  }

  bool load_wisdom(const std::filesystem::path& file) const override;
  void save_wisdom(const std::filesystem::path& file) const override;

 private:
  template <class Real>
  [[nodiscard]] PassPtr plan(const LocalFftSpec& spec, void* in, void* out) const {
    const FftwPlanner<Real> library(spec);
    auto* from = static_cast<std::byte*>(in);
    auto* to = static_cast<std::byte*>(out);
    if (spec.single_plan || any_loop(spec, [](const Loop& loop) { return loop.in_stride != loop.out_stride; }))
      return library.plan({spec.axes, spec.batch, from, to, false}, -1);
    return SplitPlanner(spec, library, decisions_).plan(from, to);
  }
  /// FFTW wants this before its first planning.
  static void init_threads() {
#ifdef FOURSCORE_FFTW_THREADS
    static const bool ready = fftw_init_threads() != 0 && fftwf_init_threads() != 0;
    if (!ready) throw std::runtime_error("FFTW could not start its threads");
#endif
  }
  void import_section(const std::filesystem::path& file, const std::string& section, const std::string& body) const;

  mutable std::mutex mutex_;  ///< FFTW's planner is not thread-safe
  mutable Decisions decisions_;
};

bool Fftw::load_wisdom(const std::filesystem::path& file) const {
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return false;
  std::ifstream stream(file);
  std::string line;
  if (!std::getline(stream, line) || line != wisdom_header)
    throw InputError(
        fmt::format("wisdom file {} cannot be used: expected '{}' as its first line", file.string(), wisdom_header));
  const std::lock_guard lock(mutex_);
  init_threads();
  std::string section;
  std::string body;
  const auto finish = [&] {
    if (!section.empty()) import_section(file, section, body);
    body.clear();
  };
  while (std::getline(stream, line)) {
    if (line == "[decisions]" || line == "[double]" || line == "[single]") {
      finish();
      section = line;
    } else if (!line.empty() && section.empty()) {
      throw InputError(
          fmt::format("wisdom file {} cannot be used: '{}' stands before any section; expected [decisions], "
                      "[double] or [single]",
                      file.string(), line));
    } else {
      body += line + "\n";
    }
  }
  finish();
  return true;
}

void Fftw::import_section(const std::filesystem::path& file, const std::string& section,
                          const std::string& body) const {
  if (section == "[decisions]") {
    std::istringstream lines(body);
    for (std::string line; std::getline(lines, line);) {
      if (line.empty()) continue;
      const auto equals = line.find(" = ");
      if (equals == std::string::npos)
        throw InputError(
            fmt::format("wisdom file {} cannot be used: line '{}'; expected 'work = candidate'", file.string(), line));
      decisions_[line.substr(0, equals)] = line.substr(equals + 3);
    }
    return;
  }
  const int accepted =
      section == "[double]" ? Api<double>::import_wisdom(body.c_str()) : Api<float>::import_wisdom(body.c_str());
  if (accepted == 0)
    throw InputError(
        fmt::format("wisdom file {} cannot be used: FFTW ({}) does not accept its section {}; it may be "
                    "damaged or of another version",
                    file.string(), fftw_version, section));
}

void Fftw::save_wisdom(const std::filesystem::path& file) const {
  const std::lock_guard lock(mutex_);
  init_threads();  // also where nothing was planned: wisdom is bound to the set of solvers
  const Text double_text(Api<double>::export_wisdom());
  const Text single_text(Api<float>::export_wisdom());
  if (!double_text || !single_text) throw std::runtime_error("FFTW could not export its wisdom");
  std::ostringstream text;
  text << wisdom_header << "\n[decisions]\n";
  for (const auto& [work, candidate] : decisions_) text << work << " = " << candidate << "\n";
  text << "[double]\n" << double_text.get() << "[single]\n" << single_text.get();

  std::filesystem::path unfinished = file;
  unfinished += fmt::format(".{}.new", ::getpid());  // a reader never sees half a file, nor another writer's
  std::ofstream stream(unfinished);
  stream << text.str();
  stream.close();
  if (!stream) throw InputError(fmt::format("cannot write wisdom file {}; expected a writable place", file.string()));
  std::filesystem::rename(unfinished, file);
}

FOURSCORE_REGISTER_LOCAL_FFT(Fftw);

}  // namespace

}  // namespace fourscore::local
