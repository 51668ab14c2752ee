#include "jobscripts/suites/suite_size.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/did_you_mean.hpp"

namespace fourscore {
namespace {

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void check_known(const SuiteReader& reader, std::uint32_t line, const std::string& name, const Suite& suite) {
  if (suite.sizes.empty())
    reader.fail(line, "key 'size': the suite has no sizes; name them at the top, as sizes = [\"here\", \"paper\"]");
  if (!has(suite.sizes, name))
    reader.fail(line, fmt::format("key 'size': '{}' is no size of this suite; expected one of sizes = [\"{}\"]", name,
                                  fmt::join(suite.sizes, "\", \"")));
}

}  // namespace

void read_sizes(const SuiteReader& reader, const toml::table& table, const std::string& asked, Suite& suite) {
  if (const toml::node* node = table.get("sizes")) {
    static constexpr auto expected = "a list of names of letters, digits and -, each once: [\"here\", \"paper\"]";
    if (!node->is_array()) reader.fail_key(*node, "sizes", expected);
    for (const auto& value : reader.values(*node, "sizes", ValueKind::text)) {
      if (!is_suite_name(value.text) || has(suite.sizes, value.text)) reader.fail_key(*node, "sizes", expected);
      suite.sizes.push_back(value.text);
    }
  }
  if (suite.sizes.empty()) {
    if (asked.empty()) return;
    reader.fail(0, fmt::format("--size {}: this suite has no sizes (key 'sizes'), run it without --size", asked));
  }
  suite.size = asked.empty() ? suite.sizes.front() : asked;
  if (!has(suite.sizes, suite.size)) {
    reader.fail(0, fmt::format("--size '{}' is no size of this suite{}; expected one of: {}", suite.size,
                               did_you_mean(suite.size, suite.sizes), fmt::join(suite.sizes, ", ")));
  }
  if (suite.size != suite.sizes.front()) suite.name += "-" + suite.size;
}

void for_each_size(const SuiteReader& reader, const toml::table& table, const Suite& suite,
                   const std::vector<std::string>& keys,
                   const std::function<void(const toml::table& settings, bool chosen)>& read) {
  const toml::node* node = table.get("size");
  if (node == nullptr) return;
  if (!node->is_table()) reader.fail_key(*node, "size", "a table for each size: [size.paper]");
  for (const auto& [name, settings] : SuiteReader::in_order(*node->as_table())) {
    check_known(reader, SuiteReader::line_of(*settings), name, suite);
    if (!settings->is_table())
      reader.fail_key(*settings, "size." + name, fmt::format("a table of keys of the top: [size.{}]", name));
    reader.check_keys(*settings->as_table(), keys, fmt::format("[size.{}]", name));
    read(*settings->as_table(), name == suite.size);
  }
}

bool is_of_chosen_size(const SuiteReader& reader, const toml::table& table, const Suite& suite) {
  const toml::node* node = table.get("size");
  if (node == nullptr) return true;
  bool chosen = false;
  for (const auto& value : reader.values(*node, "size", ValueKind::text)) {
    check_known(reader, value.line, value.text, suite);
    chosen = chosen || value.text == suite.size;
  }
  return chosen;
}

}  // namespace fourscore
