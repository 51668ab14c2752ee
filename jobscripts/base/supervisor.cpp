#include "jobscripts/base/supervisor.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

namespace fourscore {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double grace_s = 5.0;
constexpr double last_words_s = 0.5;  ///< for helpers of a program that has ended by itself

[[noreturn]] void start(const SupervisedProgram& program, pid_t supervisor, int start_error) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != supervisor) ::_exit(127);
  ::dup2(program.input, STDIN_FILENO);
  ::dup2(program.output, STDOUT_FILENO);
  ::dup2(program.error, STDERR_FILENO);
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE, SIGCHLD}) std::signal(signal, SIG_DFL);
  // What nohup ignores stays ignored; any other handler falls to the default by exec.
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const auto& [name, value] : *program.environment) ::setenv(name.c_str(), value.c_str(), 1);
  ::execvp(program.argv[0], program.argv);
  const int error = errno;
  (void)!::write(start_error, &error, sizeof(error));
  ::_exit(127);
}

/// Waits for one program and sees to its end.
class Supervision {
 public:
  Supervision(pid_t worker, double time_limit_s) : worker_(worker) {
    if (time_limit_s > 0) deadline_ = after(time_limit_s);
    sigemptyset(&awaited_);
    sigaddset(&awaited_, SIGCHLD);
    sigaddset(&awaited_, SIGTERM);
  }

  SupervisorReport run() {
    while (!worker_gone_) {
      const int signal = wait(deadline_);
      reap();
      if (worker_gone_) break;
      if (signal == SIGTERM) end(EndedBecause::asked);
      if (signal == 0 && report_.ended_because == EndedBecause::itself)
        end(EndedBecause::time_limit);
      else if (signal == 0)
        kill_all();
    }
    end_descendants();
    return report_;
  }

 private:
  static Clock::time_point after(double seconds) {
    return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }

  /// The signal that came, or 0 at the deadline. Looks up now and then: signals to a stopped child may merge.
  int wait(Clock::time_point deadline) const {
    while (true) {
      const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(deadline - Clock::now()).count();
      if (left <= 0) return 0;
      const auto slice = std::min<std::int64_t>(left, 1'000'000'000);
      const timespec timeout{static_cast<time_t>(slice / 1'000'000'000), static_cast<long>(slice % 1'000'000'000)};
      const int signal = ::sigtimedwait(&awaited_, nullptr, &timeout);
      if (signal > 0) return signal;
    }
  }

  void end(EndedBecause reason) {
    if (report_.ended_because != EndedBecause::itself) return;
    report_.ended_because = reason;
    ::kill(-worker_, SIGTERM);
    ::kill(-worker_, SIGCONT);
    deadline_ = after(grace_s);
  }

  void kill_all() {
    ::kill(-worker_, SIGKILL);
    for (const pid_t pid : descendants_of(::getpid())) ::kill(pid, SIGKILL);
    deadline_ = after(0.2);
  }

  void reap() {
    int status = 0;
    for (pid_t pid = ::waitpid(-1, &status, WNOHANG); pid != 0; pid = ::waitpid(-1, &status, WNOHANG)) {
      if (pid < 0 && errno == EINTR) continue;
      if (pid < 0) {
        alone_ = errno == ECHILD;
        return;
      }
      if (pid != worker_) continue;
      worker_gone_ = true;
      if (WIFSIGNALED(status)) report_.signal = WTERMSIG(status);
      if (WIFEXITED(status)) report_.exit_status = WEXITSTATUS(status);
    }
  }

  void end_descendants() {
    auto patience = after(report_.ended_because == EndedBecause::itself ? last_words_s : 0.0);
    for (reap(); !alone_; reap()) {
      if (wait(patience) != 0) continue;
      for (const pid_t pid : descendants_of(::getpid())) ::kill(pid, SIGKILL);
      patience = after(0.1);
    }
  }

  pid_t worker_;
  sigset_t awaited_{};
  Clock::time_point deadline_ = Clock::time_point::max();
  SupervisorReport report_;
  bool worker_gone_ = false;
  bool alone_ = false;
};

}  // namespace

std::vector<pid_t> descendants_of(pid_t root) {
  std::multimap<pid_t, pid_t> children;
  std::error_code error;
  for (std::filesystem::directory_iterator it("/proc", error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(it->path() / "stat");
    std::string stat;
    std::getline(file, stat);
    // pid (name) state ppid: the name may hold anything, so read from the last parenthesis.
    const std::size_t close = stat.rfind(')');
    if (close == std::string::npos || close + 4 >= stat.size()) continue;
    children.emplace(static_cast<pid_t>(std::atoi(stat.c_str() + close + 4)),
                     static_cast<pid_t>(std::atoi(name.c_str())));
  }
  std::vector<pid_t> found{root};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto [first, last] = children.equal_range(found[i]);
    for (auto it = first; it != last; ++it) found.push_back(it->second);
  }
  found.erase(found.begin());
  return found;
}

void supervise(const SupervisedProgram& program, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigset_t blocked;
  sigemptyset(&blocked);
  for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) sigaddset(&blocked, signal);
  ::sigprocmask(SIG_BLOCK, &blocked, nullptr);
  std::signal(SIGCHLD, SIG_DFL);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(1);
  for (const int fd : program.parents_ends) ::close(fd);

  SupervisorReport report;
  int start_error[2] = {-1, -1};
  if (::pipe2(start_error, O_CLOEXEC) != 0) report.start_error = errno;
  const pid_t self = ::getpid();
  const pid_t worker = report.start_error == 0 ? ::fork() : -1;
  if (worker == 0) start(program, self, start_error[1]);
  if (worker < 0 && report.start_error == 0) report.start_error = errno;
  for (const int fd : {program.input, program.output, program.error, start_error[1]}) ::close(fd);
  if (worker > 0) {
    ::setpgid(worker, worker);
    int error = 0;
    if (::read(start_error[0], &error, sizeof(error)) == static_cast<ssize_t>(sizeof(error)))
      report.start_error = error;
    SupervisorReport ended = Supervision(worker, program.time_limit_s).run();
    ended.start_error = report.start_error;
    report = ended;
  }
  (void)!::write(program.report, &report, sizeof(report));
  ::_exit(0);
}

}  // namespace fourscore
