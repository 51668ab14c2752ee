#pragma once
// Times for Extra-P, which fits performance models to them: its format JSON Lines.

#include <iosfwd>
#include <nlohmann/json.hpp>

namespace fourscore {

/// One line for the total of a launch and one for each phase: {"params": {"ranks": 4, "elements": 4096}, "callpath":
/// "pencil/...->pack", "metric": "time_s", "value": ...}, the median over repetitions of the slowest rank's time.
/// Extra-P takes launches of one point for repetitions. The parameters are what models are functions of; everything
/// else of the point is in the call path.
class ExtraPExport {
 public:
  explicit ExtraPExport(std::ostream& out) : out_(out) {}
  /// False for a record without times, and for a component's, whose benchmarks have parameters of their own: nothing
  /// is written.
  bool add(const nlohmann::json& record);

 private:
  std::ostream& out_;
};

}  // namespace fourscore
