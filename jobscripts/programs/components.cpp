#include "jobscripts/programs/components.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/did_you_mean.hpp"
#include "core/environment.hpp"
#include "core/path_kind.hpp"
#include "core/problem.hpp"
#include "core/text.hpp"
#include "jobscripts/base/paths.hpp"
#include "jobscripts/programs/bench.hpp"

namespace fourscore {
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// What CMake found in drivers/components, separated by commas.
std::vector<std::string> known_names() {
  std::vector<std::string> names = split(FOURSCORE_COMPONENT_NAMES, ',');
  std::erase(names, "");
  return names;
}

std::vector<fs::path> folders() {
  if (const std::string set = environment("FOURSCORE_COMPONENTS"); !set.empty()) return {set};
  return {own_folder(), own_folder().parent_path() / "libexec/fourscore"};
}

ComponentProgram look_for(const std::string& name) {
  for (const auto& folder : folders()) {
    const fs::path file = folder / name;
    if (is_program(file)) return {name, fs::absolute(file), {}};
  }
  return {
      name,
      {},
      fmt::format("it is not in {}; build it (cmake --build --preset release; it needs MPI and Google Benchmark: the "
                  "configure summary says what is missing) or name its folder with FOURSCORE_COMPONENTS",
                  folders().front().string())};
}

}  // namespace

std::vector<ComponentProgram> component_programs() {
  std::vector<ComponentProgram> programs;
  for (const auto& name : known_names()) programs.push_back(look_for(name));
  return programs;
}

ComponentProgram component_program(const std::string& name) {
  const auto names = known_names();
  if (std::find(names.begin(), names.end(), name) != names.end()) return look_for(name);
  throw InputError(
      fmt::format("unknown component '{}'{}; known: {}", name, did_you_mean(name, names), fmt::join(names, ", ")));
}

json component_cards() {
  json cards = json::array();
  for (const auto& program : component_programs()) {
    json card{{"name", program.name}, {"summary", ""}, {"available", false}, {"reason", program.missing}};
    if (program.missing.empty()) {
      try {
        card.update({{"available", true}, {"reason", ""}});
        card.update(Bench(program.file).list());
      } catch (const EnvironmentError& error) {
        card.update({{"available", false}, {"reason", error.what()}});
      }
    }
    cards.push_back(std::move(card));
  }
  return cards;
}

}  // namespace fourscore
