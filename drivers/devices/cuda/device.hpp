#pragma once
// What device=cuda and local FFT library cufft are made of. Without CUDA in the build nothing of it can be used, and
// unavailable() says so.

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "interfaces/device.hpp"

namespace fourscore::cuda {

/// Nothing, or why no GPU can be used.
[[nodiscard]] std::string unavailable();
/// 0 where none can be used.
[[nodiscard]] int count();
/// Their addresses on the PCI bus; empty where one cannot be asked.
[[nodiscard]] std::vector<std::string> addresses();
/// Throws std::runtime_error with unavailable(), or with what fails.
[[nodiscard]] std::unique_ptr<Device> make_device(int number);
/// Whether the MPI in use says that it takes addresses of a GPU's memory.
[[nodiscard]] bool mpi_takes_its_memory();
/// The versions of driver, runtime and cuFFT.
[[nodiscard]] nlohmann::json versions();
/// "11.0.0"; empty where it cannot be loaded.
[[nodiscard]] std::string cufft_version();
/// The path of the file that is opened.
[[nodiscard]] std::string cufft_file();

}  // namespace fourscore::cuda
