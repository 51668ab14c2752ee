#ifdef FOURSCORE_OPENCL

#include "devices/opencl/runtime.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>

namespace fourscore::opencl {

namespace {

constexpr const char* no_devices = "OpenCL finds no platform: no driver is installed";
constexpr cl_int no_platform = -1001;  // CL_PLATFORM_NOT_FOUND_KHR, which the loader answers

/// Work items go along the destination, so that stores are of whole lines. A box is of units; its strides are in bytes.
constexpr const char* copies_source = R"(
typedef struct { long from, to; long counts[4]; long from_strides[4]; long to_strides[4]; } Box;
#define COPY_BOX(name, Unit)                                                                          \
  kernel void name(global const Box* boxes, global const uchar* from, global uchar* to) {             \
    global const Box* box = boxes + get_global_id(1);                                                 \
    const long units = box->counts[0] * box->counts[1] * box->counts[2] * box->counts[3];             \
    for (long unit = get_global_id(0); unit < units; unit += get_global_size(0)) {                    \
      long rest = unit, source = box->from, target = box->to;                                         \
      for (int level = 3; level >= 0; --level) {                                                      \
        const long i = rest % box->counts[level];                                                     \
        rest /= box->counts[level];                                                                   \
        source += i * box->from_strides[level];                                                       \
        target += i * box->to_strides[level];                                                         \
      }                                                                                               \
      *(global Unit*)(to + target) = *(global const Unit*)(from + source);                            \
    }                                                                                                 \
  }
COPY_BOX(copy_boxes_8, ulong)
COPY_BOX(copy_boxes_16, ulong2)
)";

std::vector<cl_device_id> devices_of(cl_platform_id platform, cl_device_type type) {
  cl_uint count = 0;
  const cl_int error = clGetDeviceIDs(platform, type, 0, nullptr, &count);
  if (error == CL_DEVICE_NOT_FOUND) return {};
  check(error, "clGetDeviceIDs");
  std::vector<cl_device_id> devices(count);
  FOURSCORE_OPENCL_CHECK(clGetDeviceIDs(platform, type, count, devices.data(), nullptr));
  return devices;
}

ProgramHandle compiled(const Runtime& runtime, const char* source) {
  cl_int error = CL_SUCCESS;
  ProgramHandle program(clCreateProgramWithSource(runtime.context(), 1, &source, nullptr, &error));
  check(error, "clCreateProgramWithSource");
  const cl_device_id device = runtime.device();
  error = clBuildProgram(program.get(), 1, &device, "-cl-std=CL1.2", nullptr, nullptr);
  if (error == CL_SUCCESS) return program;
  std::size_t bytes = 0;
  (void)clGetProgramBuildInfo(program.get(), device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &bytes);
  std::string log(bytes, '\0');
  (void)clGetProgramBuildInfo(program.get(), device, CL_PROGRAM_BUILD_LOG, bytes, log.data(), nullptr);
  throw std::runtime_error(fmt::format("clBuildProgram failed: {}\n{}", text_of(error), log));
}

}  // namespace

