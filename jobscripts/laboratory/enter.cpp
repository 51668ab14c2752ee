// What `ssh` is in a laboratory.

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "core/did_you_mean.hpp"
#include "core/errors.hpp"
#include "core/problem.hpp"
#include "jobscripts/laboratory/laboratory.hpp"
#include "jobscripts/laboratory/places.hpp"
#include "jobscripts/laboratory/processes.hpp"
#include "results/archive.hpp"

namespace fourscore {
namespace fs = std::filesystem;

namespace {

constexpr std::string_view ssh_options_with_a_value = "BbcDEeFIiJLlmOopQRSWw";

struct Errand {
  std::string host;
  std::vector<std::string> words;
};

Errand parse(const std::vector<std::string>& words) {
  auto next = words.begin();
  for (; next != words.end() && next->starts_with('-'); ++next)
    if (next->size() == 2 && ssh_options_with_a_value.find((*next)[1]) != std::string_view::npos &&
        next + 1 != words.end())
      ++next;
  if (next == words.end()) throw InputError("--enter: no host; expected ssh's words, as h1 hostname");
  const std::string host = next->substr(next->find('@') == std::string::npos ? 0 : next->find('@') + 1);
  return {host, {next + 1, words.end()}};
}

/// The first process of a host, as this one sees it.
pid_t first_process(const std::string& host) {
  std::error_code error;
  const fs::path process = fs::read_symlink(LaboratoryPlaces::hosts() / host, error);
  if (!error) return static_cast<pid_t>(std::stol(process.filename().string()));
  std::vector<std::string> known;
  for (const fs::path& known_host : children_of(LaboratoryPlaces::hosts()))
    known.push_back(known_host.filename().string());
  if (known.empty())
    throw InputError("--enter: this is no laboratory; expected to be called by a command of `fourscore laboratory`");
  throw InputError(fmt::format("no host '{}' in this laboratory of {}: h1 to h{}{}", host, known.size(), known.size(),
                               did_you_mean(host, known)));
}

[[noreturn]] void refuse_from_a_host() {
  throw InputError(
      "a host cannot be entered from another one; call ssh beside them, where the laboratory's command runs");
}

void join_host(const std::string& host) {
  const pid_t first = first_process(host);
  constexpr std::array<std::pair<const char*, int>, 5> kinds{{{"uts", CLONE_NEWUTS},
                                                              {"ipc", CLONE_NEWIPC},
                                                              {"net", CLONE_NEWNET},
                                                              {"pid", CLONE_NEWPID},
                                                              {"mnt", CLONE_NEWNS}}};
  cpu_set_t cores;
  if (::sched_getaffinity(first, sizeof cores, &cores) == 0) (void)!::sched_setaffinity(0, sizeof cores, &cores);
  const fs::path folder = fs::current_path();
  std::vector<std::pair<Descriptor, int>> files;
  for (const auto& [name, kind] : kinds) {
    const std::string file = fmt::format("/proc/{}/ns/{}", first, name);
    files.emplace_back(::open(file.c_str(), O_RDONLY | O_CLOEXEC), kind);
    if (files.back().first.get() < 0) refuse_from_a_host();
  }
  for (const auto& [file, kind] : files) require_system(::setns(file.get(), kind) == 0, "the namespaces of a host");
  std::array<char, 65> name{};
  // On a host the number means another process, or none.
  if (::gethostname(name.data(), name.size() - 1) != 0 || host != name.data()) refuse_from_a_host();
  if (::chdir(folder.c_str()) != 0) require_system(::chdir("/") == 0, "/");
}

}  // namespace

int enter_laboratory_host(const std::vector<std::string>& words) {
  const Errand errand = parse(words);
  const AwaitedSignals awaited;
  join_host(errand.host);
  std::string line;
  for (const auto& word : errand.words) line += (line.empty() ? "" : " ") + word;
  const char* shell = std::getenv("SHELL");
  const std::vector<std::string> argv = errand.words.empty()
                                            ? std::vector<std::string>{shell == nullptr ? "/bin/sh" : shell}
                                            : std::vector<std::string>{"/bin/sh", "-c", line};
  return wait_and_pass_signals(start_program(argv, [] {
    ::unsetenv("TMPDIR");  // that of the front; a host has its own /tmp
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  }));
}

}  // namespace fourscore
