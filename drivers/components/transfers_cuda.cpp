#include <stdexcept>

#include "components/transfers.hpp"

#ifdef FOURSCORE_CUDA

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

namespace fourscore::component {
namespace {

std::string text_of(cudaError_t error) {
  return fmt::format("{} ({})", cudaGetErrorString(error), cudaGetErrorName(error));
}

/// The message has the call without its arguments, and CUDA's own text.
void check(cudaError_t error, std::string_view call) {
  if (error == cudaSuccess) return;
  throw std::runtime_error(fmt::format("{} failed: {}", call.substr(0, call.find('(')), text_of(error)));
}
#define FOURSCORE_CUDA_CHECK(call) check((call), #call)

class Stream {
 public:
  Stream() { FOURSCORE_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~Stream() {
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
  }
  Stream(Stream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
  Stream& operator=(Stream&&) = delete;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  [[nodiscard]] cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

struct FreeDevice {
  void operator()(std::byte* memory) const { cudaFree(memory); }
};
using DeviceMemory = std::unique_ptr<std::byte, FreeDevice>;

DeviceMemory device_memory(std::size_t bytes) {
  void* memory = nullptr;
  FOURSCORE_CUDA_CHECK(cudaMalloc(&memory, bytes));
  return DeviceMemory(static_cast<std::byte*>(memory));
}

struct FreeHost {
  HostMemory kind = HostMemory::pageable;
  void operator()(std::byte* memory) const {
    if (kind == HostMemory::pageable) std::free(memory);
    if (kind == HostMemory::pinned) cudaFreeHost(memory);
    if (kind == HostMemory::managed) cudaFree(memory);
  }
};
using HostSide = std::unique_ptr<std::byte, FreeHost>;

/// Without this the pages of managed memory would wander to the GPU with the first copy, and stay there.
void keep_on_host(void* memory, std::size_t bytes) {
#if CUDART_VERSION >= 13000
  const cudaMemLocation host{cudaMemLocationTypeHost, 0};
  FOURSCORE_CUDA_CHECK(cudaMemAdvise(memory, bytes, cudaMemAdviseSetPreferredLocation, host));
#else
  FOURSCORE_CUDA_CHECK(cudaMemAdvise(memory, bytes, cudaMemAdviseSetPreferredLocation, cudaCpuDeviceId));
#endif
}

HostSide host_memory(HostMemory kind, std::size_t bytes) {
  void* memory = nullptr;
  if (kind == HostMemory::pageable) {
    memory = std::malloc(bytes);
    if (memory == nullptr) throw std::bad_alloc();
  } else if (kind == HostMemory::pinned) {
    FOURSCORE_CUDA_CHECK(cudaMallocHost(&memory, bytes));
  } else {
    FOURSCORE_CUDA_CHECK(cudaMallocManaged(&memory, bytes, cudaMemAttachGlobal));
  }
  HostSide side(static_cast<std::byte*>(memory), FreeHost{kind});
  if (kind == HostMemory::managed) keep_on_host(memory, bytes);
  std::memset(memory, 0, bytes);
  return side;
}

class CudaTransfer : public Transfer {
 public:
  explicit CudaTransfer(const TransferSpec& spec) : bytes_(spec.bytes) {
    if (spec.direction != TransferDirection::to_host) add(spec, true);
    if (spec.direction != TransferDirection::to_device) add(spec, false);
  }

  void run(std::int64_t iterations) override {
    for (std::int64_t i = 0; i < iterations; ++i) {
      for (const Way& way : ways_)
        FOURSCORE_CUDA_CHECK(cudaMemcpyAsync(way.target(), way.source(), bytes_, way.kind(), way.stream.get()));
      for (const Way& way : ways_) FOURSCORE_CUDA_CHECK(cudaStreamSynchronize(way.stream.get()));
    }
  }

  double wrong_bytes() override {
    std::vector<std::byte> pattern(bytes_);
    for (const Way& way : ways_) {
      fill(pattern, way.to_device);
      FOURSCORE_CUDA_CHECK(cudaMemcpy(way.source(), pattern.data(), bytes_, cudaMemcpyDefault));
    }
    run(1);
    double wrong = 0;
    std::vector<std::byte> arrived(bytes_);
    for (const Way& way : ways_) {
      fill(pattern, way.to_device);
      FOURSCORE_CUDA_CHECK(cudaMemcpy(arrived.data(), way.target(), bytes_, cudaMemcpyDefault));
      for (std::size_t i = 0; i < bytes_; ++i) wrong += arrived[i] != pattern[i] ? 1 : 0;
    }
    return wrong;
  }

 private:
  struct Way {
    bool to_device;
    HostSide host;
    DeviceMemory device;
    Stream stream{};
    [[nodiscard]] std::byte* source() const { return to_device ? host.get() : device.get(); }
    [[nodiscard]] std::byte* target() const { return to_device ? device.get() : host.get(); }
    [[nodiscard]] cudaMemcpyKind kind() const { return to_device ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost; }
  };

  void add(const TransferSpec& spec, bool to_device) {
    ways_.push_back({to_device, host_memory(spec.memory, spec.bytes), device_memory(spec.bytes)});
  }
  static void fill(std::vector<std::byte>& bytes, bool to_device) {
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = transfer_pattern(i, to_device);
  }

  std::size_t bytes_;
  std::vector<Way> ways_;
};

class CudaDevice : public TransferDevice {
 public:
  explicit CudaDevice(int number) {
    FOURSCORE_CUDA_CHECK(cudaSetDevice(number));
    cudaDeviceProp properties{};
    FOURSCORE_CUDA_CHECK(cudaGetDeviceProperties(&properties, number));
    name_ = properties.name;
  }
  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] bool emulated() const override { return false; }
  [[nodiscard]] double free_bytes() const override {
    std::size_t free = 0;
    std::size_t total = 0;
    FOURSCORE_CUDA_CHECK(cudaMemGetInfo(&free, &total));
    return static_cast<double>(free);
  }
  [[nodiscard]] std::unique_ptr<Transfer> make(const TransferSpec& spec) const override {
    return std::make_unique<CudaTransfer>(spec);
  }

 private:
  std::string name_;
};

}  // namespace

std::string cuda_unavailable() {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error != cudaSuccess) return "cudaGetDeviceCount failed: " + text_of(error);
  return devices > 0 ? "" : "CUDA finds no GPU";
}

std::unique_ptr<TransferDevice> cuda_device(int rank) {
  int devices = 0;
  FOURSCORE_CUDA_CHECK(cudaGetDeviceCount(&devices));
  if (devices == 0) throw std::runtime_error("CUDA finds no GPU");
  return std::make_unique<CudaDevice>(rank % devices);
}

}  // namespace fourscore::component

#else

namespace fourscore::component {

std::string cuda_unavailable() { return "this program was built without CUDA"; }
std::unique_ptr<TransferDevice> cuda_device(int /*rank*/) { throw std::runtime_error(cuda_unavailable()); }

}  // namespace fourscore::component

#endif
