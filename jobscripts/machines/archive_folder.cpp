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

fs::path archive_folder(const std::string& option) { return option.empty() ? default_archive("") : fs::path(option); }

fs::path default_archive(const std::string& machine) {
  const std::string name = machine.empty() ? environment("FOURSCORE_MACHINE") : machine;
  const bool asked = environment("FOURSCORE_ARCHIVE").empty() && !name.empty();
  return archive_folder("", asked ? find_machine(name).archive : "");
}

}  // namespace fourscore
