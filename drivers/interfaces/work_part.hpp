#pragma once
// A part of planned work that can run alone.

#include <functional>
#include <string_view>

#include "core/box.hpp"
#include "core/phase.hpp"

namespace fourscore {

/// A part of a local transform or exchange that has parts of its own: the copies to and from a device.
struct WorkPart {
  Phase phase = Phase::other;
  std::function<void()> run;
  Index min_bytes = 0;  ///< reads and writes of memory together, as of a Component
  [[nodiscard]] std::string_view name() const { return phase_names[static_cast<std::size_t>(phase)]; }
};

}  // namespace fourscore
