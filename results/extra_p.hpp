#pragma once
// Times for Extra-P, which fits performance models to them: its format JSON Lines.

#include <iosfwd>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace fourscore {

/// One line for the total of a launch and one for each phase: {"params": {"ranks": 4, "elements": 4096}, "callpath":
/// "pencil/...->pack", "metric": "time_s", "value": ...}, the median over repetitions of the slowest rank's time.
/// Extra-P takes launches of one point for repetitions. The parameters are what models are functions of; everything
/// else of the point is in the call path.
///
/// Extra-P reads a file only if all its series have the same points, and takes logarithms of times. So times that are
/// not positive are left out, and series that lack a point of the longest ones: on one rank there is no exchange.
class ExtraPExport {
 public:
  /// False for a record without times, and for a component's, whose benchmarks have parameters of their own: nothing
  /// of it is written.
  bool add(const nlohmann::json& record);
  /// Writes the series that are complete; returns how many that are.
  std::size_t write(std::ostream& out) const;
  /// What `write` leaves out, a sentence each; none where it leaves out nothing.
  [[nodiscard]] std::vector<std::string> left_out() const;

 private:
  using Point = std::pair<double, double>;  ///< ranks, elements
  struct Time {
    std::string path;
    Point point;
    double seconds;
  };
  void add_time(const std::string& path, const Point& point, double seconds);
  /// The points that most of the longest series have.
  [[nodiscard]] std::set<Point> common_points() const;

  std::vector<Time> times_;  ///< as they came
  std::map<std::string, std::set<Point>> points_of_;
  std::size_t unusable_ = 0;  ///< times that are not positive
};

}  // namespace fourscore
