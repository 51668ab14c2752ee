#pragma once
// The first process of a laboratory.

#include <filesystem>
#include <optional>
#include <vector>

#include "jobscripts/base/rate.hpp"
#include "jobscripts/laboratory/laboratory.hpp"
#include "jobscripts/laboratory/processes.hpp"

namespace fourscore {

/// In the first process of a new PID namespace: takes further namespaces, starts the hosts and the command, and returns
/// the command's status. When this process ends the kernel ends all of the laboratory. `life`: the read end of a pipe
/// whose write end closes with the process that started this one.
[[nodiscard]] int run_front(const LaboratoryRequest& request, const std::vector<std::filesystem::path>& shared,
                            const std::optional<TokenBucket>& bucket, int life, Outcome& outcome);

}  // namespace fourscore
