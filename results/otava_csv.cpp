#include "results/otava_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <set>

#include "core/statistics.hpp"
#include "results/export.hpp"

namespace fourscore {
using nlohmann::json;

bool OtavaCsv::add(const json& record) {
  const json& point = record.at("point");
  const json times = record.value("/samples/time_s"_json_pointer, json::array());
  if (point.contains("component") || times.empty()) return false;
  const auto text = [&record](const char* path) { return record.value(json::json_pointer(path), std::string()); };
  Build& build = builds_[text("/provenance/code_hash")];
  const std::string started = text("/provenance/volatile/started_at");
  if (build.first_at.empty() || started < build.first_at) build.first_at = started;
  build.revision = text("/provenance/identity/code/revision");
  if (!text("/provenance/identity/code/dirty_sha256").empty()) build.revision += "+changes";
  const std::string name = fmt::format("{}@{:.8}", benchmark_name(point), text("/provenance/machine_hash"));
  build.medians_s[name].push_back(median(times.get<std::vector<double>>()));
  return true;
}

std::vector<std::string> OtavaCsv::series() const {
  std::set<std::string> names;
  for (const auto& [hash, build] : builds_)
    for (const auto& [name, values] : build.medians_s) names.insert(name);
  return {names.begin(), names.end()};
}

std::vector<std::string> OtavaCsv::incomplete() const {
  std::vector<std::string> names = series();
  std::erase_if(names, [this](const std::string& name) {
    return std::ranges::all_of(builds_, [&](const auto& entry) { return entry.second.medians_s.contains(name); });
  });
  return names;
}

void OtavaCsv::write(std::ostream& out) const {
  std::vector<std::pair<std::string, const Build*>> rows;
  for (const auto& [hash, build] : builds_) rows.emplace_back(hash, &build);
  std::ranges::stable_sort(rows, {}, [](const auto& row) { return row.second->first_at; });
  const std::vector<std::string> names = series();
  out << "time,revision,code_hash";
  for (const std::string& name : names) out << ',' << csv_cell(name);
  out << '\n';
  for (const auto& [hash, build] : rows) {
    out << csv_cell(build->first_at) << ',' << csv_cell(build->revision) << ',' << csv_cell(hash);
    for (const std::string& name : names) {
      const auto found = build->medians_s.find(name);
      out << ',';
      if (found != build->medians_s.end()) out << json(median(found->second)).dump();
    }
    out << '\n';
  }
}

}  // namespace fourscore
