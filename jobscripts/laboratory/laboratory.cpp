#include "jobscripts/laboratory/laboratory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <optional>

#include "core/errors.hpp"
#include "jobscripts/base/paths.hpp"
#include "jobscripts/base/rate.hpp"
#include "jobscripts/laboratory/front.hpp"
#include "jobscripts/laboratory/network.hpp"
#include "jobscripts/laboratory/places.hpp"
#include "jobscripts/laboratory/processes.hpp"

namespace fourscore {
namespace {

constexpr const char* takes_root =
    "it takes root, or the capabilities CAP_SYS_ADMIN and CAP_NET_ADMIN (setcap, or a container's --privileged): hosts "
    "are namespaces, and their links are devices of the kernel";

/// Whether this process could make namespaces.
bool may_make_namespaces() {
  const pid_t child = start_process([] { return ::unshare(CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWPID) == 0 ? 0 : 1; });
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void check(const LaboratoryRequest& request) {
  if (request.hosts < 1 || request.hosts > most_laboratory_hosts)
    throw InputError(fmt::format("--hosts is {}; expected 1 to {}", request.hosts, most_laboratory_hosts));
  if (request.cores < 0 || request.cores > usable_cores())
    throw InputError(
        fmt::format("--cores is {}; expected 1 to {}, the cores of this machine", request.cores, usable_cores()));
  if (request.command.empty() || request.command.front().empty()) throw InputError("no command; expected one after --");
}

}  // namespace

std::string laboratory_host(int number) { return fmt::format("h{}", number); }

std::string laboratory_unavailable() {
  if (!may_make_namespaces()) return takes_root;
  return links_unavailable();
}

int run_laboratory(const LaboratoryRequest& request) {
  check(request);
  std::optional<TokenBucket> bucket;
  if (!request.rate.empty()) bucket = token_bucket(parse_link_rate(request.rate, "--rate"));
  const auto shared = shared_folders(request);
  if (const std::string reason = laboratory_unavailable(); !reason.empty())
    throw EnvironmentError(fmt::format("no laboratory can be set up here: {}", reason));

  const AwaitedSignals awaited;
  Outcome outcome;
  int ends[2];
  require_system(::pipe2(ends, O_CLOEXEC) == 0, "a pipe");
  Descriptor life(ends[0]);
  Descriptor alive(ends[1]);  // closes with this process
  require_system(::unshare(CLONE_NEWPID) == 0, "a PID namespace");
  const pid_t front = start_process([&] {
    alive.close();
    return run_front(request, shared, bucket, life.get(), outcome);
  });
  life.close();
  try {
    outcome.await_ready();
  } catch (...) {
    ::kill(front, SIGKILL);
    ::waitpid(front, nullptr, 0);
    throw;
  }
  return wait_and_pass_signals(front);
}

}  // namespace fourscore
