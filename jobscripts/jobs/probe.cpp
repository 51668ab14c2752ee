#include "jobscripts/jobs/probe.hpp"

#include <fmt/format.h>

#include <sstream>

#include "core/regular_file.hpp"
#include "core/sha256.hpp"
#include "jobscripts/base/output.hpp"
#include "jobscripts/base/paths.hpp"
#include "jobscripts/base/process.hpp"
#include "jobscripts/jobs/job_script.hpp"
#include "jobscripts/jobs/waiting.hpp"
#include "results/archive.hpp"
#include "results/output_file.hpp"

namespace fourscore {
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr double probe_limit_s = 120.0;

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

std::string submit_probe(const fs::path& folder, const Machine& machine, const Scheduler& scheduler,
                         const Programs& programs) {
  make_folder(folder);
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
  say("asking a node of {} who it is\n", machine.name);
  JobState state;
  wait_for_job(scheduler, id, state);
  const bool may_have_answered = state.end == JobEnd::completed || state.end == JobEnd::unknown;
  const auto is_answered = [&] {
    identities = known_identities(archive, machine, programs);
    return !identities.empty() || !may_have_answered;
  };
  if (appears(is_answered) && !identities.empty()) return identities;
  const std::string log = end_of_log(folder / "output.log");
  std::error_code ignored;
  fs::remove(folder / "id", ignored);  // the next command asks anew
  if (log.empty())
    throw InputError(fmt::format(
        "job {} ran on a node of {} and left nothing in {}: compute nodes do not see the archive, or another folder of "
        "that name; expected one on a shared file system (--archive, or archive in [files] of the machine file)",
        id, machine.name, folder.string()));
  throw EnvironmentError(fmt::format("job {}, which asked a node of {} who it is, ended as {}; it said:\n{}", id,
                                     machine.name, state_text_of(state), log));
}

}  // namespace fourscore
