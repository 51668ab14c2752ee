// NVIDIA's GPUs: the CUDA runtime (cuda/device.cpp), cuFFT (cuda/fft.cpp), a kernel for strided copies
// (cuda/kernels.cu), NCCL (cuda/nccl.cpp) and what NVML tells (cuda/nvml.cpp). A program built without them lists the
// device, and why it cannot be used.

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/sha256.hpp"
#include "devices/cuda/device.hpp"
#include "devices/cuda/nccl.hpp"
#include "offload/offloaded_fft.hpp"

namespace fourscore {
namespace {

constexpr const char* address = "https://docs.nvidia.com/cuda/cufft";

class CudaBackend : public DeviceBackend {
 public:
  [[nodiscard]] Card card() const override { return {"cuda", "NVIDIA's GPUs: CUDA runtime and cuFFT", address}; }
  [[nodiscard]] std::string unavailable() const override { return cuda::unavailable(); }
  [[nodiscard]] bool emulated() const override { return false; }
  [[nodiscard]] std::string local_fft() const override { return "cufft"; }
  [[nodiscard]] std::optional<int> count() const override { return cuda::count(); }
  [[nodiscard]] std::vector<std::string> addresses() const override { return cuda::addresses(); }
  [[nodiscard]] std::unique_ptr<Device> make_device(int number, const LocalFftLibrary& /*host_fft*/) const override {
    return cuda::make_device(number);
  }
  [[nodiscard]] bool mpi_takes_its_memory() const override { return cuda::mpi_takes_its_memory(); }
  [[nodiscard]] bool shares_memory() const override { return true; }
  [[nodiscard]] std::string messages_unavailable() const override { return cuda::nccl_unavailable(); }
  [[nodiscard]] std::string messages_version() const override { return "nccl-" + cuda::nccl_version(); }
  [[nodiscard]] nlohmann::json versions() const override { return cuda::versions(); }
};

/// For any variant: its local transforms go to a GPU and back, one after the other.
class CufftLibrary : public LocalFftLibrary {
 public:
  [[nodiscard]] Card card() const override {
    return {"cufft", "NVIDIA's GPU library; data is copied to the GPU and back", address};
  }
  [[nodiscard]] std::string unavailable() const override { return cuda::unavailable(); }
  [[nodiscard]] std::string version() const override {
    const std::string version = cuda::cufft_version();
    return version.empty() ? version : "cufft-" + version;
  }
  [[nodiscard]] bool on_device() const override { return true; }
  [[nodiscard]] std::map<std::string, std::string> libraries_loaded_later() const override {
    if (!unavailable().empty()) return {};  // without a GPU it is never opened
    const std::filesystem::path file = cuda::cufft_file();
    return {{file.filename().string(), file.filename().string() + " " + sha256_of_samples(file)}};
  }
  /// Threads of the processor would change nothing.
  [[nodiscard]] Reason refuses(Kind /*kind*/, int threads) const override {
    if (threads <= 1) return std::nullopt;
    return std::to_string(threads) + " threads; cuFFT computes on the GPU and is used with one";
  }
  [[nodiscard]] std::unique_ptr<LocalFft> make(const LocalFftSpec& spec, void* in, void* out) const override {
    return std::make_unique<OffloadedFft>(cuda::make_device(number_of_this_process()), spec, in, out, OffloadSpec{});
  }
  void import_wisdom(const std::string& /*text*/, const std::string& /*origin*/) const override {}
  [[nodiscard]] std::string export_wisdom() const override { return {}; }

 private:
  /// By the rank on the node, as the launcher says it.
  static int number_of_this_process() {
    for (const char* name : {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID", "PMI_LOCAL_RANK"})
      if (const char* const rank = std::getenv(name)) return std::atoi(rank) % std::max(cuda::count(), 1);
    return 0;
  }
};

FOURSCORE_REGISTER_DEVICE(CudaBackend);
FOURSCORE_REGISTER_LOCAL_FFT(CufftLibrary);

}  // namespace
}  // namespace fourscore
