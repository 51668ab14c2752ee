#pragma once
// Reading one TOML file with errors that name file, line, key and what is allowed.

#include <toml++/toml.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace fourscore {

/// One value of a suite as text, and the line it stands on.
struct SuiteValue {
  std::string text;
  std::uint32_t line = 0;
};

/// The kinds of value a point key takes.
enum class ValueKind { text, integer, ranks, nodes, text_or_integer };

class SuiteReader {
 public:
  explicit SuiteReader(std::filesystem::path file) : file_(std::move(file)) {}

  [[noreturn]] void fail(std::uint32_t line, std::string_view message) const;
  [[noreturn]] void fail_key(const toml::node& at, std::string_view key, std::string_view expected) const;

  /// Every key of the table must be one of `allowed`.
  void check_keys(const toml::table& table, const std::vector<std::string>& allowed, std::string_view where) const;

  [[nodiscard]] std::string text(const toml::table& table, std::string_view key, std::string fallback) const;
  [[nodiscard]] std::int64_t integer(const toml::table& table, std::string_view key, std::int64_t fallback,
                                     std::int64_t low, std::int64_t high) const;
  [[nodiscard]] double number(const toml::table& table, std::string_view key, double fallback, double low,
                              double high) const;
  [[nodiscard]] bool boolean(const toml::table& table, std::string_view key, bool fallback) const;

  /// One value or a list of values of the kind, as text; never empty.
  [[nodiscard]] std::vector<SuiteValue> values(const toml::node& node, std::string_view key, ValueKind kind) const;
  /// One value only.
  [[nodiscard]] SuiteValue value(const toml::node& node, std::string_view key, ValueKind kind) const;

  /// The keys of a table in the order written.
  [[nodiscard]] static std::vector<std::pair<std::string, const toml::node*>> in_order(const toml::table& table);
  [[nodiscard]] static std::uint32_t line_of(const toml::node& node) { return node.source().begin.line; }

 private:
  std::filesystem::path file_;
};

}  // namespace fourscore
