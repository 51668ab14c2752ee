#include "devices/cuda/device.hpp"

#include <nlohmann/json.hpp>
#include <stdexcept>

#ifdef FOURSCORE_CUDA

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>
#include <utility>

#include "devices/cuda/boxes.hpp"
#include "devices/cuda/check.hpp"
#include "devices/cuda/fft.hpp"
#include "devices/cuda/graph.hpp"
#include "devices/cuda/kernels.hpp"
#include "devices/cuda/nccl.hpp"
#include "devices/cuda/neighbours.hpp"
#include "devices/cuda/nvml.hpp"

namespace fourscore::cuda {

class CudaMark : public Mark {
 public:
  CudaMark() { FOURSCORE_CUDA_CHECK(cudaEventCreate(&event_)); }
  ~CudaMark() override { (void)succeeded(cudaEventDestroy(event_)); }
  CudaMark(const CudaMark&) = delete;
  CudaMark& operator=(const CudaMark&) = delete;
  void synchronise() override { FOURSCORE_CUDA_CHECK(cudaEventSynchronize(event_)); }
  [[nodiscard]] bool has_passed() override {
    const cudaError_t state = cudaEventQuery(event_);
    if (succeeded(state)) return true;
    if (state != cudaErrorNotReady) check(state, "cudaEventQuery");
    return false;
  }
  [[nodiscard]] std::int64_t ns_since(const Mark& earlier) const override {
    float milliseconds = 0;
    FOURSCORE_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, static_cast<const CudaMark&>(earlier).event_, event_));
    return std::llround(1e6 * static_cast<double>(milliseconds));
  }
  [[nodiscard]] cudaEvent_t event() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

class CudaQueue : public Queue {
 public:
  /// most_pitch: of a copy of rows, in bytes.
  explicit CudaQueue(std::size_t most_pitch) : most_pitch_(most_pitch) {
    FOURSCORE_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  }
  ~CudaQueue() override { (void)succeeded(cudaStreamDestroy(stream_)); }
  CudaQueue(const CudaQueue&) = delete;
  CudaQueue& operator=(const CudaQueue&) = delete;
  void copy(const RowCopy& copy, CopyWay way) override {
    const cudaMemcpyKind kind = way == CopyWay::to_device ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
    const auto rows = static_cast<std::size_t>(copy.rows);
    if (rows > 1 && std::max(copy.to_pitch, copy.from_pitch) > most_pitch_)
      for (std::size_t row = 0; row < rows; ++row)
        FOURSCORE_CUDA_CHECK(cudaMemcpyAsync(copy.to + row * copy.to_pitch, copy.from + row * copy.from_pitch,
                                             copy.row_bytes, kind, stream_));
    else if (rows == 1 || (copy.to_pitch == copy.row_bytes && copy.from_pitch == copy.row_bytes))
      FOURSCORE_CUDA_CHECK(cudaMemcpyAsync(copy.to, copy.from, copy.row_bytes * rows, kind, stream_));
    else
      FOURSCORE_CUDA_CHECK(
          cudaMemcpy2DAsync(copy.to, copy.to_pitch, copy.from, copy.from_pitch, copy.row_bytes, rows, kind, stream_));
  }
  void record(Mark& mark) override {
    FOURSCORE_CUDA_CHECK(cudaEventRecord(static_cast<CudaMark&>(mark).event(), stream_));
  }
  void wait_for(const Mark& mark) override {
    FOURSCORE_CUDA_CHECK(cudaStreamWaitEvent(stream_, static_cast<const CudaMark&>(mark).event(), 0));
  }
  void synchronise() override { FOURSCORE_CUDA_CHECK(cudaStreamSynchronize(stream_)); }
  [[nodiscard]] void* native() const override { return stream_; }
  [[nodiscard]] cudaStream_t stream() const { return stream_; }

 private:
  std::size_t most_pitch_;
  cudaStream_t stream_ = nullptr;
};

cudaStream_t stream_of(Queue& queue) { return static_cast<CudaQueue&>(queue).stream(); }

namespace {

/// Memory of one of CUDA's allocators.
class CudaBuffer : public Buffer {
 public:
  enum class From { device, pinned, managed };
  CudaBuffer(From from, std::size_t bytes) : from_(from), bytes_(bytes) {
    const std::size_t some = std::max<std::size_t>(bytes, 64);
    if (from == From::device) FOURSCORE_CUDA_CHECK(cudaMalloc(&data_, some));
    if (from == From::pinned) FOURSCORE_CUDA_CHECK(cudaMallocHost(&data_, some));
    if (from == From::managed) FOURSCORE_CUDA_CHECK(cudaMallocManaged(&data_, some, cudaMemAttachGlobal));
    if (from != From::device) std::memset(data_, 0, some);
  }
  ~CudaBuffer() override { (void)succeeded(from_ == From::pinned ? cudaFreeHost(data_) : cudaFree(data_)); }
  CudaBuffer(const CudaBuffer&) = delete;
  CudaBuffer& operator=(const CudaBuffer&) = delete;
  [[nodiscard]] void* data() const override { return data_; }
  [[nodiscard]] std::size_t bytes() const override { return bytes_; }
  /// Without this the pages of managed memory would wander to the GPU with the first copy, and stay there.
  void keep_on_host() {
#if CUDART_VERSION >= 13000
    const cudaMemLocation host{cudaMemLocationTypeHost, 0};
#else
    const int host = cudaCpuDeviceId;
#endif
    if (bytes_ > 0) FOURSCORE_CUDA_CHECK(cudaMemAdvise(data_, bytes_, cudaMemAdviseSetPreferredLocation, host));
  }

