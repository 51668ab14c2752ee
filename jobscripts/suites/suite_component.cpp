#include "jobscripts/suites/suite_component.hpp"

#include "core/point_keys.hpp"

namespace fourscore {

void read_component(const toml::table& table, Expander& expander) {
  const auto axes = expander.read_table(table, {"[[component]]", component_keys(), false});
  for (const auto& programs : axes) {
    if (programs.key != "program") continue;
    for (const auto& program : programs.values) {
      expander.note(program.text, {"program", {program}});
      for (const auto& axis : axes)
        if (axis.key.starts_with("parameters.")) expander.note(program.text, axis);
    }
  }
}

}  // namespace fourscore
