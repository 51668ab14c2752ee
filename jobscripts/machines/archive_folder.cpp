#include "jobscripts/machines/archive_folder.hpp"

#include "core/environment.hpp"
#include "jobscripts/machines/machine_files.hpp"

namespace fourscore {
namespace fs = std::filesystem;

fs::path archive_folder(const std::string& option, const std::string& of_machine) {
  for (const std::string& said : {option, environment("FOURSCORE_ARCHIVE"), of_machine})
    if (!said.empty()) return said;
  return "fourscore-archive";
}

fs::path archive_folder(const std::string& option) {
  const std::string machine = environment("FOURSCORE_MACHINE");
  const bool asked = option.empty() && environment("FOURSCORE_ARCHIVE").empty() && !machine.empty();
  return archive_folder(option, asked ? find_machine(machine).archive : "");
}

}  // namespace fourscore