std::string text_of(cl_int error) {
  const char* name = nullptr;
#define FOURSCORE_NAME(code) \
  case code:                 \
    name = #code;            \
    break
  switch (error) {
    FOURSCORE_NAME(CL_DEVICE_NOT_FOUND);
    FOURSCORE_NAME(CL_DEVICE_NOT_AVAILABLE);
    FOURSCORE_NAME(CL_COMPILER_NOT_AVAILABLE);
    FOURSCORE_NAME(CL_MEM_OBJECT_ALLOCATION_FAILURE);
    FOURSCORE_NAME(CL_OUT_OF_RESOURCES);
    FOURSCORE_NAME(CL_OUT_OF_HOST_MEMORY);
    FOURSCORE_NAME(CL_PROFILING_INFO_NOT_AVAILABLE);
    FOURSCORE_NAME(CL_BUILD_PROGRAM_FAILURE);
    FOURSCORE_NAME(CL_MISALIGNED_SUB_BUFFER_OFFSET);
    FOURSCORE_NAME(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    FOURSCORE_NAME(CL_INVALID_VALUE);
    FOURSCORE_NAME(CL_INVALID_PLATFORM);
    FOURSCORE_NAME(CL_INVALID_DEVICE);
    FOURSCORE_NAME(CL_INVALID_CONTEXT);
    FOURSCORE_NAME(CL_INVALID_COMMAND_QUEUE);
    FOURSCORE_NAME(CL_INVALID_MEM_OBJECT);
    FOURSCORE_NAME(CL_INVALID_KERNEL_ARGS);
    FOURSCORE_NAME(CL_INVALID_WORK_GROUP_SIZE);
    FOURSCORE_NAME(CL_INVALID_EVENT);
    FOURSCORE_NAME(CL_INVALID_OPERATION);
    FOURSCORE_NAME(CL_INVALID_BUFFER_SIZE);
    default:
      return fmt::format("error {}", error);
  }
#undef FOURSCORE_NAME
  return fmt::format("{} ({})", name, error);
}

void check(cl_int error, std::string_view call) {
  if (error == CL_SUCCESS) return;
  throw std::runtime_error(fmt::format("{} failed: {}", call.substr(0, call.find('(')), text_of(error)));
}

std::vector<cl_device_id> all_devices() {
  cl_uint count = 0;
  const cl_int error = clGetPlatformIDs(0, nullptr, &count);
  if (error == no_platform || (error == CL_SUCCESS && count == 0)) throw std::runtime_error(no_devices);
  check(error, "clGetPlatformIDs");
  std::vector<cl_platform_id> platforms(count);
  FOURSCORE_OPENCL_CHECK(clGetPlatformIDs(count, platforms.data(), nullptr));
  std::vector<cl_device_id> all;
  for (const cl_device_type type :
       {cl_device_type{CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR}, cl_device_type{CL_DEVICE_TYPE_CPU}}) {
    for (cl_platform_id platform : platforms)
      for (cl_device_id device : devices_of(platform, type)) all.push_back(device);
    if (!all.empty()) return all;
  }
  throw std::runtime_error(fmt::format("OpenCL has {} platforms and no device", count));
}

std::string text_info(cl_device_id device, cl_device_info what) {
  std::size_t bytes = 0;
  FOURSCORE_OPENCL_CHECK(clGetDeviceInfo(device, what, 0, nullptr, &bytes));
  std::string text(bytes, '\0');
  FOURSCORE_OPENCL_CHECK(clGetDeviceInfo(device, what, bytes, text.data(), nullptr));
  return text.c_str();  // up to its terminating zero
}

Runtime::Runtime(cl_device_id device)
    : device_(device),
      alignment_bytes_(number_info<cl_uint>(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8),
      memory_bytes_(static_cast<double>(number_info<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE))) {
  cl_int error = CL_SUCCESS;
  context_ = ContextHandle(clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &error));
  check(error, "clCreateContext");
  setup_queue_ = make_queue(*this);
  copies_ = compiled(*this, copies_source);
}

std::byte* Runtime::add_range(cl_mem buffer, std::size_t bytes) {
  // One page more than that: the end of a range is no other range's begin.
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t reserved = (bytes / page + 2) * page;
  void* const first = ::mmap(nullptr, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (first == MAP_FAILED)
    throw std::system_error(errno, std::generic_category(), fmt::format("reserving {} addresses", reserved));
  ranges_[reinterpret_cast<std::uintptr_t>(first)] = {buffer, bytes, reserved};
  used_bytes_ += static_cast<double>(bytes);
  return static_cast<std::byte*>(first);
}

void Runtime::remove_range(std::byte* first) noexcept {
  const auto range = ranges_.find(reinterpret_cast<std::uintptr_t>(first));
  if (range == ranges_.end()) return;
  used_bytes_ -= static_cast<double>(range->second.bytes);
  (void)::munmap(first, range->second.reserved_bytes);
  ranges_.erase(range);
}

Place Runtime::place_of(const void* address) const {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const auto after = ranges_.upper_bound(at);
  if (after != ranges_.begin()) {
    const auto& [first, range] = *std::prev(after);
    if (at - first <= range.bytes) return {range.buffer, at - first};
  }
  throw std::logic_error("an address that no buffer of the device has");
}

std::shared_ptr<Runtime> runtime_of(int number) {
  // Never released: a driver may be gone when a program's static objects are.
  static auto& known = *new std::map<int, std::shared_ptr<Runtime>>;
  std::shared_ptr<Runtime>& runtime = known[number];
  if (!runtime) runtime = std::make_shared<Runtime>(all_devices().at(static_cast<std::size_t>(number)));
  return runtime;
}

QueueHandle make_queue(const Runtime& runtime) {
  cl_int error = CL_SUCCESS;
  QueueHandle queue(clCreateCommandQueue(runtime.context(), runtime.device(), CL_QUEUE_PROFILING_ENABLE, &error));
  check(error, "clCreateCommandQueue");
  return queue;
}

}  // namespace fourscore::opencl

#endif
