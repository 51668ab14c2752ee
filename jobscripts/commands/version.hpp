#pragma once
// Which fourscore this is.

namespace fourscore {

/// "0.1.0 (841eb28d1c2e, 2026-11-27)": the version, and where they are known the revision and its day.
[[nodiscard]] const char* shown_version();

}  // namespace fourscore
