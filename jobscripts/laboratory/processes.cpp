#include "jobscripts/laboratory/processes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <vector>

#include "core/errors.hpp"
#include "jobscripts/base/paths.hpp"

namespace fourscore {
namespace {

constexpr std::array passed_on{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

sigset_t awaited_set() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  for (const int signal : passed_on) sigaddset(&set, signal);
  return set;
}

constexpr char ready = 'r', input_error = 'i', environment_error = 'e';

void write_all(int fd, const std::string& text) {
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t written = ::write(fd, text.data() + sent, text.size() - sent);
    if (written < 0 && errno != EINTR) return;  // nobody waits any more
    if (written > 0) sent += static_cast<std::size_t>(written);
  }
}

std::string read_all(int fd) {
  std::string text;
  std::array<char, 4096> block;
  while (true) {
    const ssize_t got = ::read(fd, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(block.data(), static_cast<std::size_t>(got));
    if (text.front() == ready) return text;  // what the other starts then may hold the pipe
  }
}

std::array<int, 2> new_pipe() {
  std::array<int, 2> ends{-1, -1};
  require_system(::pipe2(ends.data(), O_CLOEXEC) == 0, "a pipe");
  return ends;
}

int shell_status(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

/// What a program is started with: of the signals only those ignored that nohup and its like ignore.
void take_signals_as_usual() {
  for (const int signal : {SIGPIPE, SIGXFSZ, SIGCHLD}) std::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

}  // namespace

void require_system(bool holds, const std::string& what) {
  if (!holds) throw EnvironmentError(fmt::format("{}: {}", what, std::generic_category().message(errno)));
}

Outcome::Outcome() : Outcome(new_pipe()) {}
Outcome::Outcome(const std::array<int, 2>& ends) : read_(ends[0]), write_(ends[1]) {}

void Outcome::tell_ready() {
  write_all(write_.get(), std::string(1, ready));
  write_.close();
}

void Outcome::tell(const std::exception& error) {
  const bool of_input = dynamic_cast<const InputError*>(&error) != nullptr;
  write_all(write_.get(), (of_input ? input_error : environment_error) + std::string(error.what()));
  write_.close();
}

void Outcome::await_ready() {
  write_.close();
  const std::string told = read_all(read_.get());
  if (told.empty()) throw EnvironmentError("a process of the laboratory ended while it was set up");
  throw_what(told);
}

void Outcome::await_end() {
  write_.close();
  if (const std::string told = read_all(read_.get()); !told.empty()) throw_what(told);
}

void Outcome::throw_what(const std::string& told) const {
  if (told.front() == input_error) throw InputError(told.substr(1));
  if (told.front() == environment_error) throw EnvironmentError(told.substr(1));
}

AwaitedSignals::AwaitedSignals() {
  const sigset_t set = awaited_set();
  ::sigprocmask(SIG_BLOCK, &set, &before_);
  struct sigaction as_usual {};
  as_usual.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &as_usual, &child_before_);
}

AwaitedSignals::~AwaitedSignals() {
  ::sigaction(SIGCHLD, &child_before_, nullptr);
  ::sigprocmask(SIG_SETMASK, &before_, nullptr);
}

pid_t start_process(const std::function<int()>& work) {
  const pid_t child = ::fork();
  require_system(child >= 0, "a process");
  if (child == 0) {
    try {
      ::_exit(work());
    } catch (...) {  // it must not go on as a second parent
      ::_exit(1);
    }
  }
  return child;
}

pid_t start_program(const std::vector<std::string>& argv, const std::function<void()>& prepare) {
  std::vector<char*> words;
  for (const auto& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  Outcome started;
  const pid_t child = start_process([&] {
    try {
      prepare();
      take_signals_as_usual();
      ::execvp(words.front(), words.data());
      throw InputError(fmt::format("'{}' cannot be started: {}", argv.front(), std::generic_category().message(errno)));
    } catch (const std::exception& error) {
      started.tell(error);
    }
    return 127;
  });
  try {
    started.await_end();
  } catch (...) {
    ::waitpid(child, nullptr, 0);
    throw;
  }
  return child;
}

bool at_a_terminal() { return ::isatty(STDIN_FILENO) == 1; }

int wait_and_pass_signals(pid_t child) {
  const sigset_t awaited = awaited_set();
  const bool terminal = at_a_terminal();
  while (true) {
    int status = 0;
    for (pid_t ended = ::waitpid(-1, &status, WNOHANG); ended > 0; ended = ::waitpid(-1, &status, WNOHANG))
      if (ended == child) return shell_status(status);
    siginfo_t info{};
    const int signal = ::sigwaitinfo(&awaited, &info);
    if (signal > 0 && signal != SIGCHLD && !(terminal && info.si_code == SI_KERNEL)) ::kill(child, signal);
  }
}

void reap_for_ever() {
  const sigset_t awaited = awaited_set();
  while (true) {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    ::sigwaitinfo(&awaited, nullptr);
  }
}

}  // namespace fourscore
