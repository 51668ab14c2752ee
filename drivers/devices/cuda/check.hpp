#pragma once
// Errors of the CUDA runtime, with its own text.

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace fourscore::cuda {

[[nodiscard]] inline std::string text_of(cudaError_t error) {
  return fmt::format("{} ({})", cudaGetErrorString(error), cudaGetErrorName(error));
}

/// For an error that the caller deals with. CUDA keeps a thread's last error, and the next launch of a kernel would
/// report it.
inline bool succeeded(cudaError_t error) {
  if (error != cudaSuccess) (void)cudaGetLastError();
  return error == cudaSuccess;
}

/// The message has the call without its arguments, and CUDA's own text.
inline void check(cudaError_t error, std::string_view call) {
  if (succeeded(error)) return;
  throw std::runtime_error(fmt::format("{} failed: {}", call.substr(0, call.find('(')), text_of(error)));
}

}  // namespace fourscore::cuda

#define FOURSCORE_CUDA_CHECK(call) ::fourscore::cuda::check((call), #call)
