#include "jobscripts/suites/suite_tags.hpp"

#include <fmt/format.h>

#include "jobscripts/suites/suite.hpp"

namespace fourscore {

std::set<std::string> read_tags(const SuiteReader& reader, const toml::table& table) {
  std::set<std::string> tags;
  const toml::node* node = table.get("tags");
  if (node == nullptr) return tags;
  for (const auto& value : reader.values(*node, "tags", ValueKind::text)) {
    if (!is_suite_name(value.text))
      reader.fail(value.line, fmt::format("key 'tags' is '{}'; expected names of 1 to 64 letters, digits and -, not "
                                          "starting with -",
                                          value.text));
    if (!tags.insert(value.text).second) reader.fail(value.line, fmt::format("key 'tags' says '{}' twice", value.text));
  }
  return tags;
}

}  // namespace fourscore
