// 1-D transforms of local data, batched and strided as the variants' phases use them; and multiplications and additions
// in registers, of whose rate that of a transform is a share.
//
// Flops are credited: 5 n log2 n a transform, 2.5 n log2 n of real data. Bytes are the least that must move when
// nothing stays in cache: every element is read once and written once.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <memory>
#include <numbers>
#include <vector>

#include "components/component_main.hpp"
#include "components/memory_kernels.hpp"
#include "components/multiply_add.hpp"
#include "core/field.hpp"
#include "interfaces/exchange.hpp"
#include "interfaces/local_fft.hpp"
#include "kernels/first_touch.hpp"

namespace fourscore::component {
namespace {

/// Where the axis that is transformed lies in a box of n x rows x columns elements (in some order).
///   contiguous  the fastest axis: z of z-pencils, rows of slabs
///   middle      the middle one, of blocks of `columns` adjacent elements: y of slabs and y-pencils
///   slowest     the slowest one, with everything else adjacent: x of x-pencils
struct Case {
  std::string layout;
  Index length = 0;
  Index rows = 1;
  Index columns = 1;
  bool real = false;
  bool in_place = true;
  Precision precision = Precision::double_precision;
  Effort effort = Effort::measure;
  int threads = 1;
  std::string library;

  [[nodiscard]] Index batch() const { return rows * columns; }
  [[nodiscard]] Index stored_length() const { return real ? length / 2 + 1 : length; }
  /// Elements between two of an axis, and the offset of transform t; in complex elements.
  [[nodiscard]] Index stride() const { return layout == "contiguous" ? 1 : layout == "middle" ? columns : batch(); }
  [[nodiscard]] Index offset(Index t) const {
    if (layout == "contiguous") return t * stored_length();
    return layout == "middle" ? t / columns * columns * length + t % columns : t;
  }
  [[nodiscard]] LocalFftSpec spec() const {
    LocalFftSpec spec;
    spec.axes = {{stored_length(), stride(), stride()}};
    if (layout == "middle")
      spec.batch = {{columns, 1, 1}, {rows, columns * length, columns * length}};
    else
      spec.batch = {{batch(), offset(1), offset(1)}};
    if (real) spec.real_length = length;
    spec.precision = precision;
    spec.effort = effort;
    spec.threads = threads;
    return spec;
  }
  [[nodiscard]] std::size_t element_bytes() const { return precision == Precision::double_precision ? 16 : 8; }
  [[nodiscard]] std::size_t buffer_bytes() const {
    return static_cast<std::size_t>(stored_length() * batch()) * element_bytes();
  }
};

/// exp(-2 pi i m / n) for all m.
std::vector<std::complex<double>> roots_of(Index n) {
  std::vector<std::complex<double>> roots;
  for (Index m = 0; m < n; ++m) {
    const auto angle = -2 * std::numbers::pi_v<long double> * static_cast<long double>(m) / static_cast<long double>(n);
    roots.emplace_back(static_cast<double>(std::cos(angle)), static_cast<double>(std::sin(angle)));
  }
  return roots;
}

class FftWork : public Work {
 public:
  explicit FftWork(const Case& c) : case_(c) {
    const FirstTouchThreads touch(c.threads);
    input_ = ordinary_buffer(c.buffer_bytes());
    if (!c.in_place) output_ = ordinary_buffer(c.buffer_bytes());
    const LocalFftLibrary& library = LocalFftRegistry::instance().get(c.library, "local FFT library");
    fft_ = library.make(c.spec(), input_->data(), output()->data());
  }

  /// Every transform is compared at one place with the definition, the first and the last everywhere; relative to the
  /// largest value expected.
  double error() override {
    case_.precision == Precision::double_precision ? fill<double>() : fill<float>();
    fft_->execute();
    const double error = case_.precision == Precision::double_precision ? compare<double>() : compare<float>();
    // Zeros stay zeros however often they are transformed; anything else would grow to infinity.
    for (Buffer* buffer : {input_.get(), output()}) std::memset(buffer->data(), 0, case_.buffer_bytes());
    return error;
  }
  /// As harness/verifier.hpp.
  [[nodiscard]] double tolerance() const override {
    const double eps = case_.precision == Precision::double_precision ? 0x1p-52 : 0x1p-23;
    return 4 * eps * std::max(1.0, std::log2(static_cast<double>(case_.length)));
  }
  void run(std::int64_t iterations) override {
    for (std::int64_t i = 0; i < iterations; ++i) fft_->execute();
  }

 private:
  [[nodiscard]] Buffer* output() const { return output_ ? output_.get() : input_.get(); }
  [[nodiscard]] std::complex<double> value(Index t, Index j) const {
    const std::complex<double> plain = noise(seed, t * case_.length + j);
    return case_.real ? plain.real() : plain;
  }

