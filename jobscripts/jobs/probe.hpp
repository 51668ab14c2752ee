#pragma once
// Asking a compute node who it is: the machine that is measured is not the one from which jobs are submitted.

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "jobscripts/schedulers/scheduler.hpp"
#include "results/archive.hpp"

namespace fourscore {

/// What each program (by its name; "" is fft_bench) answers to --identity on a node of the machine. Asked by a job of
/// one node, once for a machine file and programs: the answer stays in the archive (probes/). Waits for the job, and
/// tells what for. Throws InputError where compute nodes do not see the archive, and what Scheduler::submit() throws;
/// EnvironmentError where the job fails; Interrupted, after which the same command goes on with the same job.
[[nodiscard]] std::map<std::string, nlohmann::json> identities_on_nodes(
    const Archive& archive, const Machine& machine, const Scheduler& scheduler,
    const std::map<std::string, std::filesystem::path>& programs);

/// What is known without asking; empty: nothing.
[[nodiscard]] std::map<std::string, nlohmann::json> known_identities(
    const Archive& archive, const Machine& machine, const std::map<std::string, std::filesystem::path>& programs);

}  // namespace fourscore
