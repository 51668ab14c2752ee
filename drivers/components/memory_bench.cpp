// The bandwidth of the memory, and of the caches on the way to it: beta_mem of the models.
//
// Bytes are what the program loads and stores, as STREAM counts them (McCalpin 1995): a pass of n bytes counts n for
// read and write, 2 n for copy, 3 n for triad. A store that misses first fetches its line, which is not counted: the
// difference between write and streaming-write shows it.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "components/component_main.hpp"
#include "components/memory_kernels.hpp"
#include "interfaces/exchange.hpp"

namespace fourscore::component {
namespace {

constexpr Index unit_bytes = kernel_unit * sizeof(double);
constexpr Index smallest_curve_bytes = Index{16} << 10;
constexpr Index max_bytes = Index{1} << 50;

struct Kernel {
  const char* name;
  int arrays;  ///< passed over
  bool streaming;
};
constexpr Kernel kernels[] = {{"read", 1, false},  {"write", 1, false},          {"copy", 2, false},
                              {"triad", 3, false}, {"streaming-write", 1, true}, {"streaming-copy", 2, true}};

std::vector<std::string> kernel_names() {
  std::vector<std::string> names;
  for (const Kernel& kernel : kernels) names.emplace_back(kernel.name);
  return names;
}

const Kernel& kernel_of(const std::string& name) {
  return *std::ranges::find(kernels, name, [](const Kernel& kernel) { return std::string(kernel.name); });
}

/// Small whole numbers, so that sums and products are exact.
double pattern(std::size_t i, int array) {
  return static_cast<double>((i * 7 + static_cast<std::size_t>(array)) % 1000);
}

class MemoryWork : public Work {
 public:
  MemoryWork(const Kernel& kernel, Index bytes)
      : kernel_(kernel), count_(static_cast<std::size_t>(bytes) / sizeof(double)) {
    for (int i = 0; i < kernel.arrays; ++i) {
      buffers_.push_back(ordinary_buffer(static_cast<std::size_t>(bytes)));
      double* const array = arrays_[i] = static_cast<double*>(buffers_.back()->data());
      for (std::size_t k = 0; k < count_; ++k) array[k] = pattern(k, i);
    }
  }

  double error() override {
    run(1);
    const std::string name = kernel_.name;
    double worst = 0;
    double sum = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      double expected = value;
      if (name == "read") sum += expected = pattern(i, 0);
      if (kernel_.arrays == 2) expected = pattern(i, 1);
      if (kernel_.arrays == 3) expected = pattern(i, 1) + factor * pattern(i, 2);
      worst = std::max(worst, std::abs(arrays_[0][i] - expected));
    }
    return name == "read" ? std::max(worst, std::abs(sum_ - sum)) : worst;
  }

  void run(std::int64_t iterations) override {
    const std::string_view name = kernel_.name;
    const auto repeat = [&](const auto& pass) {
      for (std::int64_t i = 0; i < iterations; ++i) pass();
    };
    if (name == "read") repeat([&] { sum_ = read_sum(arrays_[0], count_); });
    if (name == "write") repeat([&] { write_all(arrays_[0], count_, value); });
    if (name == "copy") repeat([&] { copy_all(arrays_[0], arrays_[1], count_); });
    if (name == "triad") repeat([&] { triad_all(arrays_[0], arrays_[1], arrays_[2], factor, count_); });
    if (name == "streaming-write") repeat([&] { stream_write_all(arrays_[0], count_, value); });
    if (name == "streaming-copy") repeat([&] { stream_copy_all(arrays_[0], arrays_[1], count_); });
  }

 private:
  static constexpr double value = 3;
  static constexpr double factor = 5;
  const Kernel& kernel_;
  std::size_t count_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  double* arrays_[3] = {nullptr, nullptr, nullptr};
  volatile double sum_ = 0;
};

class MemoryBench : public Program {
 public:
  [[nodiscard]] ProgramCard card() const override {
    return {"memory_bench",
            "Bandwidth of memory and caches: read, write, copy, triad, streaming stores",
            "McCalpin 1995, STREAM",
            false,
            {{"kernels", "how memory is accessed", "all", kernel_names(), true},
             {"size",
              "bytes of each array on a rank, as 64MiB, joined by commas; auto: the ranks' arrays together four times "
              "the last-level caches; curve: from 16 KiB to that by powers of two",
              "auto",
              {},
              false}}};
  }

