// GPUs of any maker through OpenCL: its runtime, a kernel for strided copies and what it tells of a device
// (opencl/device.cpp, opencl/runtime.cpp), and clFFT (opencl/fft.cpp). Where only a processor has a driver, as pocl is
// one, it is used and its records are flagged `emulated`.

#include <fmt/format.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "devices/opencl/device.hpp"
#include "offload/offloaded_fft.hpp"

namespace fourscore {
namespace {

constexpr const char* address = "https://github.com/clMathLibraries/clFFT";

/// clFFT transforms lengths with no other prime factors than these.
bool has_small_primes(Index length) {
  for (const Index prime : {2, 3, 5, 7, 11, 13})
    while (length > 1 && length % prime == 0) length /= prime;
  return length <= 1;
}

class OpenclBackend : public DeviceBackend {
 public:
  [[nodiscard]] Card card() const override { return {"opencl", "GPUs of any maker: OpenCL and clFFT", address}; }
  [[nodiscard]] std::string unavailable() const override { return opencl::unavailable(); }
  [[nodiscard]] bool emulated() const override { return opencl::are_processors(); }
  [[nodiscard]] std::string local_fft() const override { return "clfft"; }
  [[nodiscard]] std::optional<int> count() const override { return opencl::count(); }
  [[nodiscard]] std::unique_ptr<Device> make_device(int number, const LocalFftLibrary& /*host_fft*/) const override {
    return opencl::make_device(number);
  }
  /// A buffer of OpenCL has no address that MPI could take.
  [[nodiscard]] bool mpi_takes_its_memory() const override { return false; }
  [[nodiscard]] nlohmann::json versions() const override { return opencl::versions(); }
};

/// For any variant: its local transforms go to a device and back, one after the other.
class ClfftLibrary : public LocalFftLibrary {
 public:
  [[nodiscard]] Card card() const override {
    return {"clfft", "OpenCL's library; data is copied to the device and back", address};
  }
  [[nodiscard]] std::string unavailable() const override { return opencl::unavailable(); }
  [[nodiscard]] std::string version() const override { return "clfft-" + opencl::clfft_version(); }
  [[nodiscard]] bool on_device() const override { return true; }
  [[nodiscard]] Reason refuses(Kind /*kind*/, int threads) const override {
    if (threads <= 1) return std::nullopt;
    return fmt::format("{} threads; clFFT computes on the device and is used with one", threads);
  }
  [[nodiscard]] Reason supports(const Problem& problem) const override {
    for (const Index length : problem.shape)
      if (!has_small_primes(length))
        return fmt::format("length {}; clFFT takes lengths without other prime factors than 2, 3, 5, 7, 11 and 13",
                           length);
    if (problem.precision == Precision::double_precision && !opencl::has_doubles(number_of_this_process()))
      return "double precision, which the device does not have";
    return std::nullopt;
  }
  [[nodiscard]] std::unique_ptr<LocalFft> make(const LocalFftSpec& spec, void* in, void* out) const override {
    return std::make_unique<OffloadedFft>(opencl::make_device(number_of_this_process()), spec, in, out, OffloadSpec{});
  }
  void import_wisdom(const std::string& /*text*/, const std::string& /*origin*/) const override {}
  [[nodiscard]] std::string export_wisdom() const override { return {}; }

 private:
  /// By the rank on the node, as the launcher says it.
  static int number_of_this_process() {
    const int count = std::max(opencl::count(), 1);
    for (const char* name : {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID", "PMI_LOCAL_RANK"})
      if (const char* const rank = std::getenv(name)) return std::atoi(rank) % count;
    return 0;
  }
};

FOURSCORE_REGISTER_DEVICE(OpenclBackend);
FOURSCORE_REGISTER_LOCAL_FFT(ClfftLibrary);

}  // namespace
}  // namespace fourscore
