#include "jobscripts/programs/harness_program.hpp"

#include <nlohmann/json.hpp>
#include <string>

#include "core/harness_mark.hpp"
#include "core/regular_file.hpp"
#include "core/sha256.hpp"

namespace fourscore {

using nlohmann::json;

bool is_of_harness(const json& identity) {
  const json program = identity.value("program", json());
  const json hash = identity.value("/identity/code/binary_sha256"_json_pointer, json());
  if (!program.is_string() || !hash.is_string()) return false;
  try {
    const std::string content = read_regular_file(program.get<std::string>()).text;
    return content.find(harness_mark) != std::string::npos && sha256_hex(content) == hash.get<std::string>();
  } catch (const UnreadableFile&) {
    return false;
  }
}

}  // namespace fourscore
