#pragma once
// A campaign of a few points in an archive of its own, without any program.

#include "core/record.hpp"
#include "jobscripts/base/machine.hpp"
#include "jobscripts/campaigns/campaign.hpp"
#include "jobscripts/campaigns/runner.hpp"
#include "results/record_file.hpp"
#include "tests/support/folder_test.hpp"

namespace fourscore {

/// Point number i is on i + 1 nodes.
inline Point point_on_nodes(int nodes, int ranks_per_node = 2) {
  Point point;
  point.variant = "slab";
  point.exchange = "alltoallv";
  point.problem.shape = {8, 8, 8};
  point.ranks = nodes * ranks_per_node;
  point.nodes = nodes;
  return point;
}

class CampaignFixture : public FolderTest {
 protected:
  CampaignFixture() {
    campaign_.id = "c";
    campaign_.machine_hash = "m";
    campaign_.suite.name = "c";
    campaign_.suite.launches = 2;
    campaign_.suite.time_limit_s = 100;
    machine_.scheduler = "slurm";
  }

  void add_point(const Point& point) { campaign_.points.push_back({point, point_id(point), ""}); }

  /// What the campaign lacks: `launches` of each point, in rounds.
  [[nodiscard]] std::vector<PlannedLaunch> lacking(int launches) const {
    std::vector<PlannedLaunch> planned;
    for (int launch = 0; launch < launches; ++launch)
      for (std::size_t i = 0; i < campaign_.points.size(); ++i)
        planned.push_back(
            {i, launch, planned.size(), archive_.record_file(campaign_.id, campaign_.points[i].id, launch)});
    return planned;
  }

  /// A record of a launch that took so long.
  void archive_launch(std::size_t point, int launch, double wall_s, const std::string& status = "ok",
                      const std::string& campaign = "c") {
    archive_.create_campaign(campaign);
    const Point& its = campaign_.points.at(point).point;
    nlohmann::json stamp = campaign_.stamp(launch, 0);
    stamp["id"] = campaign;
    const auto file = archive_.record_file(campaign, campaign_.points.at(point).id, launch);
    const auto staging = archive_.campaign_folder(campaign) / "staging";
    if (status != "ok")
      return write_record_once(file, make_unlaunched_record(its, stamp, {status, "so", 1, 0, ""}, nullptr), staging);
    auto record = make_record(its, stamp, {status, "", 0, 0, ""}, nullptr);
    record["harness"] = {{"plan_s", wall_s / 4}, {"measure_s", wall_s * 3 / 4}};
    record["sampling"] = {{"repetitions", 1}};
    record["samples"] = {{"time_s", {wall_s}},
                         {"rank_total_s", nlohmann::json::array({nlohmann::json::array({wall_s})})}};
    record["flags"] = nlohmann::json::array();
    record["credited_flops"] = 1.0;
    write_record_once(file, record, staging);
  }

  Campaign campaign_;
  Machine machine_;
  const Archive archive_{folder_};
};

}  // namespace fourscore
