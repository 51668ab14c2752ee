#pragma once
// Times for Apache Otava, which finds change points in them: a wide CSV file.

#include <iosfwd>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace fourscore {

/// One row a build, in the order of their first measurement: time, revision, code_hash, and a column for each series, a
/// point on one machine. A value is the median, over the launches of the build, of each launch's median, in seconds. A
/// cell is empty where the build has no time of the series.
class OtavaCsv {
 public:
  /// False for a record without times and for a component's: nothing is added.
  bool add(const nlohmann::json& record);
  void write(std::ostream& out) const;
  /// Columns with an empty cell, which Otava cannot read.
  [[nodiscard]] std::vector<std::string> incomplete() const;

 private:
  struct Build {
    std::string first_at;
    std::string revision;
    std::map<std::string, std::vector<double>> medians_s;  ///< by series, for each launch
  };
  [[nodiscard]] std::vector<std::string> series() const;

  std::map<std::string, Build> builds_;  ///< by the hash of their code
};

}  // namespace fourscore
