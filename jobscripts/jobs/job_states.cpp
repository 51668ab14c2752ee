#include "jobscripts/jobs/job_states.hpp"

#include <fmt/format.h>

#include "core/json_value.hpp"
#include "core/regular_file.hpp"
#include "results/output_file.hpp"

namespace fourscore {
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// What schedulers said last, in the archive's root: by scheduler {"asked_s", "jobs": {id: state}}.
class Remembered {
 public:
  explicit Remembered(const Archive& archive)
      : file_(archive.root() / "job-states.json"), keeps_(!archive.is_read_only()) {
    try {
      if (is_there(file_)) said_ = json::parse(read_regular_file(file_).text, nullptr, false);
    } catch (const UnreadableFile&) {
    }
    if (!said_.is_object()) said_ = json::object();
  }

  [[nodiscard]] double age_s(const std::string& scheduler) const {
    const double age_s = now_s() - value(scheduler, "asked_s", 0.0);
    return age_s < 0 ? 1e9 : age_s;  // a clock that was set back
  }
  [[nodiscard]] bool is_outdated(const std::string& scheduler) const { return value(scheduler, "outdated", false); }
  [[nodiscard]] bool knows(const std::string& scheduler, const std::string& id) const {
    return value(scheduler, "jobs", json::object()).contains(id);
  }
  [[nodiscard]] JobState state(const std::string& scheduler, const std::string& id) const {
    return state_from_json(value_or(value(scheduler, "jobs", json::object()), id.c_str(), json::object()));
  }
  void learn(const std::string& scheduler, const std::map<std::string, JobState>& states) {
    json jobs = json::object();
    for (const auto& [id, state] : states) jobs[id] = state_json(state);
    said_[scheduler] = {{"asked_s", now_s()}, {"jobs", std::move(jobs)}};
    store();
  }
  void forget() {
    for (json& of_scheduler : said_)
      if (of_scheduler.is_object()) of_scheduler["outdated"] = true;
    if (!said_.empty()) store();
  }
  [[nodiscard]] bool keeps() const { return keeps_; }

 private:
  void store() const {
    if (!keeps()) return;
    try {
      write_file(file_, said_.dump() + '\n', Named::by_us);
    } catch (const OutputFailed&) {  // an archive that only can be read: the next command asks again
    }
  }
  template <class Value>
  [[nodiscard]] Value value(const std::string& scheduler, const char* key, const Value& otherwise) const {
    const auto found = said_.find(scheduler);
    return found == said_.end() ? otherwise : value_or(*found, key, otherwise);
  }

  fs::path file_;
  bool keeps_;
  json said_;
};

/// What is left to say of a job that its scheduler has forgotten.
JobState forgotten(const JobFolder& folder) {
  const JobJournal journal = folder.journal();
  if (journal.ended_s > 0) return {JobPhase::ended, JobEnd::completed, "", "", ""};
  return {JobPhase::ended, JobEnd::unknown, "", "the scheduler does not know it any more", ""};
}

/// One query, or what was said last.
void ask(const std::string& scheduler, const std::vector<KnownJob*>& jobs, Remembered& remembered, KnownJobs& known,
         double at_most_every_s) {
  std::vector<std::string> ids;
  bool all_known = true;
  for (const KnownJob* job : jobs) {
    ids.push_back(job->id);
    all_known = all_known && remembered.knows(scheduler, job->id);
  }
  if (!all_known || remembered.is_outdated(scheduler) || remembered.age_s(scheduler) >= at_most_every_s) {
    try {
      remembered.learn(scheduler, SchedulerRegistry::instance().get(scheduler, "scheduler").states(ids));
    } catch (const std::exception& error) {
      known.problem = fmt::format("scheduler '{}': {}", scheduler, error.what());
    }
  }
  known.age_s = std::max(known.age_s, remembered.age_s(scheduler));
  for (KnownJob* job : jobs) {
    if (!remembered.knows(scheduler, job->id)) {
      // Nobody has ever said anything of it, so it may well be in the queue.
      job->state = {JobPhase::queued, JobEnd::none, "", "not seen yet", ""};
      continue;
    }
    job->state = remembered.state(scheduler, job->id);
    if (job->state.end == JobEnd::unknown) job->state = forgotten(job->folder);
    if (!job->lives() && remembered.keeps()) job->folder.set_end(job->state);
  }
}

}  // namespace

KnownJobs known_jobs(const Archive& archive, const std::vector<std::string>& campaigns, double at_most_every_s) {
  KnownJobs known;
  std::vector<std::string> schedulers;
  for (const std::string& campaign : campaigns)
    for (const JobFolder& folder : jobs_of(archive, campaign)) {
      known.jobs.push_back({campaign, folder, folder.id(), {}});
      schedulers.push_back(folder.description().scheduler);
    }
  std::map<std::string, std::vector<KnownJob*>> asked;
  for (std::size_t i = 0; i < known.jobs.size(); ++i) {
    KnownJob& job = known.jobs[i];
    if (const auto end = job.folder.end())
      job.state = *end;
    else if (job.id.empty())
      job.state = {JobPhase::ended, JobEnd::unknown, "", "it was never submitted", ""};
    else
      asked[schedulers[i]].push_back(&job);
  }
  Remembered remembered(archive);
  for (const auto& [scheduler, jobs] : asked) ask(scheduler, jobs, remembered, known, at_most_every_s);
  return known;
}

void forget_states(const Archive& archive) { Remembered(archive).forget(); }

}  // namespace fourscore
