#pragma once
// Trying a machine file out: by a short job where it has a scheduler, here where it has none.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "jobscripts/base/machine.hpp"
#include "jobscripts/machines/check/findings.hpp"

namespace fourscore {

struct CheckOptions {
  std::string machine;  ///< --machine's name or file
  std::string bench;    ///< --bench
  std::string mpirun;   ///< --mpirun
  std::string archive;  ///< --archive
  double patience_s = 600;
};

struct CheckResult {
  Machine machine;
  nlohmann::json job;    ///< {"id", "state", "reason", "nodes"}; null without a scheduler
  nlohmann::json found;  ///< as probe_machine(); null where nothing came back
  std::vector<MachineFinding> findings;
  std::filesystem::path folder;  ///< holds what was found; empty where all agrees, and it is removed

  [[nodiscard]] bool agrees() const;
};

/// Says on standard error what the job waits for. Throws InputError for what no machine file or no job can be;
/// EnvironmentError where fft_bench is missing, the archive cannot be written, the scheduler does not answer, or the
/// job has not begun within the patience (it is cancelled then, as on Interrupted).
[[nodiscard]] CheckResult check_machine(const CheckOptions& options);

/// In the check's job: asks its nodes and leaves the answer in the folder of the check. Throws EnvironmentError.
void probe_in_job(const std::filesystem::path& folder);

}  // namespace fourscore
