#pragma once
// A laboratory: hosts on this machine, joined by links of a chosen rate. Each is a set of Linux namespaces without a
// name, so the kernel removes it with its last process (docs/laboratory.md).

#include <filesystem>
#include <string>
#include <vector>

namespace fourscore {

inline constexpr int most_laboratory_hosts = 250;

struct LaboratoryRequest {
  int hosts = 2;       ///< h1, h2, ...
  std::string rate{};  ///< rate of each host's link, both ways (parse_link_rate); empty: not limited
  int cores = 0;       ///< per host; 0: all that this program may use
  std::vector<std::filesystem::path> shared{};  ///< folders below /tmp or /dev/shm that all hosts see
  std::vector<std::string> command{};           ///< argv
};

/// Why no laboratory can be set up here; empty when one can.
[[nodiscard]] std::string laboratory_unavailable();

/// Sets up the hosts, runs the command beside them and returns when all processes of the laboratory are gone: the
/// command's exit status, or 128 and the number of the signal that ended it. Should this program be killed, the kernel
/// ends the laboratory. Call from a program with one thread. Throws InputError for what is no laboratory, and
/// EnvironmentError where it cannot be set up.
[[nodiscard]] int run_laboratory(const LaboratoryRequest& request);

/// Runs a command on a host, as ssh does: options of ssh, which are ignored, the host, the words of a shell's command.
/// For programs that run in a laboratory. Returns as run_laboratory. Throws InputError for a host that is not there.
[[nodiscard]] int enter_laboratory_host(const std::vector<std::string>& words);

/// "h1" is number 1.
[[nodiscard]] std::string laboratory_host(int number);

/// The folders directly below /tmp and /dev/shm in which lie what these words of a command name by their paths.
[[nodiscard]] std::vector<std::filesystem::path> folders_named_by(const std::vector<std::string>& words);

}  // namespace fourscore
