// What it costs to put local data into another order: the permutations of axes, and the packing around messages.
//
// Bytes are those of the elements, once read and once written: 2 n. The copies of the same run, of as many bytes, say
// what the memory gives: `copy` with ordinary stores, `streaming-copy` with such that go past the caches.

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <cstring>
#include <memory>
#include <vector>

#include "components/component_main.hpp"
#include "components/memory_kernels.hpp"
#include "components/reshuffles.hpp"
#include "interfaces/exchange.hpp"

namespace fourscore::component {
namespace {

/// Two arrays that all benchmarks of one size share, so that their pages are not made anew for each.
struct Arrays {
  explicit Arrays(std::size_t bytes) : source(ordinary_buffer(bytes)), target(ordinary_buffer(bytes)) {}
  std::unique_ptr<Buffer> source;
  std::unique_ptr<Buffer> target;
};
struct SharedArrays {
  std::size_t bytes = 0;
  std::unique_ptr<Arrays> arrays;
  /// With the number of each element in it, from 1 on: 8 or 16 bytes, of which the first 8 hold it.
  Arrays& of(std::size_t wanted) {
    if (!arrays || bytes != wanted) {
      arrays.reset();
      arrays = std::make_unique<Arrays>(wanted);
      bytes = wanted;
    }
    return *arrays;
  }
};

void number_elements(void* place, Index count, Index size) {
  auto* bytes = static_cast<std::byte*>(place);
  for (Index i = 0; i < count; ++i) {
    const std::uint64_t words[2] = {static_cast<std::uint64_t>(i + 1), ~static_cast<std::uint64_t>(i + 1)};
    std::memcpy(bytes + i * size, words, static_cast<std::size_t>(size));
  }
}

class ReshuffleWork : public Work {
 public:
  ReshuffleWork(Reshuffle reshuffle, const std::string& method, Precision precision, Effort effort, Index count,
                Arrays& arrays)
      : reshuffle_(std::move(reshuffle)),
        size_(precision == Precision::double_precision ? 16 : 8),
        count_(count),
        source_(static_cast<std::byte*>(arrays.source->data())),
        target_(static_cast<std::byte*>(arrays.target->data())),
        mover_(make_mover(method, reshuffle_, precision, effort, source_, target_)) {}

  /// How many elements are not where they belong.
  double error() override {
    number_elements(source_, count_, size_);
    std::memset(target_, 0, static_cast<std::size_t>(count_ * size_));
    mover_->run();
    Index wrong = 0;
    for (const Move& move : reshuffle_.moves)
      for (Index x = 0; x < move.extents[0]; ++x)
        for (Index y = 0; y < move.extents[1]; ++y)
          for (Index z = 0; z < move.extents[2]; ++z) {
            const Index from =
                move.from_offset + x * move.from_strides[0] + y * move.from_strides[1] + z * move.from_strides[2];
            const Index to = move.to_offset + x * move.to_strides[0] + y * move.to_strides[1] + z * move.to_strides[2];
            wrong += std::memcmp(source_ + from * size_, target_ + to * size_, static_cast<std::size_t>(size_)) != 0;
          }
    return static_cast<double>(wrong);
  }

  void run(std::int64_t iterations) override {
    for (std::int64_t i = 0; i < iterations; ++i) mover_->run();
  }

 private:
  Reshuffle reshuffle_;
  Index size_;
  Index count_;
  std::byte* source_;
  std::byte* target_;
  std::unique_ptr<Mover> mover_;
};

/// The copy of the whole array that reshuffles are measured against.
class CopyWork : public Work {
 public:
  CopyWork(bool streaming, std::size_t bytes, Arrays& arrays)
      : streaming_(streaming),
        count_(bytes / sizeof(double) / kernel_unit * kernel_unit),
        source_(static_cast<double*>(arrays.source->data())),
        target_(static_cast<double*>(arrays.target->data())) {}
  double error() override {
    for (std::size_t i = 0; i < count_; ++i) source_[i] = static_cast<double>(i + 1);
    std::memset(target_, 0, count_ * sizeof(double));
    run(1);
    return std::memcmp(source_, target_, count_ * sizeof(double)) == 0 ? 0 : 1;
  }
  void run(std::int64_t iterations) override {
    for (std::int64_t i = 0; i < iterations; ++i)
      streaming_ ? stream_copy_all(target_, source_, count_) : copy_all(target_, source_, count_);
  }

 private:
  bool streaming_;
  std::size_t count_;
  double* source_;
  double* target_;
};

constexpr Index copied_unit = kernel_unit * sizeof(double);

class LocalTransposeBench : public Program {
 public:
  [[nodiscard]] ProgramCard card() const override {
    return {"local_transpose_bench",
            "Reshuffles of local data: permutations of axes, packing and unpacking, strided gathers",
            "kernels/copy.hpp; FFTW rank-0 plans",
            false,
            {{"shape", "extents of the local array, slowest first", "256x256x256", {}, false},
             {"precision", "of complex elements", "double", {"double", "single"}, true},
             {"kernels", "the reshuffle", "all", {"permute", "pack", "unpack", "gather"}, true},
             {"permutations", "new order of axes, from xyz, slowest first", "all", permutation_names(), true},
             {"blocks", "messages that pack, unpack and gather make, joined by commas", "2,4,8", {}, false},
             {"methods", "how the data is moved", "all", method_names(), true},
             {"planner", "effort of FFTW's plans", "measure", {"estimate", "measure", "patient"}, false}}};
  }

