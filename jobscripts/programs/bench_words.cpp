#include "jobscripts/programs/bench_words.hpp"

#include "jobscripts/base/paths.hpp"
#include "jobscripts/programs/bench.hpp"

namespace fourscore {
using nlohmann::json;

void BenchWords::use_plugins(const std::vector<std::filesystem::path>& files) {
  const auto& used = asked_.empty() ? files : asked_;
  if (used != plugins_) list_.reset();
  plugins_ = used;
}

const json& BenchWords::list() {
  if (!list_) list_ = Bench(find_bench(option_), plugins_).list();
  return *list_;
}

std::vector<std::string> BenchWords::names(const std::string& key) {
  std::vector<std::string> names;
  for (const auto& entry : list().value(key + "s", json::array())) names.push_back(entry.value("name", ""));
  if (names.empty()) throw EnvironmentError("fft_bench --list names no " + key);
  return names;
}

std::string BenchWords::default_exchange(const std::string& variant) {
  for (const auto& entry : list().value("variants", json::array()))
    if (entry.value("name", "") == variant) return entry.value("default_exchange", "");
  return {};
}

std::vector<GridRoom> BenchWords::grids(const std::vector<Point>& points) {
  std::vector<GridRoom> rooms;
  for (const auto& answer : Bench(find_bench(option_), plugins_).check(points)) rooms.push_back(answer.grid);
  return rooms;
}

}  // namespace fourscore