  template <class Real>
  void fill() {
    auto* reals = static_cast<Real*>(input_->data());
    for (Index t = 0; t < case_.batch(); ++t)
      for (Index j = 0; j < case_.length; ++j) {
        if (case_.real) {
          reals[2 * case_.offset(t) + j] = static_cast<Real>(value(t, j).real());
          continue;
        }
        Real* place = reals + 2 * (case_.offset(t) + j * case_.stride());
        place[0] = static_cast<Real>(value(t, j).real());
        place[1] = static_cast<Real>(value(t, j).imag());
      }
  }

  template <class Real>
  [[nodiscard]] double compare() const {
    const auto* reals = static_cast<const Real*>(output()->data());
    const std::vector<std::complex<double>> roots = roots_of(case_.length);
    double largest = 0;
    double worst = 0;
    const auto compare_at = [&](Index t, Index k) {
      std::complex<double> expected = 0;
      for (Index j = 0, m = 0; j < case_.length; ++j, m = (m + k) % case_.length)
        expected += value(t, j) * roots[static_cast<std::size_t>(m)];
      const Real* place = reals + 2 * (case_.offset(t) + k * case_.stride());
      const double difference = std::abs(expected - std::complex<double>(place[0], place[1]));
      largest = std::max(largest, std::abs(expected));
      worst = std::isnan(difference) ? INFINITY : std::max(worst, difference);
    };
    const Index last = case_.batch() - 1;
    const Index step = std::max<Index>(1, case_.stored_length() / max_compared);
    for (Index k = 0; k < case_.stored_length(); k += step) {
      compare_at(0, k);
      compare_at(last, k);
    }
    for (Index t = 0; t <= last; ++t) compare_at(t, (t * 7 + 1) % case_.stored_length());
    return worst / largest;
  }

  static constexpr std::uint64_t seed = 1;
  static constexpr Index max_compared = 512;
  Case case_;
  std::unique_ptr<Buffer> input_;
  std::unique_ptr<Buffer> output_;  ///< null: in place
  std::unique_ptr<LocalFft> fft_;
};

/// x -> 3 - x over and over: an even number of steps gives every number back, exactly.
template <class Real>
class MultiplyAddWork : public Work {
 public:
  MultiplyAddWork() : x_(ordinary_buffer(numbers() * sizeof(Real))) {
    for (std::size_t i = 0; i < numbers(); ++i) data()[i] = static_cast<Real>(i);
  }
  [[nodiscard]] static std::size_t numbers() { return multiply_add_chains * multiply_add_lanes<Real>(); }

  double error() override {
    run(1);
    double worst = 0;
    for (std::size_t i = 0; i < numbers(); ++i)
      worst = std::max(worst, std::abs(static_cast<double>(data()[i]) - static_cast<double>(i)));
    return worst;
  }
  void run(std::int64_t iterations) override {
    for (std::int64_t i = 0; i < iterations; ++i) multiply_add_all<Real>(data(), -1, 3);
  }

 private:
  [[nodiscard]] Real* data() const { return static_cast<Real*>(x_->data()); }

  std::unique_ptr<Buffer> x_;
};

class LocalFftBench : public Program {
 public:
  [[nodiscard]] ProgramCard card() const override {
    return {"local_fft_bench",
            "Batched 1-D transforms along a contiguous, the middle and the slowest axis of a box, and a core's peak",
            "interfaces/local_fft.hpp",
            false,
            {{"lengths",
              "points of a transform, joined by commas",
              "64,97,128,243,256,360,512,1000,1009,1024,4096",
              {},
              false},
             {"points", "of all transforms together, at most", "4194304", {}, false},
             {"layouts", "where the axis lies", "all", {"contiguous", "middle", "slowest"}, true},
             {"precision", "of the data", "double", {"double", "single"}, true},
             {"kind", "r2c in the contiguous layout only", "c2c", {"c2c", "r2c"}, true},
             {"buffers", "where the result goes", "in-place", {"in-place", "out-of-place"}, true},
             {"planner", "effort of the plans", "measure", {"estimate", "measure", "patient"}, true},
             {"library", "of local transforms", "fftw", LocalFftRegistry::instance().names(), false},
             {"threads", "of the library", "1", {}, false}}};
  }

  [[nodiscard]] Reason refuses(const Parameters& parameters, int /*ranks*/) const override {
    const auto cases = cases_of(parameters);
    const LocalFftLibrary& library = *LocalFftRegistry::instance().find(parameters.text("library"));
    if (const std::string reason = library.unavailable(); !reason.empty())
      return fmt::format("local FFT library '{}' cannot run here: {}", parameters.text("library"), reason);
    for (const std::string& kind : parameters.list("kind"))
      if (auto reason = library.refuses(kind == "r2c" ? Kind::r2c : Kind::c2c, threads_of(parameters))) return reason;
    for (const Case& c : cases) {
      Problem problem;
      problem.shape = {c.length, 1, 1};
      problem.precision = c.precision;
      if (const auto reason = library.supports(problem))
        return fmt::format("local FFT library '{}' has no {}", c.library, *reason);
    }
    return std::nullopt;
  }

