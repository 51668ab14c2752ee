#pragma once
// Reading one TOML file with errors that name file, line, key and what is allowed.

#include <toml++/toml.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fourscore {

class TomlReader {
 public:
  /// `what` the file is, for messages: "suite".
  TomlReader(std::filesystem::path file, std::string what) : file_(std::move(file)), what_(std::move(what)) {}

  /// The file's content. Throws InputError where it cannot be read or has more than 4 MiB.
  [[nodiscard]] std::string content() const;
  /// Throws InputError for a text that is no TOML, or too long or deep to be one of ours.
  [[nodiscard]] toml::table parse(const std::string& text) const;

  [[noreturn]] void fail(std::uint32_t line, std::string_view message) const;
  [[noreturn]] void fail_key(const toml::node& at, std::string_view key, std::string_view expected) const;

  /// Every key of the table must be one of `allowed`.
  void check_keys(const toml::table& table, const std::vector<std::string>& allowed, std::string_view where) const;

  [[nodiscard]] std::string text(const toml::table& table, std::string_view key, std::string fallback) const;
  /// A list of strings; what is absent is empty.
  [[nodiscard]] std::vector<std::string> texts(const toml::table& table, std::string_view key) const;
  [[nodiscard]] std::int64_t integer(const toml::table& table, std::string_view key, std::int64_t fallback,
                                     std::int64_t low, std::int64_t high) const;
  [[nodiscard]] double number(const toml::table& table, std::string_view key, double fallback, double low,
                              double high) const;
  [[nodiscard]] bool boolean(const toml::table& table, std::string_view key, bool fallback) const;
  /// The table [key]; nothing where it is absent.
  [[nodiscard]] const toml::table* section(const toml::table& table, std::string_view key) const;

  /// The keys of a table in the order written.
  [[nodiscard]] static std::vector<std::pair<std::string, const toml::node*>> in_order(const toml::table& table);
  [[nodiscard]] static std::uint32_t line_of(const toml::node& node) { return node.source().begin.line; }
  /// A node as a message shows it.
  [[nodiscard]] static std::string shown(const toml::node& node);

 private:
  std::filesystem::path file_;
  std::string what_;
};

}  // namespace fourscore
