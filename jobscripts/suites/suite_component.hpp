#pragma once
// The [[component]] tables of a suite: programs that measure one component alone.

#include "jobscripts/suites/suite_expander.hpp"

namespace fourscore {

/// Adds the points of one table to the suite, and notes its values under each of its programs. Throws as Expander.
void read_component(const toml::table& table, Expander& expander);

}  // namespace fourscore
