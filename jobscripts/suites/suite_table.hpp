#pragma once
// One table of a suite, [[sweep]], [[component]] or [defaults], as keys with their values.

#include <cstdint>
#include <string>
#include <vector>

#include "core/point_keys.hpp"
#include "jobscripts/suites/suite.hpp"
#include "jobscripts/suites/suite_reader.hpp"
#include "jobscripts/suites/suite_words.hpp"

namespace fourscore {

/// A key with its values; the axes of a product.
struct Axis {
  std::string key;
  std::vector<SuiteValue> values;
};
/// Axes that advance together.
using AxisGroup = std::vector<Axis>;
/// Key and allowed canonical values: one { ... } of exclude or only.
using Condition = std::vector<Axis>;

/// The two kinds of table that expand to points.
struct TableForm {
  const char* name;
  const std::vector<PointKey>& keys;
  bool defaults;                  ///< [defaults] stand in for what it does not say
  const char* further = nullptr;  ///< a key that is none of points
};

/// What a table says, before its lists are multiplied.
struct SuiteTable {
  std::vector<Axis> own;  ///< without what [defaults] add
  std::vector<AxisGroup> groups;
  std::vector<Condition> exclude, only;
  std::uint32_t line = 0;
};

/// Throws InputError with file, line and key.
class TableReader {
 public:
  TableReader(const SuiteReader& reader, MachineSize machine, SuiteWords& words)
      : reader_(reader), machine_(machine), words_(words) {}

  /// They stand in for what later tables do not say.
  std::vector<Axis> read_defaults(const toml::table& table);
  [[nodiscard]] SuiteTable read(const toml::table& table, const TableForm& form) const;

  void set_value(Point& point, const std::string& key, const SuiteValue& value) const;
  /// A shape that goes by the point's ranks or nodes, spelt out.
  [[nodiscard]] std::string shape_on(const SuiteValue& shape, const Point& point) const;

 private:
  [[nodiscard]] std::vector<Axis> read_axes(const toml::table& table, bool single, const char* further = nullptr) const;
  [[nodiscard]] Axis read_axis(const std::string& key, const toml::node& node, bool single) const;
  /// "cores", "1..cores" and "all" as the values that they stand for.
  [[nodiscard]] std::vector<SuiteValue> spell_out(const std::string& key, const std::vector<SuiteValue>& values) const;
  [[nodiscard]] std::vector<AxisGroup> group_axes(const toml::table& table, std::vector<Axis> axes) const;
  [[nodiscard]] std::vector<std::vector<SuiteValue>> read_zips(const toml::table& table) const;
  [[nodiscard]] std::vector<Condition> read_conditions(const toml::table& table, const char* key,
                                                       const TableForm& form) const;

  const SuiteReader& reader_;
  MachineSize machine_;
  SuiteWords& words_;
  std::vector<Axis> defaults_;
};

}  // namespace fourscore
