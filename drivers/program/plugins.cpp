#include "program/plugins.hpp"

#include <fmt/format.h>

#include "core/errors.hpp"
#include "harness/loaded_libraries.hpp"
#include "harness/provenance.hpp"
#include "variants/reference/plugin.hpp"

namespace fourscore::bench {
namespace {

using Libraries = std::map<std::string, std::string>;

Libraries& opened() {
  static Libraries libraries;
  return libraries;
}

}  // namespace

void open_plugins(const std::vector<std::filesystem::path>& files) {
  const Libraries before = libraries_loaded_now();
  for (const auto& file : files) {
    (void)register_plugin(file);
    for (auto& [name, build] : libraries_loaded_now()) {
      if (before.contains(name)) continue;
      if (name.starts_with("libmpi.so") || name.starts_with("libmpich.so"))
        throw InputError(fmt::format("plugin {} is built for another MPI: it brings {}, but this program runs with {}",
                                     file.string(), name, mpi_library()));
      opened().emplace(name, build);
    }
  }
}

const Libraries& libraries_of_plugins() { return opened(); }

}  // namespace fourscore::bench
