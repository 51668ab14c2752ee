// Errors, settings and what a device says of itself.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string_view>

#include "pretended.hpp"

namespace pretended_cuda {

namespace {

thread_local cudaError_t last_error = cudaSuccess;
thread_local int chosen_device = 0;
std::mutex calls_mutex;
long calls = 0;

struct Text {
  const char* name;
  const char* text;
};
const std::map<cudaError_t, Text> texts{
    {cudaSuccess, {"cudaSuccess", "no error"}},
    {cudaErrorInvalidValue, {"cudaErrorInvalidValue", "invalid argument"}},
    {cudaErrorMemoryAllocation, {"cudaErrorMemoryAllocation", "out of memory"}},
    {cudaErrorInvalidPitchValue, {"cudaErrorInvalidPitchValue", "invalid pitch argument"}},
    {cudaErrorInsufficientDriver,
     {"cudaErrorInsufficientDriver", "CUDA driver version is insufficient for CUDA runtime version"}},
    {cudaErrorDevicesUnavailable, {"cudaErrorDevicesUnavailable", "CUDA-capable device(s) is/are busy or unavailable"}},
    {cudaErrorNoDevice, {"cudaErrorNoDevice", "no CUDA-capable device is detected"}},
    {cudaErrorInvalidDevice, {"cudaErrorInvalidDevice", "invalid device ordinal"}},
    {cudaErrorMapBufferObjectFailed, {"cudaErrorMapBufferObjectFailed", "mapping of buffer object failed"}},
    {cudaErrorNotSupported, {"cudaErrorNotSupported", "operation not supported"}},
    {cudaErrorInvalidResourceHandle, {"cudaErrorInvalidResourceHandle", "invalid resource handle"}},
    {cudaErrorNotReady, {"cudaErrorNotReady", "device not ready"}},
    {cudaErrorHostMemoryAlreadyRegistered,
     {"cudaErrorHostMemoryAlreadyRegistered", "part or all of the requested memory range is already mapped"}},
    {cudaErrorHostMemoryNotRegistered,
     {"cudaErrorHostMemoryNotRegistered", "pointer does not correspond to a registered memory region"}},
    {cudaErrorLaunchFailure, {"cudaErrorLaunchFailure", "unspecified launch failure"}},
    {cudaErrorStreamCaptureUnsupported,
     {"cudaErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing"}},
};

bool read_entry(Settings& read, std::string_view name, const std::string& value) {
  if (name == "lag")
    read.lag_us = std::stol(value);
  else if (name == "fail-at")
    read.fail_at = std::stol(value);
  else if (name == "falls-off-at")
    read.falls_off_at = std::stol(value);
  else if (name == "devices")
    read.devices = std::stoi(value);
  else if (name == "memory")
    read.memory_bytes = std::stod(value);
  else if (name == "pitch")
    read.max_pitch = std::stoul(value);
  else if (name == "driver" && value == "none")
    read.driver_missing = true;
  else if (name == "driver" && value == "old")
    read.driver_old = true;
  else if (name == "mode" && value == "exclusive")
    read.exclusive = true;
  else if (name == "ipc" && value == "no")
    read.ipc = false;
  else if (name == "graphs" && value == "no")
    read.graphs = false;
  else if (name == "mpi" && value == "unaware")
    read.mpi_aware = false;
  else
    return false;
  return true;
}

Settings read_settings() {
  Settings read;
  const char* const text = std::getenv("FOURSCORE_PRETENDED_CUDA");
  std::string_view rest = text == nullptr ? "" : text;
  while (!rest.empty()) {
    const std::string_view entry = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
    const std::size_t equals = std::min(entry.find('='), entry.size());
    try {
      if (read_entry(read, entry.substr(0, equals), std::string(entry.substr(std::min(equals + 1, entry.size())))))
        continue;
    } catch (const std::logic_error&) {  // no number
    }
    stop("FOURSCORE_PRETENDED_CUDA has '" + std::string(entry) + "'; pretended.hpp lists what it may have");
  }
  return read;
}

/// What a process meets before it has a device.
cudaError_t state_of_driver() {
  if (settings().driver_missing || settings().driver_old) return fail(cudaErrorInsufficientDriver);
  return settings().devices == 0 ? fail(cudaErrorNoDevice) : cudaSuccess;
}

}  // namespace

Settings& settings() {
  static Settings read = read_settings();
  return read;
}

void stop(const std::string& what) {
  std::fprintf(stderr, "pretended CUDA: %s\n", what.c_str());
  std::abort();
}

cudaError_t fail(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
  return error;
}

int current_device() { return chosen_device; }

cudaError_t count_call() {
  const std::lock_guard lock(calls_mutex);
  ++calls;
  const Settings& asked = settings();
  const bool fails = calls == asked.fail_at || (asked.falls_off_at > 0 && calls >= asked.falls_off_at);
  return fails ? fail(cudaErrorLaunchFailure) : cudaSuccess;
}

}  // namespace pretended_cuda

using pretended_cuda::fail;
using pretended_cuda::settings;

extern "C" {

/// Call n from now on fails, and all after it where asked; 0: none. For tests, which look it up by its name.
void pretended_cuda_fail_at(long n, bool and_after);
void pretended_cuda_fail_at(long n, bool and_after) {
  const std::lock_guard lock(pretended_cuda::calls_mutex);
  pretended_cuda::calls = 0;
  settings().fail_at = n;
  settings().falls_off_at = and_after ? n : 0;
}

/// Open MPI and MPICH have a function of this name, behind this library in the order of look-up.
int MPIX_Query_cuda_support();
int MPIX_Query_cuda_support() { return settings().mpi_aware ? 1 : 0; }

cudaError_t cudaGetLastError() { return std::exchange(pretended_cuda::last_error, cudaSuccess); }

const char* cudaGetErrorName(cudaError_t error) { return pretended_cuda::texts.at(error).name; }

const char* cudaGetErrorString(cudaError_t error) { return pretended_cuda::texts.at(error).text; }

cudaError_t cudaGetDeviceCount(int* count) {
  PRETENDED_CALL();
  *count = settings().devices;
  return pretended_cuda::state_of_driver();
}

cudaError_t cudaSetDevice(int device) {
  PRETENDED_CALL();
  if (const cudaError_t error = pretended_cuda::state_of_driver(); error != cudaSuccess) return error;
  if (settings().exclusive) return fail(cudaErrorDevicesUnavailable);
  if (device < 0 || device >= settings().devices) return fail(cudaErrorInvalidDevice);
  pretended_cuda::chosen_device = device;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  PRETENDED_CALL();
  if (device < 0 || device >= settings().devices) return fail(cudaErrorInvalidDevice);
  *properties = {"pretended GPU", static_cast<std::size_t>(settings().memory_bytes), settings().max_pitch, 9, 0, 1};
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr /*attribute*/, int /*device*/) {
  PRETENDED_CALL();
  *value = 0;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char* id, int length, int device) {
  PRETENDED_CALL();
  std::snprintf(id, static_cast<std::size_t>(length), "0000:%02X:00.0", 0x3B + device);
  return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  PRETENDED_CALL();
  if (device == peer) return fail(cudaErrorInvalidDevice);
  *can = 0;
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
  PRETENDED_CALL();
  *version = settings().driver_missing ? 0 : settings().driver_old ? CUDART_VERSION - 1000 : CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  PRETENDED_CALL();
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  PRETENDED_CALL();
  *total = static_cast<std::size_t>(settings().memory_bytes);
  *free = static_cast<std::size_t>(settings().memory_bytes - pretended_cuda::used_bytes());
  return cudaSuccess;
}
}
