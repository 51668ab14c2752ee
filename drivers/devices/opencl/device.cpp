#include "devices/opencl/device.hpp"

#include <nlohmann/json.hpp>
#include <stdexcept>

#ifdef FOURSCORE_OPENCL

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "devices/opencl/fft.hpp"
#include "devices/opencl/runtime.hpp"

namespace fourscore::opencl {

namespace {

class OpenclMark : public Mark {
 public:
  /// An event of OpenCL serves once, so each record has a new one.
  void record(cl_command_queue queue) {
    cl_event event = nullptr;
    FOURSCORE_OPENCL_CHECK(clEnqueueMarkerWithWaitList(queue, 0, nullptr, &event));
    event_ = EventHandle(event);
    FOURSCORE_OPENCL_CHECK(clFlush(queue));
  }
  void synchronise() override {
    const cl_event event = event_.get();
    FOURSCORE_OPENCL_CHECK(clWaitForEvents(1, &event));
  }
  [[nodiscard]] bool has_passed() override {
    cl_int status = CL_QUEUED;
    FOURSCORE_OPENCL_CHECK(
        clGetEventInfo(event_.get(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr));
    if (status < 0) check(status, "a command of the queue");
    return status == CL_COMPLETE;
  }
  [[nodiscard]] std::int64_t ns_since(const Mark& earlier) const override {
    return static_cast<std::int64_t>(end_ns() - static_cast<const OpenclMark&>(earlier).end_ns());
  }
  [[nodiscard]] cl_event event() const { return event_.get(); }

 private:
  [[nodiscard]] cl_ulong end_ns() const {
    cl_ulong end = 0;
    FOURSCORE_OPENCL_CHECK(clGetEventProfilingInfo(event_.get(), CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr));
    return end;
  }
  EventHandle event_;
};

class OpenclQueue : public Queue {
 public:
  explicit OpenclQueue(std::shared_ptr<Runtime> runtime)
      : runtime_(std::move(runtime)), queue_(make_queue(*runtime_)) {}
  void copy(const RowCopy& copy, CopyWay way) override {
    const bool up = way == CopyWay::to_device;
    const Place there = runtime_->place_of(up ? copy.to : copy.from);
    const auto rows = static_cast<std::size_t>(copy.rows);
    if (rows == 1 || (copy.to_pitch == copy.row_bytes && copy.from_pitch == copy.row_bytes)) {
      const std::size_t bytes = copy.row_bytes * rows;
      if (up)
        FOURSCORE_OPENCL_CHECK(clEnqueueWriteBuffer(queue_.get(), there.buffer, CL_FALSE, there.offset, bytes,
                                                    copy.from, 0, nullptr, nullptr));
      else
        FOURSCORE_OPENCL_CHECK(clEnqueueReadBuffer(queue_.get(), there.buffer, CL_FALSE, there.offset, bytes, copy.to,
                                                   0, nullptr, nullptr));
      return;
    }
    const std::array<std::size_t, 3> origin{there.offset, 0, 0};
    const std::array<std::size_t, 3> zero{};
    const std::array<std::size_t, 3> region{copy.row_bytes, rows, 1};
    if (up)
      FOURSCORE_OPENCL_CHECK(clEnqueueWriteBufferRect(queue_.get(), there.buffer, CL_FALSE, origin.data(), zero.data(),
                                                      region.data(), copy.to_pitch, 0, copy.from_pitch, 0, copy.from, 0,
                                                      nullptr, nullptr));
    else
      FOURSCORE_OPENCL_CHECK(clEnqueueReadBufferRect(queue_.get(), there.buffer, CL_FALSE, origin.data(), zero.data(),
                                                     region.data(), copy.from_pitch, 0, copy.to_pitch, 0, copy.to, 0,
                                                     nullptr, nullptr));
  }
  void record(Mark& mark) override { static_cast<OpenclMark&>(mark).record(queue_.get()); }
  void wait_for(const Mark& mark) override {
    const cl_event event = static_cast<const OpenclMark&>(mark).event();
    FOURSCORE_OPENCL_CHECK(clEnqueueBarrierWithWaitList(queue_.get(), 1, &event, nullptr));
  }
  void synchronise() override { FOURSCORE_OPENCL_CHECK(clFinish(queue_.get())); }
  [[nodiscard]] cl_command_queue queue() const { return queue_.get(); }