  void add_benchmarks(Session& session) const override {
    const auto cases = cases_of(session.parameters());
    for (const Case& c : cases) {
      const double bytes = static_cast<double>(c.buffer_bytes());
      session.require_memory(bytes * (c.in_place ? 1 : 2),
                             fmt::format("{} of {}", c.in_place ? "a buffer" : "2 buffers", size_text(bytes)));
      add(session, c);
    }
    for (const std::string& precision : session.parameters().list("precision"))
      precision == "double" ? add_peak<double>(session, precision) : add_peak<float>(session, precision);
  }

 private:
  static constexpr Index max_points = Index{1} << 46;

  [[nodiscard]] static int threads_of(const Parameters& parameters) {
    return static_cast<int>(parameters.integer("threads", 1, 4096));
  }

  [[nodiscard]] static std::vector<Case> cases_of(const Parameters& parameters) {
    const Index points = parameters.integer("points", 1, max_points);
    const int threads = threads_of(parameters);
    std::vector<Case> cases;
    for (const std::string& precision : parameters.list("precision"))
      for (const std::string& kind : parameters.list("kind"))
        for (const std::string& layout : parameters.list("layouts"))
          for (const std::string& buffers : parameters.list("buffers"))
            for (const std::string& planner : parameters.list("planner"))
              for (const Index length : parameters.integers("lengths", 1, points)) {
                if (kind == "r2c" && layout != "contiguous") continue;
                Case c;
                c.layout = layout;
                c.length = length;
                // As of a cube: as many columns as the length, if there are so many points.
                c.columns = std::clamp<Index>(points / length, 1, length);
                c.rows = std::max<Index>(1, points / (length * c.columns));
                c.real = kind == "r2c";
                c.in_place = buffers == "in-place";
                c.precision = parse_precision(precision);
                c.effort = parse_effort(planner);
                c.threads = threads;
                c.library = parameters.text("library");
                cases.push_back(std::move(c));
              }
    if (cases.empty()) parameters.refuse("layouts", "kind r2c is measured in the layout contiguous only");
    return cases;
  }

  template <class Real>
  static void add_peak(Session& session, const std::string& precision) {
    const auto numbers = static_cast<double>(MultiplyAddWork<Real>::numbers());
    const double bytes = numbers * sizeof(Real);
    Benchmark benchmark;
    benchmark.kernel = "multiply-add";
    benchmark.name = fmt::format("{}/{}", benchmark.kernel, precision);
    benchmark.labels = {{"precision", precision}, {"vectors", vector_name()}};
    benchmark.numbers = {{"size_bytes", bytes},
                         {"working_set_bytes", bytes},
                         {"bytes", 2 * bytes},
                         {"flops", 2 * numbers * static_cast<double>(multiply_add_steps)}};
    benchmark.make = [] { return std::make_unique<MultiplyAddWork<Real>>(); };
    session.add(std::move(benchmark));
  }

  static void add(Session& session, const Case& c) {
    const auto size = static_cast<double>(c.buffer_bytes());
    const auto length = static_cast<double>(c.length);
    const auto batch = static_cast<double>(c.batch());
    Benchmark benchmark;
    benchmark.kernel = c.real ? "r2c" : "c2c";
    benchmark.name = fmt::format("{}/{}/{}/{}/{}/{}", benchmark.kernel, c.layout, to_string(c.precision),
                                 c.in_place ? "in-place" : "out-of-place", to_string(c.effort), c.length);
    benchmark.labels = {{"layout", c.layout},
                        {"precision", to_string(c.precision)},
                        {"buffers", c.in_place ? "in-place" : "out-of-place"},
                        {"planner", to_string(c.effort)},
                        {"library", c.library}};
    // Real data is as large as half the complex one, on its side of the transform.
    const double real_bytes = length * batch * static_cast<double>(c.element_bytes()) / 2;
    benchmark.numbers = {{"length", length},
                         {"batch", batch},
                         {"elements", length * batch},
                         {"size_bytes", size},
                         {"working_set_bytes", c.in_place ? size : 2 * size},
                         {"bytes", c.real ? size + real_bytes : 2 * size},
                         {"flops", (c.real ? 2.5 : 5.0) * length * std::log2(length) * batch}};
    benchmark.make = [c] { return std::make_unique<FftWork>(c); };
    session.add(std::move(benchmark));
  }
};

}  // namespace
}  // namespace fourscore::component

int main(int argc, char** argv) { return fourscore::component::run(argc, argv, fourscore::component::LocalFftBench()); }