 private:
  From from_;
  std::size_t bytes_;
  void* data_ = nullptr;
};

class PageableBuffer : public Buffer {
 public:
  explicit PageableBuffer(std::size_t bytes)
      : data_(static_cast<std::byte*>(std::malloc(std::max<std::size_t>(bytes, 64)))), bytes_(bytes) {
    if (!data_) throw std::bad_alloc();
    std::memset(data_.get(), 0, bytes);
  }
  [[nodiscard]] void* data() const override { return data_.get(); }
  [[nodiscard]] std::size_t bytes() const override { return bytes_; }

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::unique_ptr<std::byte, Free> data_;
  std::size_t bytes_;
};

class CudaPinned : public Pinned {
 public:
  CudaPinned(void* data, std::size_t bytes) : data_(data) {
    FOURSCORE_CUDA_CHECK(cudaHostRegister(data, bytes, cudaHostRegisterDefault));
  }
  ~CudaPinned() override { (void)succeeded(cudaHostUnregister(data_)); }
  CudaPinned(const CudaPinned&) = delete;
  CudaPinned& operator=(const CudaPinned&) = delete;

 private:
  void* data_;
};

class CudaCopies : public DeviceCopies {
 public:
  explicit CudaCopies(const std::vector<BoxCopy>& copies) : CudaCopies(copies, unit_bytes_of(copies)) {}
  void enqueue(Queue& queue) override {
    check(copy_boxes(static_cast<const DeviceBox*>(boxes_.data()), count_, blocks_, unit_bytes_, stream_of(queue)),
          "the kernel copy_boxes");
  }

 private:
  CudaCopies(const std::vector<BoxCopy>& copies, std::size_t unit_bytes)
      : CudaCopies(device_boxes(copies, unit_bytes), unit_bytes) {}
  CudaCopies(const std::vector<DeviceBox>& boxes, std::size_t unit_bytes)
      : count_(static_cast<int>(boxes.size())),
        blocks_(blocks_of(boxes)),
        unit_bytes_(unit_bytes),
        boxes_(CudaBuffer::From::device, boxes.size() * sizeof(DeviceBox)) {
    FOURSCORE_CUDA_CHECK(
        cudaMemcpy(boxes_.data(), boxes.data(), boxes.size() * sizeof(DeviceBox), cudaMemcpyHostToDevice));
    // From pageable memory that call may return before the copy is done, and no other stream waits for it.
    FOURSCORE_CUDA_CHECK(cudaStreamSynchronize(nullptr));
  }
  int count_;
  long long blocks_;
  std::size_t unit_bytes_;
  CudaBuffer boxes_;
};

/// The NUMA domain next to the device, as the kernel says; -1: unknown.
int numa_node_of(const std::string& bus_id) {
  std::string name = bus_id;
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  int node = -1;
  std::ifstream("/sys/bus/pci/devices/" + name + "/numa_node") >> node;
  return node;
}

std::string version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

std::string bus_id_of(int number) {
  std::array<char, 32> bus{};
  FOURSCORE_CUDA_CHECK(cudaDeviceGetPCIBusId(bus.data(), static_cast<int>(bus.size()), number));
  return bus.data();
}

class CudaDevice : public Device {
 public:
  explicit CudaDevice(int number) : number_(number) {
    FOURSCORE_CUDA_CHECK(cudaSetDevice(number));
    FOURSCORE_CUDA_CHECK(cudaGetDeviceProperties(&properties_, number));
    bus_id_ = bus_id_of(number);
  }
  [[nodiscard]] double free_bytes() const override {
    std::size_t free = 0;
    std::size_t total = 0;
    FOURSCORE_CUDA_CHECK(cudaMemGetInfo(&free, &total));
    return static_cast<double>(free);
  }
  [[nodiscard]] bool has_managed_memory() const override { return properties_.managedMemory != 0; }
  [[nodiscard]] std::unique_ptr<Buffer> allocate(std::size_t bytes) override {
    return std::make_unique<CudaBuffer>(CudaBuffer::From::device, bytes);
  }
  [[nodiscard]] std::unique_ptr<Buffer> allocate_among(MPI_Comm comm, std::size_t bytes) override {
    return allocate_among_neighbours(comm, bytes);
  }
  [[nodiscard]] std::size_t bytes_among(std::size_t bytes) const override { return in_whole_blocks(bytes); }
  [[nodiscard]] std::unique_ptr<Buffer> allocate_host(HostMemory kind, std::size_t bytes) override {
    if (kind == HostMemory::pageable) return std::make_unique<PageableBuffer>(bytes);
    if (kind == HostMemory::pinned) return std::make_unique<CudaBuffer>(CudaBuffer::From::pinned, bytes);
    auto managed = std::make_unique<CudaBuffer>(CudaBuffer::From::managed, bytes);
    managed->keep_on_host();
    return managed;
  }
  [[nodiscard]] std::unique_ptr<Pinned> pin(void* data, std::size_t bytes) override {
    return std::make_unique<CudaPinned>(data, bytes);
  }
  [[nodiscard]] std::unique_ptr<Queue> make_queue() override {
    return std::make_unique<CudaQueue>(properties_.memPitch);
  }
  [[nodiscard]] std::unique_ptr<Mark> make_mark() override { return std::make_unique<CudaMark>(); }
  [[nodiscard]] std::unique_ptr<DeviceFft> make_fft(const LocalFftSpec& spec, void* in, void* out) override {
    return make_cufft(*this, spec, in, out);
  }
  [[nodiscard]] std::size_t work_area_bytes(const LocalFftSpec& spec) override {
    return make_cufft(*this, spec, nullptr, nullptr)->work_area_bytes();
  }
  [[nodiscard]] std::unique_ptr<DeviceCopies> make_copies(const std::vector<BoxCopy>& copies) override {
    return std::make_unique<CudaCopies>(copies);
  }
  [[nodiscard]] std::unique_ptr<DeviceGraph> record(const std::function<void(Queue&)>& enqueue) override {
    return record_graph(*make_queue(), enqueue);
  }
  [[nodiscard]] std::unique_ptr<DeviceMessages> make_messages(MPI_Comm comm) override {
    return make_nccl_messages(comm);
  }
  [[nodiscard]] nlohmann::json identity() const override {
    nlohmann::json known = nvml_identity(bus_id_);
    known["model"] = properties_.name;
    known["compute_capability"] = fmt::format("{}.{}", properties_.major, properties_.minor);
    known["memory_bytes"] = properties_.totalGlobalMem;
    known["numa_node"] = numa_node_of(bus_id_);
    known["peers"] = peers();
    int direct = 0;
    if (succeeded(cudaDeviceGetAttribute(&direct, cudaDevAttrGPUDirectRDMASupported, number_)))
      known["gpudirect_rdma"] = direct != 0;
    // A module of the kernel: without it, network cards do not reach the GPU's memory by themselves.
    known["peer_memory_module"] = std::ranges::any_of(
        std::array{"nvidia_peermem", "nv_peer_mem"},
        [](const char* name) { return std::filesystem::exists(std::filesystem::path("/sys/module") / name); });
    return known;
  }
  [[nodiscard]] nlohmann::json state() const override { return nvml_state(bus_id_); }