 private:
  std::shared_ptr<Runtime> runtime_;
  QueueHandle queue_;
};

/// Memory of the device. OpenCL allocates at the first use, which must not be a timed one: so all of it is written.
class DeviceMemory : public Buffer {
 public:
  DeviceMemory(std::shared_ptr<Runtime> runtime, std::size_t bytes) : runtime_(std::move(runtime)), bytes_(bytes) {
    const std::size_t some = std::max<std::size_t>(bytes, 64);
    cl_int error = CL_SUCCESS;
    memory_ = MemoryHandle(clCreateBuffer(runtime_->context(), CL_MEM_READ_WRITE, some, nullptr, &error));
    check(error, fmt::format("clCreateBuffer of {} bytes", some));
    const auto nan = static_cast<cl_uchar>(0xff);
    FOURSCORE_OPENCL_CHECK(
        clEnqueueFillBuffer(runtime_->setup_queue(), memory_.get(), &nan, sizeof nan, 0, some, 0, nullptr, nullptr));
    FOURSCORE_OPENCL_CHECK(clFinish(runtime_->setup_queue()));
    first_ = runtime_->add_range(memory_.get(), some);
  }
  ~DeviceMemory() override { runtime_->remove_range(first_); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  [[nodiscard]] void* data() const override { return first_; }
  [[nodiscard]] std::size_t bytes() const override { return bytes_; }

 private:
  std::shared_ptr<Runtime> runtime_;
  std::size_t bytes_;
  MemoryHandle memory_;
  std::byte* first_ = nullptr;
};

/// A buffer in the host's memory, mapped for as long as it lives: what drivers copy from and to without a detour. They
/// page-lock it, where they do.
class MappedMemory : public Buffer, public Pinned {
 public:
  /// host: null for memory that the driver allocates, zeroed.
  MappedMemory(std::shared_ptr<Runtime> runtime, void* host, std::size_t bytes)
      : runtime_(std::move(runtime)), bytes_(bytes) {
    const std::size_t some = std::max<std::size_t>(bytes, 64);
    const cl_mem_flags flags = CL_MEM_READ_WRITE | (host == nullptr ? CL_MEM_ALLOC_HOST_PTR : CL_MEM_USE_HOST_PTR);
    cl_int error = CL_SUCCESS;
    memory_ = MemoryHandle(clCreateBuffer(runtime_->context(), flags, host == nullptr ? some : bytes, host, &error));
    check(error, fmt::format("clCreateBuffer of {} bytes of the host", some));
    data_ = clEnqueueMapBuffer(runtime_->setup_queue(), memory_.get(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                               host == nullptr ? some : bytes, 0, nullptr, nullptr, &error);
    check(error, "clEnqueueMapBuffer");
    if (host == nullptr) std::memset(data_, 0, some);
  }
  ~MappedMemory() override {
    (void)clEnqueueUnmapMemObject(runtime_->setup_queue(), memory_.get(), data_, 0, nullptr, nullptr);
    (void)clFinish(runtime_->setup_queue());
  }
  MappedMemory(const MappedMemory&) = delete;
  MappedMemory& operator=(const MappedMemory&) = delete;
  [[nodiscard]] void* data() const override { return data_; }
  [[nodiscard]] std::size_t bytes() const override { return bytes_; }

 private:
  std::shared_ptr<Runtime> runtime_;
  std::size_t bytes_;
  MemoryHandle memory_;
  void* data_ = nullptr;
};

/// Memory that host and device both reach at the same address, without mapping it: OpenCL's fine-grained shared memory.
class SharedMemory : public Buffer {
 public:
  SharedMemory(std::shared_ptr<Runtime> runtime, std::size_t bytes) : runtime_(std::move(runtime)), bytes_(bytes) {
    const std::size_t some = std::max<std::size_t>(bytes, 64);
    data_ = clSVMAlloc(runtime_->context(), CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, some, 0);
    if (data_ == nullptr) throw std::runtime_error(fmt::format("clSVMAlloc of {} bytes failed", some));
    std::memset(data_, 0, some);
  }
  ~SharedMemory() override { clSVMFree(runtime_->context(), data_); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  [[nodiscard]] void* data() const override { return data_; }
  [[nodiscard]] std::size_t bytes() const override { return bytes_; }

 private:
  std::shared_ptr<Runtime> runtime_;
  std::size_t bytes_;
  void* data_ = nullptr;
};

/// A BoxCopy as the kernel reads it: units, strides in bytes. The struct of the same name in its source.
struct DeviceBox {
  cl_long from, to;
  std::array<cl_long, 4> counts;  ///< three loops, then the units of a run
  std::array<cl_long, 4> from_strides;
  std::array<cl_long, 4> to_strides;
};

/// A launch for each pair of buffers.
class OpenclCopies : public DeviceCopies {
 public:
  OpenclCopies(const Runtime& runtime, const std::vector<BoxCopy>& copies) {
    const bool wide = std::ranges::all_of(copies, [](const BoxCopy& copy) { return fits_16(copy); });
    std::map<std::pair<cl_mem, cl_mem>, std::vector<DeviceBox>> boxes;
    for (const BoxCopy& copy : copies) {
      const Place from = runtime.place_of(copy.from);
      const Place to = runtime.place_of(copy.to);
      boxes[{from.buffer, to.buffer}].push_back(box_of(copy, from, to, wide ? 16 : 8));
    }
    for (const auto& [buffers, list] : boxes) add(runtime, buffers.first, buffers.second, list, wide);
  }
  void enqueue(Queue& queue) override {
    for (const Launch& launch : launches_)
      FOURSCORE_OPENCL_CHECK(clEnqueueNDRangeKernel(queue_of(queue), launch.kernel.get(), 2, nullptr,
                                                    launch.items.data(), nullptr, 0, nullptr, nullptr));
  }

