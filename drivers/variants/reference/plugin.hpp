#pragma once
// Transforms of anyone's library as variants, by the C interface of interfaces/fourscore.h.

#include <filesystem>
#include <string>
#include <vector>

namespace fourscore {

/// Opens a plugin and registers each of its transforms as a variant; their names. Before MPI is initialised. Throws
/// InputError for a plugin that cannot be used, and for a name that another variant has.
std::vector<std::string> register_plugin(const std::filesystem::path& file);

}  // namespace fourscore