  [[nodiscard]] Reason refuses(const Parameters& parameters, int /*ranks*/) const override {
    if (const std::string& size = parameters.text("size"); size != "auto" && size != "curve")
      (void)checked_sizes(parameters);
    for (const std::string& name : parameters.list("kernels"))
      if (parameters.given("kernels") && parameters.text("kernels") != "all" && kernel_of(name).streaming &&
          !has_streaming_stores())
        return fmt::format("kernel '{}' needs streaming stores, which this build lacks", name);
    return std::nullopt;
  }

  void add_benchmarks(Session& session) const override {
    std::vector<Kernel const*> chosen;
    for (const std::string& name : session.parameters().list("kernels"))
      if (!kernel_of(name).streaming || has_streaming_stores()) chosen.push_back(&kernel_of(name));
    const auto max_arrays = (*std::ranges::max_element(chosen, {}, &Kernel::arrays))->arrays;
    const std::vector<Index> sizes = sizes_of(session);
    const Index largest = *std::ranges::max_element(sizes);
    session.require_memory(max_arrays * static_cast<double>(largest),
                           fmt::format("{} arrays of {}", max_arrays, size_text(static_cast<double>(largest))));
    for (const Kernel* kernel : chosen)
      for (const Index bytes : sizes) add(session, *kernel, bytes);
  }

 private:
  [[nodiscard]] static std::vector<Index> checked_sizes(const Parameters& parameters) {
    const auto sizes = parameters.sizes("size", unit_bytes, max_bytes);
    for (const Index bytes : sizes)
      if (bytes % unit_bytes != 0) parameters.refuse("size", fmt::format("expected multiples of {} bytes", unit_bytes));
    return sizes;
  }

  [[nodiscard]] static std::vector<Index> sizes_of(const Session& session) {
    const Parameters& parameters = session.parameters();
    const std::string& asked = parameters.text("size");
    if (asked != "auto" && asked != "curve") return checked_sizes(parameters);
    constexpr double unknown_cache = 64 << 20;
    const double caches = session.last_level_cache_bytes() > 0 ? session.last_level_cache_bytes() : unknown_cache;
    const auto units = static_cast<Index>(std::ceil(4 * caches / session.ranks_on_node() / unit_bytes));
    const Index beyond = units * unit_bytes;
    std::vector<Index> sizes;
    if (asked == "curve")
      for (Index bytes = smallest_curve_bytes; bytes < beyond; bytes *= 2) sizes.push_back(bytes);
    sizes.push_back(beyond);
    return sizes;
  }

  static void add(Session& session, const Kernel& kernel, Index bytes) {
    const auto size = static_cast<double>(bytes);
    Benchmark benchmark;
    benchmark.name = fmt::format("{}/{}", kernel.name, bytes);
    benchmark.kernel = kernel.name;
    benchmark.labels = {{"stores", kernel.streaming                     ? "streaming"
                                   : kernel.name == std::string("read") ? "none"
                                                                        : "ordinary"},
                        {"vectors", vector_name()}};
    benchmark.numbers = {
        {"size_bytes", size}, {"working_set_bytes", size * kernel.arrays}, {"bytes", size * kernel.arrays}};
    benchmark.in_cache = size * session.ranks_on_node() < 4 * session.last_level_cache_bytes();
    benchmark.make = [&kernel, bytes] { return std::make_unique<MemoryWork>(kernel, bytes); };
    session.add(std::move(benchmark));
  }
};

}  // namespace
}  // namespace fourscore::component

int main(int argc, char** argv) { return fourscore::component::run(argc, argv, fourscore::component::MemoryBench()); }
