#pragma once
// The tables of a suite, [[sweep]] and [[component]], expanded into points.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "jobscripts/suites/suite.hpp"
#include "jobscripts/suites/suite_table.hpp"

namespace fourscore {

/// Adds the points of tables to a suite. Throws InputError with file, line and key; Interrupted when asked to stop.
class Expander {
 public:
  /// `tags` are those of all points of the suite.
  Expander(const SuiteReader& reader, Suite& suite, MachineSize machine, SuiteWords& words, std::set<std::string> tags)
      : reader_(reader),
        suite_(suite),
        machine_(machine),
        words_(words),
        tables_(reader, machine, words),
        tags_of_all_(std::move(tags)) {}

  void read_defaults(const toml::table& table);
  void read_sweep(const toml::table& table);
  /// The table's own axes, without what [defaults] add; none where it belongs to another size.
  std::vector<Axis> read_table(const toml::table& table, const TableForm& form);
  /// Remembers where the values stand; `program` is a component's, or empty.
  void note(const std::string& program, const Axis& axis);

 private:
  /// A point as the lists give it, and the word that stands for its grid, if one does.
  struct Draft {
    Point point;
    std::string grid_word;
  };

  void add_program(const toml::node& node, const std::vector<Axis>& axes);
  [[nodiscard]] bool matches(const Point& point, const Condition& condition) const;
  void check_direction(const SuiteValue& kind, const SuiteValue& direction) const;
  void place_ranks(Point& point, const std::map<std::string, const SuiteValue*>& said, std::uint32_t line) const;
  [[nodiscard]] double threads_per_core(const Point& point) const;
  [[nodiscard]] int fewest_nodes(const Point& point, int ranks) const;
  [[nodiscard]] bool is_oversubscribed(const Point& point) const;
  [[nodiscard]] std::string unplaced(const Point& point) const;
  void check_product(const SuiteTable& table);
  void expand(const SuiteTable& table);
  [[nodiscard]] Draft build(const std::vector<AxisGroup>& groups, const std::vector<std::size_t>& position,
                            std::uint32_t line) const;
  void add_with_grids(std::vector<Draft> drafts, const SuiteTable& table);
  void check_combinations(double of_table, std::uint32_t line);
  void check_comparisons(double combinations, const SuiteTable& table);
  [[nodiscard]] std::string value_of(const Point& point, const std::string& key) const;
  void add(const Point& point, const SuiteTable& table);

  const SuiteReader& reader_;
  Suite& suite_;
  MachineSize machine_;
  SuiteWords& words_;
  TableReader tables_;
  std::set<std::string> tags_of_all_;
  std::set<std::string> tags_;               ///< the tags of the table that is being read
  std::map<std::string, std::size_t> seen_;  ///< number of the suite's point, by its text
  double combinations_ = 0;                  ///< over all tables so far
  double comparisons_ = 0;
};

/// `tags` of the top of a suite, or of a [[sweep]] or [[component]], by which `--only tag=NAME` takes their points;
/// empty without the key. Throws InputError for what is no name, and for a name said twice.
[[nodiscard]] std::set<std::string> read_tags(const SuiteReader& reader, const toml::table& table);

}  // namespace fourscore
