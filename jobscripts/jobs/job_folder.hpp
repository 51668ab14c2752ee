#pragma once
// What a campaign keeps of one of its jobs: campaigns/<campaign>/jobs/<job>/.
//
//   job.json        what it is to launch; written once, before it is submitted
//   job.sh          its script
//   machine.toml    the machine file, as it was then
//   id              the scheduler's id
//   abandoned       it was never seen to be submitted, and must not run
//   journal.jsonl   what it did when, a line each
//   end.json        how it ended, once the scheduler has said so
//   output.log      what it printed

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "jobscripts/schedulers/scheduler.hpp"
#include "results/archive.hpp"

namespace fourscore {

struct JobLaunch {
  std::string point_id;
  int launch = 0;
  std::optional<int> retry_of{};
  bool operator==(const JobLaunch&) const = default;
};

/// The stem of its record's file: "5c1e…-007".
[[nodiscard]] std::string stem_of(const JobLaunch& launch);

struct JobDescription {
  std::string scheduler;
  int nodes = 1;
  int ranks_per_node = 1;  ///< the most of its launches
  int threads = 1;         ///< the most of its launches
  double time_limit_s = 0;
  double expected_s = 0;  ///< for its launches together
  std::vector<JobLaunch> launches;
};

/// What the journal says. Times in seconds since the epoch; 0: not said.
struct JobJournal {
  std::string id;            ///< the scheduler's
  double began_s = 0;        ///< when it was last started
  double ended_s = 0;        ///< 0 also where it was ended from outside
  double launches_s = 0;     ///< within launches, over all starts
  std::size_t archived = 0;  ///< launches of which it left a record
  std::string in_flight;     ///< stem of the launch that was begun and has not ended; empty: none
  bool cut = false;          ///< that launch was ended because the time of the job was up
};

class JobFolder {
 public:
  JobFolder(const Archive& archive, const std::string& campaign, std::string name);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::filesystem::path file(const std::string& name) const { return folder_ / name; }
  [[nodiscard]] std::filesystem::path script() const { return file("job.sh"); }
  [[nodiscard]] std::filesystem::path machine_file() const { return file("machine.toml"); }

  /// Throws ArchiveError.
  void create(const JobDescription& job, const std::string& machine_text) const;
  /// As if it had never been made; what cannot be removed stays.
  void remove() const;
  /// Throws ArchiveError for what is no description of a job.
  [[nodiscard]] JobDescription description() const;

  /// The scheduler's; from the journal where the submitter died before it could write it. Empty: not known.
  [[nodiscard]] std::string id() const;
  void set_id(const std::string& id) const;
  [[nodiscard]] bool abandoned() const;
  void abandon() const;
  [[nodiscard]] std::optional<JobState> end() const;
  void set_end(const JobState& state) const;

  [[nodiscard]] JobJournal journal() const;
  /// Appends a line with the time. A journal that cannot be written loses nothing that was measured.
  void note(nlohmann::json event) const;

 private:
  std::string name_;
  std::filesystem::path folder_;
};

/// Seconds since 1970, as in journals.
[[nodiscard]] double now_s();

/// In the order in which they were made.
[[nodiscard]] std::vector<JobFolder> jobs_of(const Archive& archive, const std::string& campaign);
/// "0004-8-nodes", after all that there are and `skipped` more.
[[nodiscard]] std::string next_job_name(const Archive& archive, const std::string& campaign, int nodes,
                                        int skipped = 0);

[[nodiscard]] nlohmann::json state_json(const JobState& state);
[[nodiscard]] JobState state_from_json(const nlohmann::json& value);

}  // namespace fourscore
