#include "jobscripts/jobs/submission.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/record.hpp"
#include "core/regular_file.hpp"
#include "core/utc_time.hpp"
#include "jobscripts/base/paths.hpp"
#include "jobscripts/campaigns/precision.hpp"
#include "jobscripts/campaigns/retry.hpp"
#include "jobscripts/jobs/attempts.hpp"
#include "jobscripts/jobs/job_script.hpp"
#include "results/output_file.hpp"
#include "results/record_file.hpp"

namespace fourscore {
namespace {

namespace fs = std::filesystem;

/// The launches of the schedule, retries and what precision asks for, that are wanted.
std::vector<PlannedLaunch> wanted_launches(const Campaign& campaign, const Archive& archive,
                                           const SubmissionSettings& settings) {
  auto wanted = planned_launches(campaign, archive);
  if (!settings.retry.empty())
    for (auto& retry : planned_retries(campaign, archive, settings.retry)) wanted.push_back(std::move(retry));
  for (auto& further : further_launches(campaign, archive)) wanted.push_back(std::move(further));
  if (settings.selection != nullptr) settings.selection->apply(campaign, wanted);
  return wanted;
}

/// Launches that jobs hold. Those of the schedule go by their number. A retry goes by the launch that it stands in for,
/// and what precision asks for by how many there are: their numbers follow from what is archived, which changes while
/// a job holds them.
class HeldLaunches {
 public:
  HeldLaunches(const Campaign& campaign, const Archive& archive, const std::vector<KnownJob>& jobs)
      : campaign_(campaign), archive_(archive) {
    for (const KnownJob& job : jobs)
      for (const JobLaunch& launch : job.folder.description().launches) {
        if (is_there(archive.record_file(campaign.id, launch.point_id, launch.launch))) continue;
        if (launch.retry_of) {
          numbers_[{launch.point_id, *launch.retry_of}] = launch.launch;
          of_retries_.emplace(launch.point_id, launch.launch);
        }
        if (job.lives()) hold(launch);
      }
  }

  /// Whether a job that lives has it.
  [[nodiscard]] bool takes(const PlannedLaunch& launch) {
    const std::string& point = campaign_.points[launch.point].id;
    if (launch.retry_of) return retried_.contains({point, *launch.retry_of});
    if (is_scheduled(launch.launch)) return taken_.contains({point, launch.launch});
    int& further = further_[point];
    return further > 0 && further-- > 0;
  }

  /// Beyond the schedule: the number that it had in an ended job, else the next free one.
  void number(PlannedLaunch& launch) {
    const std::string& point = campaign_.points[launch.point].id;
    if (launch.retry_of || !is_scheduled(launch.launch)) {
      const auto before = launch.retry_of ? numbers_.find({point, *launch.retry_of}) : numbers_.end();
      if (before != numbers_.end() && !taken_.contains({point, before->second}))
        launch.launch = before->second;
      else
        while (taken_.contains({point, launch.launch}) || of_retries_.contains({point, launch.launch}) ||
               is_there(archive_.record_file(campaign_.id, point, launch.launch)))
          ++launch.launch;
      launch.record = archive_.record_file(campaign_.id, point, launch.launch);
    }
    taken_.emplace(point, launch.launch);
  }

 private:
  using PointAndLaunch = std::pair<std::string, int>;

  [[nodiscard]] bool is_scheduled(int launch) const { return launch < campaign_.suite.launches; }
  void hold(const JobLaunch& launch) {
    taken_.emplace(launch.point_id, launch.launch);
    if (launch.retry_of)
      retried_.emplace(launch.point_id, *launch.retry_of);
    else if (!is_scheduled(launch.launch))
      ++further_[launch.point_id];
  }

  const Campaign& campaign_;
  const Archive& archive_;
  std::set<PointAndLaunch> taken_;         ///< by their own numbers
  std::set<PointAndLaunch> retried_;       ///< by the launch that is retried
  std::map<std::string, int> further_;     ///< how many, by point
  std::map<PointAndLaunch, int> numbers_;  ///< those of retries that are or were in a job, by the launch retried
  std::set<PointAndLaunch> of_retries_;    ///< the same numbers
};

/// A launch whose jobs ended during it as often as the suite allows is archived as what it is.
void settle(const Campaign& campaign, const Archive& archive, const PlannedLaunch& launch, const Attempts& attempts,
            const std::string& reason, const SubmissionSettings& settings) {
  nlohmann::json stamp = campaign.stamp(launch.launch, launch.order);
  if (launch.retry_of) stamp["retry_of"] = *launch.retry_of;
  const Point& point = campaign.points[launch.point].point;
  const bool timeout = attempts.ends.contains(JobEnd::timeout) && attempts.ends.size() == 1;
  const Verdict verdict{timeout ? "timeout" : "failed", reason, 0, 0, ""};
  write_record_once(
      launch.record,
      make_unlaunched_record(point, stamp, verdict, campaign.provenance(point, settings.machine->launcher, now_utc())),
      archive.campaign_folder(campaign.id) / "staging");
}

/// A job whose submitter died before it could write the id: it may be in the queue, and must not run. It writes its
/// beginning before it looks whether it was given up, so of the two at least one sees the other.
void give_up_orphans(std::vector<KnownJob>& jobs) {
  for (KnownJob& job : jobs) {
    if (!job.id.empty() || job.folder.abandoned()) continue;
    job.folder.abandon();
    job.id = job.folder.id();
    if (!job.id.empty()) job.state = {JobPhase::running, JobEnd::none, "", "it began just now", ""};
  }
}

std::vector<KnownJob> jobs_that_answer(const Campaign& campaign, const Archive& archive) {
  KnownJobs known = known_jobs(archive, {campaign.id}, 0);
  if (!known.problem.empty())
    throw EnvironmentError(
        fmt::format("{}; nothing was submitted, because what is in the queue is not known. The same "
                    "command goes on",
                    known.problem));
  return std::move(known.jobs);
}

std::size_t room_for_jobs(const Machine& machine, const std::vector<KnownJob>& jobs) {
  if (machine.most_jobs == 0) return static_cast<std::size_t>(-1);
  const auto living = std::ranges::count_if(jobs, &KnownJob::lives);
  return static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, machine.most_jobs - living));
}

