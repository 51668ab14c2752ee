#include "jobscripts/jobs/probe.hpp"

#include <fmt/format.h>

#include <chrono>
#include <sstream>
#include <thread>

#include "core/path_kind.hpp"
#include "core/regular_file.hpp"
#include "core/sha256.hpp"
#include "jobscripts/base/output.hpp"
#include "jobscripts/base/paths.hpp"
#include "jobscripts/base/process.hpp"
#include "jobscripts/base/progress.hpp"
#include "jobscripts/jobs/job_script.hpp"
#include "results/output_file.hpp"

namespace fourscore {
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr double probe_limit_s = 120.0;
constexpr double poll_s = 5.0;
constexpr double visible_after_s = 15.0;  ///< a shared file system may show another node's file so late

using Programs = std::map<std::string, fs::path>;

std::string name_of(const std::string& program) { return program.empty() ? "fft_bench" : program; }

/// By the machine file and the programs: another build asks anew.
fs::path folder_of(const Archive& archive, const Machine& machine, const Programs& programs) {
  std::string key = machine.text;
  for (const auto& [name, file] : programs) key += fmt::format("\n{} {} {}", name, file.string(), sha256_file(file));
  return archive.root() / "probes" / fmt::format("{}-{}", machine.name, sha256_hex(key).substr(0, 12));
}

json answer_in(const fs::path& file) {
  try {
    if (!is_there(file)) return nullptr;
    json answer = json::parse(read_regular_file(file).text, nullptr, false);
    if (answer.is_object() && answer.contains("machine_hash") && answer.contains("code_hash")) return answer;
  } catch (const UnreadableFile&) {
  }
  return nullptr;
}

std::string last_words_of(const fs::path& file) {
  const std::string all = text_or_nothing(file);
  return all.size() > 2000 ? "..." + all.substr(all.size() - 2000) : all;
}

/// Sleeps for so long, or until an interrupt.
void rest(double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (std::chrono::steady_clock::now() < end) {
    InterruptGuard::check();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

std::string submit_probe(const fs::path& folder, const Machine& machine, const Scheduler& scheduler,
                         const Programs& programs) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw ArchiveError(fmt::format("cannot make {}: {}", folder.string(), error.message()));
  JobRequest job;
  job.name = "fourscore-probe";
  job.time_limit_s = probe_limit_s;
  job.folder = folder;
  job.log = folder / "output.log";
  job.commands = environment_lines(machine);
  for (const auto& [name, file] : programs) {
    const fs::path answer = folder / (name_of(name) + ".json");
    job.commands.push_back(fmt::format("{} > {}", shown_command({file.string(), "--identity"}),
                                       shown_command({answer.string() + ".part"})));
    job.commands.push_back(shown_command({"mv", answer.string() + ".part", answer.string()}));
  }
  const fs::path script = folder / "probe.sh";
  write_file(script, scheduler.script(machine, job), Named::by_us);
  const std::string id = scheduler.submit(script);
  write_file(folder / "id", id + '\n', Named::by_us);
  return id;
}

/// Until the job has ended.
JobState wait_for(const std::string& id, const Machine& machine, const Scheduler& scheduler) {
  std::string said;
  while (true) {
    const auto states = scheduler.states({id});
    const auto found = states.find(id);
    const JobState state = found == states.end() ? JobState{} : found->second;
    if (state.phase == JobPhase::ended) return state;
    const std::string now = fmt::format("{}{}", state.word, state.reason.empty() ? "" : " (" + state.reason + ")");
    if (now != said) say("asking a node of {} who it is: job {} is {}\n", machine.name, id, now);
    said = now;
    rest(poll_s);
  }
}

}  // namespace

std::map<std::string, json> known_identities(const Archive& archive, const Machine& machine, const Programs& programs) {
  std::map<std::string, json> identities;
  const fs::path folder = folder_of(archive, machine, programs);
  for (const auto& [name, file] : programs) {
    json answer = answer_in(folder / (name_of(name) + ".json"));
    if (answer.is_null()) return {};
    identities[name] = std::move(answer);
  }
  return identities;
}

std::map<std::string, json> identities_on_nodes(const Archive& archive, const Machine& machine,
                                                const Scheduler& scheduler, const Programs& programs) {
  auto identities = known_identities(archive, machine, programs);
  if (!identities.empty() || programs.empty()) return identities;
  const fs::path folder = folder_of(archive, machine, programs);
  std::string id;
  std::istringstream(text_or_nothing(folder / "id")) >> id;  // from a command that was interrupted while it waited
  if (id.empty()) id = submit_probe(folder, machine, scheduler, programs);
  const JobState state = wait_for(id, machine, scheduler);
  const auto begin = std::chrono::steady_clock::now();
  while (identities.empty() &&
         std::chrono::steady_clock::now() - begin < std::chrono::duration<double>(visible_after_s)) {
    identities = known_identities(archive, machine, programs);
    if (identities.empty()) rest(0.5);
    if (state.end != JobEnd::completed && state.end != JobEnd::unknown) break;
  }
  if (!identities.empty()) return identities;
  const std::string log = last_words_of(folder / "output.log");
  std::error_code ignored;
  fs::remove(folder / "id", ignored);  // the next command asks anew
  if (log.empty())
    throw InputError(fmt::format(
        "job {} ran on a node of {} and left nothing in {}: compute nodes do not see the archive, or another folder of "
        "that name; expected one on a shared file system (--archive, or archive in [files] of the machine file)",
        id, machine.name, folder.string()));
  throw EnvironmentError(fmt::format("job {}, which asked a node of {} who it is, ended as {}{}; it said:\n{}", id,
                                     machine.name, state.word.empty() ? to_string(state.end) : state.word,
                                     state.reason.empty() ? "" : " (" + state.reason + ")", log));
}

}  // namespace fourscore