 private:
  struct Launch {
    KernelHandle kernel{};
    MemoryHandle boxes{};
    std::array<std::size_t, 2> items{};
  };
  static bool fits_16(const BoxCopy& copy) {
    auto all = reinterpret_cast<std::uintptr_t>(copy.from) | reinterpret_cast<std::uintptr_t>(copy.to) | copy.run_bytes;
    for (const auto& loop : copy.loops)
      if (loop.count > 1) all |= static_cast<std::uintptr_t>(loop.from) | static_cast<std::uintptr_t>(loop.to);
    return all % 16 == 0;
  }
  static DeviceBox box_of(const BoxCopy& copy, const Place& from, const Place& to, std::size_t unit_bytes) {
    DeviceBox box{};
    box.from = static_cast<cl_long>(from.offset);
    box.to = static_cast<cl_long>(to.offset);
    for (std::size_t i = 0; i < 3; ++i) {
      box.counts.at(i) = copy.loops.at(i).count;
      box.from_strides.at(i) = copy.loops.at(i).from;
      box.to_strides.at(i) = copy.loops.at(i).to;
    }
    box.counts[3] = static_cast<cl_long>(copy.run_bytes / unit_bytes);
    box.from_strides[3] = box.to_strides[3] = static_cast<cl_long>(unit_bytes);
    return box;
  }
  void add(const Runtime& runtime, cl_mem from, cl_mem to, std::vector<DeviceBox> boxes, bool wide) {
    constexpr std::size_t most_items = std::size_t{1} << 20;
    Launch launch;
    cl_int error = CL_SUCCESS;
    launch.kernel = KernelHandle(clCreateKernel(runtime.copies(), wide ? "copy_boxes_16" : "copy_boxes_8", &error));
    check(error, "clCreateKernel");
    launch.boxes = MemoryHandle(clCreateBuffer(runtime.context(), CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                                               boxes.size() * sizeof(DeviceBox), boxes.data(), &error));
    check(error, "clCreateBuffer");
    const cl_mem list = launch.boxes.get();
    cl_uint position = 0;
    for (const cl_mem* argument : {&list, &std::as_const(from), &std::as_const(to)})
      FOURSCORE_OPENCL_CHECK(clSetKernelArg(launch.kernel.get(), position++, sizeof(cl_mem), argument));
    cl_long largest = 0;
    for (const DeviceBox& box : boxes)
      largest = std::max(largest, box.counts[0] * box.counts[1] * box.counts[2] * box.counts[3]);
    if (largest == 0) return;
    launch.items = {std::min(static_cast<std::size_t>(largest), most_items), boxes.size()};
    launches_.push_back(std::move(launch));
  }

