#pragma once
// OpenCL's objects and errors, and addresses for a device's memory: a buffer of OpenCL has none.

#include <CL/cl.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fourscore::opencl {

/// "CL_OUT_OF_RESOURCES (-5)"; the number alone for rare ones.
[[nodiscard]] std::string text_of(cl_int error);
/// Throws std::runtime_error with the call, without its arguments, and the error.
void check(cl_int error, std::string_view call);

/// An object that is released with its owner.
template <class Object, cl_int (*release)(Object)>
class Handle {
 public:
  Handle() = default;
  explicit Handle(Object object) : object_(object) {}
  ~Handle() {
    if (object_ != nullptr) (void)release(object_);
  }
  Handle(Handle&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  [[nodiscard]] Object get() const { return object_; }

 private:
  Object object_ = nullptr;
};
using ContextHandle = Handle<cl_context, clReleaseContext>;
using QueueHandle = Handle<cl_command_queue, clReleaseCommandQueue>;
using MemoryHandle = Handle<cl_mem, clReleaseMemObject>;
using ProgramHandle = Handle<cl_program, clReleaseProgram>;
using KernelHandle = Handle<cl_kernel, clReleaseKernel>;
using EventHandle = Handle<cl_event, clReleaseEvent>;

/// The GPUs and accelerators of all platforms; where there are none, the processors. Throws std::runtime_error.
[[nodiscard]] std::vector<cl_device_id> all_devices();
[[nodiscard]] std::string text_info(cl_device_id device, cl_device_info what);
template <class Number>
[[nodiscard]] Number number_info(cl_device_id device, cl_device_info what) {
  Number number{};
  check(clGetDeviceInfo(device, what, sizeof number, &number, nullptr), "clGetDeviceInfo");
  return number;
}

/// Where an address lies.
struct Place {
  cl_mem buffer = nullptr;
  std::size_t offset = 0;  ///< bytes
};

/// A context of one device, with the kernel of strided copies. One for each device of the process: what is compiled in
/// it is compiled once.
class Runtime {
 public:
  /// Compiles the kernel.
  explicit Runtime(cl_device_id device);
  [[nodiscard]] cl_device_id device() const { return device_; }
  [[nodiscard]] cl_context context() const { return context_.get(); }
  [[nodiscard]] cl_command_queue setup_queue() const { return setup_queue_.get(); }
  [[nodiscard]] cl_program copies() const { return copies_.get(); }
  [[nodiscard]] std::size_t alignment_bytes() const { return alignment_bytes_; }  ///< a part of a buffer must have it
  [[nodiscard]] double free_bytes() const { return memory_bytes_ - used_bytes_; }

  /// An address for each byte of the buffer. Nothing else is there, and nobody can read or write there.
  [[nodiscard]] std::byte* add_range(cl_mem buffer, std::size_t bytes);
  void remove_range(std::byte* first) noexcept;
  /// Throws std::logic_error for an address in no buffer.
  [[nodiscard]] Place place_of(const void* address) const;

 private:
  struct Range {
    cl_mem buffer = nullptr;
    std::size_t bytes = 0;
    std::size_t reserved_bytes = 0;
  };
  cl_device_id device_;
  ContextHandle context_;
  QueueHandle setup_queue_;
  ProgramHandle copies_;
  std::size_t alignment_bytes_;
  double memory_bytes_;
  double used_bytes_ = 0;  ///< by this process
  std::map<std::uintptr_t, Range> ranges_;
};

/// The one of device `number` of all_devices(), for as long as the process runs.
[[nodiscard]] std::shared_ptr<Runtime> runtime_of(int number);

/// In order, with times of its commands.
[[nodiscard]] QueueHandle make_queue(const Runtime& runtime);

}  // namespace fourscore::opencl

#define FOURSCORE_OPENCL_CHECK(call) ::fourscore::opencl::check((call), #call)
