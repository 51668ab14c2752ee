#pragma once
// What the parts of the pretended CUDA have in common.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <limits>
#include <string>

namespace pretended_cuda {

/// FOURSCORE_PRETENDED_CUDA, joined by commas, as "lag=200,fail-at=7".
struct Settings {
  long lag_us = 30;                    ///< lag=N: what is queued runs up to so many microseconds late
  long fail_at = 0;                    ///< fail-at=N: call N fails, from 1 on; 0: none
  long falls_off_at = 0;               ///< falls-off-at=N: call N and all after it fail
  int devices = 1;                     ///< devices=N
  double memory_bytes = 80e9;          ///< memory=BYTES of each device
  std::size_t max_pitch = 0x7fffffff;  ///< pitch=BYTES
  bool driver_missing = false;         ///< driver=none
  bool driver_old = false;             ///< driver=old
  bool exclusive = false;              ///< mode=exclusive: another process has the device
  bool ipc = true;                     ///< ipc=no: memory cannot be opened by other processes
  bool graphs = true;                  ///< graphs=no: streams cannot be captured
  bool mpi_aware = true;               ///< mpi=unaware: MPI does not say that it takes addresses of the device
};
/// Read once. Ends the program at an entry that is none of these.
Settings& settings();

/// Ends the program with a message: a real device would crash, hang or compute with something else.
[[noreturn]] void stop(const std::string& what);

/// Keeps the error until cudaGetLastError(), as the real runtime does, and returns it.
cudaError_t fail(cudaError_t error);
/// Counts a call. The error that it returns, where a setting asks for one.
cudaError_t count_call();

/// Bytes in use on the device.
double used_bytes();
/// Whether all of it is memory of the device; or of the host, page-locked or managed.
bool is_on_device(const void* data, std::size_t bytes);
bool is_page_locked(const void* data, std::size_t bytes);
bool touches_device(const void* data, std::size_t bytes);

/// The device of this thread.
int current_device();
/// The file that is the device's memory at that place, and where in it; -1: not all of it is memory of this process.
struct PlaceInFile {
  int file;
  std::size_t offset;
};
PlaceInFile place_in_file(const void* data, std::size_t bytes);

/// Runs when all that was queued before on `stream` has run.
void enqueue(cudaStream_t stream, std::function<void()> work);
/// Returns when all that was queued on it, or on any stream, has run.
void drain(cudaStream_t stream);
void drain_all();

}  // namespace pretended_cuda

/// First line of a function that may fail. Those that release do so before they fail: tests go on.
#define PRETENDED_CALL() \
  if (const cudaError_t asked = ::pretended_cuda::count_call(); asked != cudaSuccess) return asked