  [[nodiscard]] Reason refuses(const Parameters& parameters, int /*ranks*/) const override {
    (void)extents_of(parameters);
    (void)parameters.integers("blocks", 1, max_blocks);
    if (parameters.text("methods") != "all" && !has_streaming_stores())
      for (const std::string& method : parameters.list("methods"))
        if (method == "simd-streaming") return "method 'simd-streaming' needs streaming stores, which this build lacks";
    return std::nullopt;
  }

  void add_benchmarks(Session& session) const override {
    const Parameters& parameters = session.parameters();
    const Extents extents = extents_of(parameters);
    auto shared = std::make_shared<SharedArrays>();
    for (const std::string& name : parameters.list("precision")) {
      const Precision precision = parse_precision(name);
      const double bytes = static_cast<double>(volume(extents)) * (precision == Precision::double_precision ? 16 : 8);
      session.require_memory(2 * bytes, fmt::format("2 arrays of {}", size_text(bytes)));
      add_copies(session, extents, precision, shared);
      for (const Reshuffle& reshuffle : reshuffles_of(parameters, extents))
        for (const std::string& method : parameters.list("methods"))
          if (method != "simd-streaming" || has_streaming_stores())
            add_reshuffle(session, extents, reshuffle, method, precision, shared);
    }
  }

 private:
  static constexpr Index max_blocks = 4096;

  [[nodiscard]] static Index volume(const Extents& extents) { return extents[0] * extents[1] * extents[2]; }

  [[nodiscard]] static Extents extents_of(const Parameters& parameters) {
    const auto shape = parameters.shape("shape");
    if (shape.size() != 3) parameters.refuse("shape", "expected three extents");
    return {shape[0], shape[1], shape[2]};
  }

  [[nodiscard]] static std::vector<Reshuffle> reshuffles_of(const Parameters& parameters, const Extents& extents) {
    std::vector<Reshuffle> list;
    for (const std::string& kernel : parameters.list("kernels")) {
      if (kernel == "permute")
        for (const std::string& order : parameters.list("permutations")) list.push_back(permutation(extents, order));
      else
        for (const Index blocks : parameters.integers("blocks", 1, max_blocks)) {
          const auto count = static_cast<int>(blocks);
          if (kernel == "gather") list.push_back(strided_gather(extents, count));
          for (const std::size_t axis : {std::size_t{1}, std::size_t{2}}) {
            if (kernel == "pack") list.push_back(packing(extents, axis, count));
            if (kernel == "unpack") list.push_back(unpacking(extents, axis, count));
          }
        }
    }
    return list;
  }

  [[nodiscard]] static std::string suffix(const Extents& extents, Precision precision) {
    return fmt::format("/{}/{}", to_string(precision), shape_text({extents[0], extents[1], extents[2]}));
  }

  static void add_copies(Session& session, const Extents& extents, Precision precision,
                         const std::shared_ptr<SharedArrays>& shared) {
    const Index whole = volume(extents) * (precision == Precision::double_precision ? 16 : 8);
    const Index copied = whole / copied_unit * copied_unit;
    if (copied == 0) session.parameters().refuse("shape", fmt::format("expected at least {} bytes", copied_unit));
    for (const bool streaming : {false, true}) {
      if (streaming && !has_streaming_stores()) continue;
      Benchmark benchmark;
      benchmark.kernel = streaming ? "streaming-copy" : "copy";
      benchmark.name = benchmark.kernel + suffix(extents, precision);
      benchmark.labels = {{"stores", streaming ? "streaming" : "ordinary"}, {"precision", to_string(precision)}};
      benchmark.numbers = numbers(copied, volume(extents));
      benchmark.make = [=] {
        return std::make_unique<CopyWork>(streaming, static_cast<std::size_t>(copied),
                                          shared->of(static_cast<std::size_t>(whole)));
      };
      session.add(std::move(benchmark));
    }
  }

  static void add_reshuffle(Session& session, const Extents& extents, const Reshuffle& reshuffle,
                            const std::string& method, Precision precision,
                            const std::shared_ptr<SharedArrays>& shared) {
    const Index count = volume(extents);
    const Index bytes = count * (precision == Precision::double_precision ? 16 : 8);
    const Effort effort = parse_effort(session.parameters().text("planner"));
    Benchmark benchmark;
    benchmark.kernel = reshuffle.kernel;
    benchmark.name = fmt::format("{}/{}/{}{}", reshuffle.kernel, reshuffle.detail, method, suffix(extents, precision));
    benchmark.labels = {{"method", method}, {"precision", to_string(precision)}};
    benchmark.labels["baseline"] = (has_streaming_stores() ? "streaming-copy" : "copy") + suffix(extents, precision);
    if (reshuffle.kernel == "permute") {
      benchmark.labels["permutation"] = reshuffle.detail;
    } else {
      benchmark.labels["axis"] = reshuffle.detail.substr(0, 1);
      benchmark.numbers["blocks"] = static_cast<double>(reshuffle.moves.size());
    }
    if (method != "fftw") benchmark.labels["stores"] = method == "simd-streaming" ? "streaming" : "ordinary";
    benchmark.numbers.merge(numbers(bytes, count));
    benchmark.make = [=] {
      return std::make_unique<ReshuffleWork>(reshuffle, method, precision, effort, count,
                                             shared->of(static_cast<std::size_t>(bytes)));
    };
    session.add(std::move(benchmark));
  }

  [[nodiscard]] static std::map<std::string, double> numbers(Index bytes, Index elements) {
    const auto size = static_cast<double>(bytes);
    return {{"size_bytes", size},
            {"working_set_bytes", 2 * size},
            {"bytes", 2 * size},
            {"elements", static_cast<double>(elements)}};
  }
};

}  // namespace
}  // namespace fourscore::component

int main(int argc, char** argv) {
  return fourscore::component::run(argc, argv, fourscore::component::LocalTransposeBench());
}