  std::vector<Launch> launches_;
};

class OpenclDevice : public Device {
 public:
  explicit OpenclDevice(int number) : runtime_(runtime_of(number)) {}
  [[nodiscard]] double free_bytes() const override { return runtime_->free_bytes(); }
  [[nodiscard]] bool has_managed_memory() const override {
    cl_device_svm_capabilities kinds = 0;  // a device before OpenCL 2 does not know the question
    const cl_int error = clGetDeviceInfo(runtime_->device(), CL_DEVICE_SVM_CAPABILITIES, sizeof kinds, &kinds, nullptr);
    return error == CL_SUCCESS && (kinds & CL_DEVICE_SVM_FINE_GRAIN_BUFFER) != 0;
  }
  [[nodiscard]] std::unique_ptr<Buffer> allocate(std::size_t bytes) override {
    return std::make_unique<DeviceMemory>(runtime_, bytes);
  }
  [[nodiscard]] std::unique_ptr<Buffer> allocate_host(HostMemory kind, std::size_t bytes) override {
    if (kind == HostMemory::pageable) return ordinary_buffer(bytes);
    if (kind == HostMemory::pinned) return std::make_unique<MappedMemory>(runtime_, nullptr, bytes);
    return std::make_unique<SharedMemory>(runtime_, bytes);
  }
  [[nodiscard]] std::unique_ptr<Pinned> pin(void* data, std::size_t bytes) override {
    return std::make_unique<MappedMemory>(runtime_, data, bytes);
  }
  [[nodiscard]] std::unique_ptr<Queue> make_queue() override { return std::make_unique<OpenclQueue>(runtime_); }
  [[nodiscard]] std::unique_ptr<Mark> make_mark() override { return std::make_unique<OpenclMark>(); }
  [[nodiscard]] std::unique_ptr<DeviceFft> make_fft(const LocalFftSpec& spec, void* in, void* out) override {
    return make_clfft(*this, *runtime_, spec, in, out);
  }
  [[nodiscard]] std::unique_ptr<DeviceCopies> make_copies(const std::vector<BoxCopy>& copies) override {
    return std::make_unique<OpenclCopies>(*runtime_, copies);
  }
  [[nodiscard]] nlohmann::json identity() const override {
    const cl_device_id device = runtime_->device();
    return {{"model", text_info(device, CL_DEVICE_NAME)},
            {"vendor", text_info(device, CL_DEVICE_VENDOR)},
            {"driver", text_info(device, CL_DRIVER_VERSION)},
            {"opencl", text_info(device, CL_DEVICE_VERSION)},
            {"memory_bytes", number_info<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE)},
            {"compute_units", number_info<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS)}};
  }
  [[nodiscard]] nlohmann::json state() const override { return nlohmann::json::object(); }

 private:
  std::shared_ptr<Runtime> runtime_;
};

}  // namespace

cl_command_queue queue_of(Queue& queue) { return static_cast<OpenclQueue&>(queue).queue(); }

std::string unavailable() {
  static const std::string reason = [] {
    try {
      (void)all_devices();
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    }
    return std::string();
  }();
  return reason;
}

int count() { return unavailable().empty() ? static_cast<int>(all_devices().size()) : 0; }

bool are_processors() {
  return unavailable().empty() &&
         (number_info<cl_device_type>(all_devices().front(), CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0;
}

bool has_doubles(int number) {
  return number_info<cl_device_fp_config>(all_devices().at(static_cast<std::size_t>(number)),
                                          CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
}

std::string clfft_version() { return version_of_clfft(); }

nlohmann::json versions() {
  cl_platform_id platform = number_info<cl_platform_id>(all_devices().front(), CL_DEVICE_PLATFORM);
  std::array<char, 256> text{};
  FOURSCORE_OPENCL_CHECK(clGetPlatformInfo(platform, CL_PLATFORM_VERSION, text.size(), text.data(), nullptr));
  return {{"opencl_platform", text.data()}, {"clfft", clfft_version()}};
}

std::unique_ptr<Device> make_device(int number) { return std::make_unique<OpenclDevice>(number); }

}  // namespace fourscore::opencl

#else

namespace fourscore::opencl {

std::string unavailable() { return "this program was built without OpenCL"; }
int count() { return 0; }
bool are_processors() { return false; }
bool has_doubles(int /*number*/) { return false; }
nlohmann::json versions() { return nlohmann::json::object(); }
std::string clfft_version() { return {}; }
std::unique_ptr<Device> make_device(int /*number*/) { throw std::runtime_error(unavailable()); }

}  // namespace fourscore::opencl

#endif