 private:
  /// How many other devices of the node it can read.
  [[nodiscard]] int peers() const {
    int count = 0;
    int readable = 0;
    FOURSCORE_CUDA_CHECK(cudaGetDeviceCount(&count));
    for (int other = 0; other < count; ++other) {
      int can = 0;
      if (other != number_ && succeeded(cudaDeviceCanAccessPeer(&can, number_, other))) readable += can;
    }
    return readable;
  }
  int number_;
  cudaDeviceProp properties_{};
  std::string bus_id_;
};

}  // namespace

std::string unavailable() {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (!succeeded(error)) return "cudaGetDeviceCount failed: " + text_of(error);
  if (devices == 0) return "CUDA finds no GPU";
  return cufft_unavailable();
}

int count() {
  int devices = 0;
  return succeeded(cudaGetDeviceCount(&devices)) ? devices : 0;
}

std::vector<std::string> addresses() {
  std::vector<std::string> list;
  try {
    for (int number = 0; number < count(); ++number) list.push_back(bus_id_of(number));
  } catch (const std::runtime_error&) {
    return {};  // whoever makes the device is told
  }
  return list;
}

std::unique_ptr<Device> make_device(int number) { return std::make_unique<CudaDevice>(number); }

/// Open MPI and MPICH say it by a function of the same kind, which is there where the library has it.
bool mpi_takes_its_memory() {
  for (const char* name : {"MPIX_Query_cuda_support", "MPIX_Query_cuda_support_"})
    if (void* const query = ::dlsym(RTLD_DEFAULT, name)) return reinterpret_cast<int (*)()>(query)() == 1;
  return false;
}

nlohmann::json versions() {
  int driver = 0;
  int runtime = 0;
  FOURSCORE_CUDA_CHECK(cudaDriverGetVersion(&driver));
  FOURSCORE_CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
  return {{"driver_api", version_text(driver)}, {"runtime", version_text(runtime)}, {"cufft", cufft_version()}};
}

}  // namespace fourscore::cuda

#else

namespace fourscore::cuda {

std::string unavailable() { return "this program was built without CUDA"; }
int count() { return 0; }
std::vector<std::string> addresses() { return {}; }
std::unique_ptr<Device> make_device(int /*number*/) { throw std::runtime_error(unavailable()); }
bool mpi_takes_its_memory() { return false; }
nlohmann::json versions() { return nlohmann::json::object(); }
std::string cufft_version() { return {}; }
std::string cufft_file() { return {}; }

}  // namespace fourscore::cuda

#endif
