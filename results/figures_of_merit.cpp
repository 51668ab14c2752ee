#include "results/figures_of_merit.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/record.hpp"
#include "core/statistics.hpp"

namespace fourscore {

using nlohmann::json;

namespace {

/// The median over repetitions of what the slowest rank of each spent in the phase.
double phase_s(const json& samples, const json& rows) {
  const auto totals = samples.at("rank_total_s").get<std::vector<std::vector<double>>>();
  std::vector<double> of_slowest;
  for (std::size_t i = 0; i < totals.front().size(); ++i) {
    const auto slowest = std::ranges::max_element(totals, {}, [i](const auto& row) { return row.at(i); });
    of_slowest.push_back(rows.at(static_cast<std::size_t>(slowest - totals.begin())).at(i).get<double>());
  }
  return median(of_slowest);
}

}  // namespace

std::string figures_of_merit(const json& record) {
  const std::string status = record.at("verdict").at("status");
  const bool verified = status == "ok" && record.value("verified_by", "") == by_harness;
  std::string text = fmt::format("fom status {}\nfom verified {}\n", status, verified ? "yes" : "no");
  if (!record.contains("samples")) return text;
  const json& samples = record["samples"];
  const auto times = samples.at("time_s").get<std::vector<double>>();
  text += fmt::format("fom time_s {:.9g}\nfom time_min_s {:.9g}\n", median(times), *std::ranges::min_element(times));
  text += fmt::format("fom gflops {:.6g}\n", record.at("credited_flops").get<double>() / median(times) / 1e9);
  const json phases = samples.value("rank_phase_s", json::object());
  for (const auto& [name, rows] : phases.items())
    text += fmt::format("fom phase_{}_s {:.9g}\n", name, phase_s(samples, rows));
  const auto flags = record.value("flags", std::vector<std::string>{});
  return text + fmt::format("fom flags {}\n", flags.empty() ? "none" : fmt::format("{}", fmt::join(flags, ",")));
}

}  // namespace fourscore
