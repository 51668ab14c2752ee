#pragma once
// Plugins: whose they are, and what they add to the code's identity.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace fourscore::bench {

/// Opens plugins and registers their transforms as variants, once each; before MPI is initialised. Throws InputError,
/// also for a plugin that brings another MPI than this program's.
void open_plugins(const std::vector<std::filesystem::path>& files);

/// The plugins and the libraries that came with them, as libraries_loaded_at_start() has them.
[[nodiscard]] const std::map<std::string, std::string>& libraries_of_plugins();

}  // namespace fourscore::bench
