#include "jobscripts/gate/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/problem.hpp"
#include "core/regular_file.hpp"
#include "results/archive.hpp"
#include "results/record_file.hpp"

namespace fourscore {
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr const char* schema = "fourscore.comparison";

json side_json(const ComparedSide& side) {
  json result{{"campaign", side.campaign}, {"label", side.label}, {"code_hash", side.code_hash}};
  if (!side.arguments.empty()) result["arguments"] = side.arguments;
  return result;
}

json stages_json(const std::vector<ComparisonStage>& stages) {
  json result = json::array();
  for (const auto& stage : stages) {
    result.push_back({{"name", stage.name}, {"first_launch", stage.first_launch}, {"launches", stage.launches}});
    if (stage.points.empty()) continue;
    json& points = result.back()["points"] = json::array();
    for (const auto& [id, pairs] : stage.points) points.push_back(id);
    result.back()["pairs"] = stage.points;
    if (!stage.looks.empty()) result.back()["looks"] = stage.looks;
    if (!stage.stopped.empty()) result.back()["stopped"] = stage.stopped;
  }
  return result;
}

ComparisonStage stage_of(const json& stage) {
  return {stage.at("name").get<std::string>(),      stage.at("first_launch").get<int>(),
          stage.at("launches").get<int>(),          stage.value("pairs", std::map<std::string, int>{}),
          stage.value("looks", std::vector<int>{}), stage.value("stopped", std::map<std::string, int>{})};
}

}  // namespace

int ComparisonStage::pairs_of(const std::string& id) const {
  if (points.empty()) return launches;
  if (const auto ended = stopped.find(id); ended != stopped.end()) return ended->second;
  const auto found = points.find(id);
  return found == points.end() ? 0 : found->second;
}

ComparisonStage ComparisonStage::up_to(int pairs) const {
  ComparisonStage first = *this;
  first.launches = std::min(launches, pairs);
  for (auto* of_points : {&first.points, &first.stopped})
    for (auto& [id, count] : *of_points) count = std::min(count, pairs);
  return first;
}

fs::path comparison_folder(const Archive& archive, const std::string& name) {
  return archive.root() / "comparisons" / name;
}

fs::path comparison_file(const Archive& archive, const std::string& name) {
  return comparison_folder(archive, name) / "comparison.json";
}

void write_comparison(const Comparison& comparison, const Archive& archive) {
  make_folder(comparison_folder(archive, comparison.name));
  replace_unfinished_record(comparison_file(archive, comparison.name), {{"schema", schema},
                                                                        {"schema_version", 1},
                                                                        {"name", comparison.name},
                                                                        {"suite", comparison.suite},
                                                                        {"base", side_json(comparison.base)},
                                                                        {"candidate", side_json(comparison.candidate)},
                                                                        {"seed", comparison.seed},
                                                                        {"stages", stages_json(comparison.stages)},
                                                                        {"overrides", json::array()}});
}

void go_on_with(Comparison& comparison, const Archive& archive) {
  const fs::path file = comparison_file(archive, comparison.name);
  if (!is_there(file)) return;
  try {
    const json stored = json::parse(read_regular_file(file).text);
    if (stored.value("schema", "") != schema) throw InputError("\"schema\" is another");
    for (const auto& [key, side] : {std::pair{"base", &comparison.base}, {"candidate", &comparison.candidate}})
      if (const std::string code = stored.at(key).value("code_hash", ""); code != side->code_hash)
        throw InputError(fmt::format("its {} is another build ({}, now {})", key, code, side->code_hash));
    comparison.seed = stored.at("seed").get<std::uint64_t>();
    comparison.stages.clear();
    for (const json& stage : stored.at("stages")) comparison.stages.push_back(stage_of(stage));
  } catch (const std::exception& error) {
    throw InputError(fmt::format("{} does not fit: {}; choose another name with --campaign, or --fresh", file.string(),
                                 error.what()));
  }
}

}  // namespace fourscore