/// Jobs for what is lacking, as many as there is room for.
std::vector<JobDescription> jobs_for(const Campaign& campaign, const Archive& archive,
                                     const std::vector<PlannedLaunch>& lacking, const std::vector<KnownJob>& jobs,
                                     const SubmissionSettings& settings, Submission& submission) {
  Estimates estimates(campaign, archive);
  const auto attempts = attempts_of(jobs);
  for (const PlannedLaunch& launch : lacking)
    if (const auto tried = attempts.find(launch.record.stem().string());
        tried != attempts.end() && tried->second.ends.contains(JobEnd::timeout))
      estimates.distrust(launch.point);
  auto planned = plan_jobs(campaign, lacking, estimates, *settings.machine, settings.time_limit_s);
  const std::size_t room = room_for_jobs(*settings.machine, jobs);
  for (std::size_t i = room; i < planned.size(); ++i) submission.held_back += planned[i].launches.size();
  if (planned.size() > room) planned.resize(room);
  return planned;
}

}  // namespace

std::vector<PlannedLaunch> lacking_launches(const Campaign& campaign, const Archive& archive,
                                            const std::vector<KnownJob>& jobs, const SubmissionSettings& settings,
                                            Submission& submission) {
  HeldLaunches held(campaign, archive, jobs);
  std::vector<PlannedLaunch> lacking;
  for (PlannedLaunch& launch : wanted_launches(campaign, archive, settings)) {
    if (launch.done) continue;
    if (held.takes(launch)) {
      ++submission.in_jobs;
      continue;
    }
    held.number(launch);
    lacking.push_back(std::move(launch));
  }
  return lacking;
}

Submission plan_submission(const Campaign& campaign, const Archive& archive, const SubmissionSettings& settings) {
  Submission submission;
  const auto jobs = known_jobs(archive, {campaign.id}).jobs;
  const auto lacking = lacking_launches(campaign, archive, jobs, settings, submission);
  int number = 0;
  for (JobDescription& job : jobs_for(campaign, archive, lacking, jobs, settings, submission)) {
    const JobFolder folder(archive, campaign.id, next_job_name(archive, campaign.id, job.nodes, number++));
    submission.jobs.push_back(
        {folder.name(),
         settings.scheduler->script(*settings.machine, job_request(campaign, archive, *settings.machine, folder, job)),
         std::move(job)});
  }
  return submission;
}

Submission submit_missing(const Campaign& campaign, const Archive& archive, const SubmissionSettings& settings) {
  Submission submission;
  auto jobs = jobs_that_answer(campaign, archive);
  give_up_orphans(jobs);
  auto lacking = lacking_launches(campaign, archive, jobs, settings, submission);
  const auto attempts = attempts_of(jobs);
  std::erase_if(lacking, [&](const PlannedLaunch& launch) {
    const auto tried = attempts.find(launch.record.stem().string());
    if (tried == attempts.end()) return false;
    const auto reason = exhausted(tried->second, campaign.suite.retries);
    if (!reason) return false;
    settle(campaign, archive, launch, tried->second, *reason, settings);
    ++submission.settled;
    return true;
  });
  for (JobDescription& job : jobs_for(campaign, archive, lacking, jobs, settings, submission)) {
    const JobFolder folder(archive, campaign.id, next_job_name(archive, campaign.id, job.nodes));
    try {
      folder.create(job, settings.machine->text);
      const std::string script =
          settings.scheduler->script(*settings.machine, job_request(campaign, archive, *settings.machine, folder, job));
      write_file(folder.script(), script, Named::by_us);
      const std::string id = settings.scheduler->submit(folder.script());
      folder.set_id(id);
      submission.jobs.push_back({folder.name(), script, std::move(job), id});
    } catch (const std::exception& error) {
      // One that was refused is in no queue. Another may be, where the answer was lost: then it finds that it was
      // given up.
      if (dynamic_cast<const InputError*>(&error) != nullptr)
        folder.remove();
      else
        folder.abandon();
      if (submission.jobs.empty()) throw;
      submission.problem = error.what();
      break;
    }
  }
  return submission;
}

}  // namespace fourscore
