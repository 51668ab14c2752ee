#pragma once
// Tags: names for groups of a suite's points, by which `--only tag=NAME` takes them.

#include <set>
#include <string>

#include "jobscripts/suites/suite_reader.hpp"

namespace fourscore {

/// `tags` of the top of a suite, or of a [[sweep]] or [[component]]; empty without the key. Throws InputError for what
/// is no name, and for a name said twice.
[[nodiscard]] std::set<std::string> read_tags(const SuiteReader& reader, const toml::table& table);

}  // namespace fourscore
