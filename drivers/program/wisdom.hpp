#pragma once
// Files of wisdom: plans of the local FFT library that are kept from launch to launch.

#include <mpi.h>

#include <filesystem>
#include <string>

#include "harness/agreement.hpp"
#include "interfaces/local_fft.hpp"

namespace fourscore::bench {

/// Collective: rank 0 reads the file and all ranks import it. Returns the SHA-256 of what was read, on rank 0; empty
/// where there is no such file. A file that cannot be used is an InputError of the agreement.
[[nodiscard]] std::string load_wisdom(MPI_Comm comm, Agreement& agreement, const LocalFftLibrary& library,
                                      const std::filesystem::path& file);
/// Collective: rank 0 writes what it knows beside the file's name and renames it, so that a reader never sees half a
/// file, nor another writer's.
void save_wisdom(Agreement& agreement, const LocalFftLibrary& library, const std::filesystem::path& file);

}  // namespace fourscore::bench
