#pragma once
// What device=opencl and local FFT library clfft are made of. Without OpenCL in the build nothing of it can be used,
// and unavailable() says so.

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "interfaces/device.hpp"

namespace fourscore::opencl {

/// Nothing, or why no device can be used.
[[nodiscard]] std::string unavailable();
/// 0 where none can be used.
[[nodiscard]] int count();
/// Whether the devices are processors, which OpenCL has for tests.
[[nodiscard]] bool are_processors();
/// Whether device `number` computes in double precision.
[[nodiscard]] bool has_doubles(int number);
[[nodiscard]] nlohmann::json versions();
[[nodiscard]] std::string clfft_version();
/// Throws std::runtime_error with unavailable(), or with what fails.
[[nodiscard]] std::unique_ptr<Device> make_device(int number);

}  // namespace fourscore::opencl
