#include "jobscripts/gate/paired_run.hpp"

#include <chrono>
#include <numeric>
#include <random>
#include <utility>

#include "core/regular_file.hpp"
#include "jobscripts/base/paths.hpp"
#include "jobscripts/base/process.hpp"

namespace fourscore {
namespace {

double steady_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// std::shuffle and the library's distributions differ between systems; this does not.
template <class Item>
void shuffle(std::vector<Item>& items, std::mt19937_64& random) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random() % i]);
}

}  // namespace

PairedRun::Side PairedRun::make_side(const std::string& name, const Campaign& campaign, const ComparedSide& side,
                                     const RunSettings& settings, const std::filesystem::path& wisdom) {
  Side result{&campaign, settings, {}};
  // One memory of plans for both: else the luck of two plans would look like a difference of the builds.
  if (campaign.suite.wisdom != Wisdom::none) result.settings.wisdom = wisdom;
  result.settings.arguments = side.arguments;
  result.settings.side = name;
  for (std::size_t i = 0; i < campaign.points.size(); ++i)
    if (campaign.points[i].skip_reason.empty()) result.index.emplace(campaign.points[i].id, i);
  return result;
}

PairedRun::PairedRun(const Comparison& comparison, const Campaign& base, const Campaign& candidate,
                     const Archive& archive, const RunSettings& settings)
    : comparison_(comparison),
      archive_(archive),
      base_(make_side("base", base, comparison.base, settings,
                      comparison_folder(archive, comparison.name) / "wisdom.txt")),
      candidate_(make_side("candidate", candidate, comparison.candidate, settings,
                           comparison_folder(archive, comparison.name) / "wisdom.txt")),
      base_runner_(base, archive, base_.settings),
      candidate_runner_(candidate, archive, candidate_.settings) {
  for (const CampaignPoint& point : candidate.points)
    if (base_.index.contains(point.id) && candidate_.index.contains(point.id)) points_.push_back(point.id);
}

std::vector<PairedRun::Launch> PairedRun::launches(const ComparisonStage& stage) {
  std::vector<Launch> result;
  for (int pair = stage.first_launch; pair < stage.first_launch + stage.launches; ++pair) {
    // The order of a pair's round does not depend on what was launched before.
    std::mt19937_64 random(comparison_.seed * 1000003 + static_cast<std::uint64_t>(pair));
    std::vector<std::size_t> order(points_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    shuffle(order, random);
    for (std::size_t place = 0; place < order.size(); ++place) {
      const bool base_first = (random() >> 32U) % 2 == 0;
      const std::string& id = points_[order[place]];
      if (pair - stage.first_launch >= stage.pairs_of(id)) continue;
      for (const bool is_base : {base_first, !base_first}) {
        Side& side = is_base ? base_ : candidate_;
        const auto file = archive_.record_file(side.campaign->id, id, pair);
        const std::size_t number = static_cast<std::size_t>(pair) * points_.size() + place;
        result.push_back({&side,
                          is_base ? &base_runner_ : &candidate_runner_,
                          {side.index.at(id), pair, number, file, is_there(file)}});
      }
    }
  }
  return result;
}

std::size_t PairedRun::missing(const ComparisonStage& stage) const {
  std::size_t missing = 0;
  for (const std::string& id : points_)
    for (const Side* side : {&base_, &candidate_})
      for (int pair = stage.first_launch; pair < stage.first_launch + stage.pairs_of(id); ++pair)
        missing += is_there(archive_.record_file(side->campaign->id, id, pair)) ? 0 : 1;
  return missing;
}

bool PairedRun::run(const ComparisonStage& stage) {
  if (!base_runner_.prepare() || !candidate_runner_.prepare()) return false;
  const auto planned = launches(stage);
  std::size_t left = missing(stage);
  Progress progress(stderr, planned.size(), planned.size() - left, base_.settings.quiet);
  std::map<const Side*, int> not_started;  // in a row: the other side's launches say nothing of it
  for (const Launch& launch : planned) {
    if (launch.planned.done) continue;
    if (InterruptGuard::interrupted()) return false;
    const double each_s = launch_s();
    const double began_s = steady_s();
    const auto outcome = launch.runner->launch_one(launch.planned, progress, each_s * static_cast<double>(left),
                                                   each_s * static_cast<double>(left - 1));
    if (outcome == CampaignRunner::Outcome::interrupted) return false;
    int& in_a_row = not_started[launch.side];
    in_a_row = outcome == CampaignRunner::Outcome::not_started ? in_a_row + 1 : 0;
    if (in_a_row == CampaignRunner::patience_with_the_launcher)
      throw EnvironmentError(launch.runner->not_started().back() + "; the same command goes on");
    spent_s_ += steady_s() - began_s;
    ++launched_;
    --left;
  }
  return true;
}

std::vector<std::string> PairedRun::warnings() const {
  auto result = base_runner_.warnings();
  for (auto& warning : candidate_runner_.warnings()) result.push_back(std::move(warning));
  return result;
}

}  // namespace fourscore
