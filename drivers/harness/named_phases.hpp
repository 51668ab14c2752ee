#pragma once
// What components are called and in which phase they are, as text for ranks that have them not.

#include <string>
#include <vector>

#include "interfaces/plan.hpp"

namespace fourscore {

struct NamedPhase {
  std::string name;
  Phase phase = Phase::other;
};

[[nodiscard]] std::string text_of(const std::vector<Component>& components);
[[nodiscard]] std::vector<NamedPhase> read_named_phases(const std::string& text);

}  // namespace fourscore
