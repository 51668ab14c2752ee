#pragma once
// What the words of a suite stand for: "all" variants, exchanges or local libraries, "square" and "all" grids. Only the
// program that measures knows, so it is asked, and only where a suite uses such a word.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/grid.hpp"
#include "core/problem.hpp"

namespace fourscore {

inline constexpr const char* every_value = "all";
inline constexpr const char* square_grid = "square";

/// Whether this value of the key is a word that stands for others.
[[nodiscard]] bool is_word(std::string_view key, std::string_view value);

/// The grids that "square" or "all" stands for where a grid has this room, in the order of the points: P x 1 first.
/// Where there is but one grid it is the automatic one.
[[nodiscard]] std::vector<std::vector<int>> spell_out_grid(std::string_view word, const GridRoom& room);

class SuiteWords {
 public:
  virtual ~SuiteWords() = default;
  /// Told before anything is asked: the libraries that the suite names, whose transforms are variants too.
  virtual void use_plugins(const std::vector<std::filesystem::path>& /*files*/) {}
  /// The names for "all" of "variant", "exchange" or "local_fft", also those that cannot run here.
  [[nodiscard]] virtual std::vector<std::string> names(const std::string& key) = 0;
  /// The exchange of a point that names none; empty for a variant that is not known.
  [[nodiscard]] virtual std::string default_exchange(const std::string& variant) = 0;
  /// What grids there are for each point.
  [[nodiscard]] virtual std::vector<GridRoom> grids(const std::vector<Point>& points) = 0;
};

}  // namespace fourscore
