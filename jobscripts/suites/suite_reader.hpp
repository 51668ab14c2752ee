#pragma once
// Reading the values of a suite's points.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "jobscripts/base/toml_reader.hpp"

namespace fourscore {

/// One value of a suite as text, and the line it stands on.
struct SuiteValue {
  std::string text;
  std::uint32_t line = 0;
};

/// The kinds of value a point key takes.
enum class ValueKind { text, integer, ranks, nodes, text_or_integer };

class SuiteReader : public TomlReader {
 public:
  explicit SuiteReader(std::filesystem::path file) : TomlReader(std::move(file), "suite") {}

  /// One value or a list of values of the kind, as text; never empty.
  [[nodiscard]] std::vector<SuiteValue> values(const toml::node& node, std::string_view key, ValueKind kind) const;
  /// One value only.
  [[nodiscard]] SuiteValue value(const toml::node& node, std::string_view key, ValueKind kind) const;
};

}  // namespace fourscore
