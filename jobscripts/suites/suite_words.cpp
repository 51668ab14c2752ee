#include "jobscripts/suites/suite_words.hpp"

namespace fourscore {

bool is_word(std::string_view key, std::string_view value) {
  if (key == "grid") return value == square_grid || value == every_value;
  return (key == "variant" || key == "exchange" || key == "local_fft") && value == every_value;
}

std::vector<std::vector<int>> spell_out_grid(std::string_view word, const GridRoom& room) {
  if (room.entries < 2) return {{}};
  auto grids = all_grids(room.ranks, room.entries);
  if (word == square_grid) return {most_square(grids)};
  return grids;
}

}  // namespace fourscore
