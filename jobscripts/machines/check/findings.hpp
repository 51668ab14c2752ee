#pragma once
// A machine file beside what its nodes said.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "jobscripts/base/machine.hpp"

namespace fourscore {

enum class Agrees { agrees, differs, not_said };

/// One line of `fourscore machine check`.
struct MachineFinding {
  std::string key;  ///< in the machine file, or what was tried
  std::string expected;
  std::string found;
  Agrees agreement = Agrees::agrees;
};

/// Compares what probe_machine() found on `nodes` nodes. `code_hash`: the fft_bench here, which the nodes are to have.
[[nodiscard]] std::vector<MachineFinding> compare(const Machine& machine, int nodes,
                                                  const std::vector<std::string>& folders, const std::string& code_hash,
                                                  const nlohmann::json& found);

[[nodiscard]] std::string to_string(Agrees agreement);

}  // namespace fourscore
