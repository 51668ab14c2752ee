#pragma once
// Several launches in one MPI job: each as it would be alone, one after another (docs/measuring.md, "Launches in one
// job").

#include <filesystem>
#include <vector>

#include "program/options.hpp"

namespace fourscore::bench {

/// The command lines in a file of JSON, [["--variant", "slab", ...], ...], each as for a launch of its own. Throws Exit
/// (code 2) for what is no such list, for a command line that cannot be used, and for launches that need a job of
/// their own: with counters, plugins or a platform.
[[nodiscard]] std::vector<Options> read_launches(const std::filesystem::path& file);

}  // namespace fourscore::bench
