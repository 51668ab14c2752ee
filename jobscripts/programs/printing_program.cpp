#include "jobscripts/programs/printing_program.hpp"

#include <filesystem>

#include "core/path_kind.hpp"
#include "core/record.hpp"
#include "core/sha256.hpp"

namespace fourscore {

using nlohmann::json;

json printing_identity(const std::vector<std::string>& command, const json& of_this_machine) {
  json words = json::array(), files = json::object();
  for (const std::string& word : command) {
    const std::filesystem::path file = word;
    const bool is_file = file.is_absolute() && names_file(file);
    // Another folder makes no other program.
    words.push_back(is_file ? file.filename().string() : word);
    if (is_file) files[file.filename().string()] = sha256_file(file);
  }
  const json code{{"binary_sha256", sha256_file(command.front())}, {"command", words}, {"files", files}};
  const json machine = of_this_machine.value("/identity/machine"_json_pointer, json::object());
  json answer{{"identity", {{"machine", machine}, {"code", code}}},
              {"machine_hash", of_this_machine.value("machine_hash", "")},
              {"code_hash", short_hash(code)},
              {"program", command.front()}};
  return answer;
}

}  // namespace fourscore
