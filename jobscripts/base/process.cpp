#include "jobscripts/base/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <system_error>
#include <thread>

#include "jobscripts/base/supervisor.hpp"

namespace fourscore {
namespace {

constexpr std::size_t stderr_limit = 4096;
volatile std::sig_atomic_t interrupt_signal = 0;

void note_interrupt(int signal) { interrupt_signal = signal; }

constexpr std::array guarded_signals{SIGINT, SIGTERM, SIGHUP};
std::array<struct sigaction, guarded_signals.size()> previous_actions;

[[noreturn]] void fail(const char* call) { throw std::system_error(errno, std::generic_category(), call); }

/// Both ends close on exec; end[0] reads.
class Pipe {
 public:
  Pipe() {
    if (::pipe2(end_.data(), O_CLOEXEC) != 0) fail("pipe");
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_end(std::size_t which) {
    if (end_[which] >= 0) ::close(end_[which]);
    end_[which] = -1;
  }
  [[nodiscard]] int end(std::size_t which) const { return end_[which]; }

 private:
  std::array<int, 2> end_{-1, -1};
};

void keep_tail(std::string& text, std::size_t limit) {
  if (limit > 0 && text.size() > limit) text.erase(0, text.size() - limit);
}

/// Reads what there is; false at the end of the file.
bool drain(int fd, std::string& into, std::size_t limit) {
  std::array<char, 65536> block;
  const ssize_t got = ::read(fd, block.data(), block.size());
  if (got < 0) return errno == EINTR || errno == EAGAIN;
  into.append(block.data(), static_cast<std::size_t>(got));
  keep_tail(into, limit);
  return got > 0;
}

/// Talks with the supervisor and the program until the supervisor has reported.
class Conversation {
 public:
  Conversation(const ProcessSpec& spec, pid_t supervisor, Pipe& input, Pipe& output, Pipe& error, Pipe& report)
      : spec_(spec), supervisor_(supervisor), input_(input), output_(output), error_(error), report_(report) {}

  SupervisorReport run(ProcessResult& result) {
    ::fcntl(input_.end(1), F_SETFL, O_NONBLOCK);
    ::fcntl(output_.end(0), F_SETFL, O_NONBLOCK);
    ::fcntl(error_.end(0), F_SETFL, O_NONBLOCK);
    std::string report;
    bool told = false;
    while (report.size() < sizeof(SupervisorReport)) {
      if (spec_.input.size() == sent_) input_.close_end(1);
      if (InterruptGuard::interrupted() && !told && !spec_.ends_by_itself) told = ::kill(supervisor_, SIGTERM) == 0;
      std::array<pollfd, 4> files{pollfd{report_.end(0), POLLIN, 0}, pollfd{output_.end(0), POLLIN, 0},
                                  pollfd{error_.end(0), POLLIN, 0}, pollfd{input_.end(1), POLLOUT, 0}};
      // The pause bounds the race between the check for an interrupt and the call.
      if (::poll(files.data(), files.size(), 200) <= 0) continue;
      if (files[1].revents != 0 && !drain_output(result)) output_.close_end(0);
      if (files[2].revents != 0 && !drain(error_.end(0), result.stderr_tail, stderr_limit)) error_.close_end(0);
      if (files[3].revents != 0) send();
      if (files[0].revents != 0 && !drain(report_.end(0), report, 0)) break;
    }
    // All writers are gone now: take what is still in the pipes.
    while (output_.end(0) >= 0 && waits(output_.end(0)) && drain_output(result)) {
    }
    while (error_.end(0) >= 0 && waits(error_.end(0)) && drain(error_.end(0), result.stderr_tail, stderr_limit)) {
    }
    SupervisorReport parsed{};
    if (report.size() == sizeof(parsed))
      std::memcpy(&parsed, report.data(), sizeof(parsed));
    else
      parsed.signal = SIGKILL;  // somebody killed the supervisor, and with it the program
    return parsed;
  }

 private:
  /// Whether something is there to be read, or the end.
  static bool waits(int fd) {
    pollfd file{fd, POLLIN, 0};
    return ::poll(&file, 1, 0) > 0;
  }

  bool drain_output(ProcessResult& result) {
    const bool goes_on = drain(output_.end(0), result.output, spec_.takes_output ? 0 : spec_.output_limit);
    if (!spec_.takes_output) return goes_on;
    spec_.takes_output(result.output);
    result.output.clear();
    return goes_on;
  }

  void send() {
    const ssize_t written = ::write(input_.end(1), spec_.input.data() + sent_, spec_.input.size() - sent_);
    if (written > 0)
      sent_ += static_cast<std::size_t>(written);
    else if (errno != EAGAIN && errno != EINTR)
      sent_ = spec_.input.size();  // the program does not read on
  }

  const ProcessSpec& spec_;
  pid_t supervisor_;
  Pipe& input_;
  Pipe& output_;
  Pipe& error_;
  Pipe& report_;
  std::size_t sent_ = 0;
};

class IgnoredSigpipe {
 public:
  IgnoredSigpipe() : previous_(std::signal(SIGPIPE, SIG_IGN)) {}
  ~IgnoredSigpipe() { std::signal(SIGPIPE, previous_); }
  IgnoredSigpipe(const IgnoredSigpipe&) = delete;
  IgnoredSigpipe& operator=(const IgnoredSigpipe&) = delete;

 private:
  void (*previous_)(int);
};

/// As fork(). The child begins with the guarded signals blocked: one that came before it waits for them would be taken
/// by the handler that it has from its parent, and be lost.
pid_t fork_without_signals() {
  sigset_t blocked, before;
  sigemptyset(&blocked);
  for (const int signal : guarded_signals) sigaddset(&blocked, signal);
  ::sigprocmask(SIG_BLOCK, &blocked, &before);
  const pid_t child = ::fork();
  const int error = errno;
  if (child != 0) ::sigprocmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return child;
}

}  // namespace

InterruptGuard::InterruptGuard() {
  interrupt_signal = 0;
  struct sigaction action {};
  action.sa_handler = note_interrupt;
  for (std::size_t i = 0; i < guarded_signals.size(); ++i) {
    ::sigaction(guarded_signals[i], nullptr, &previous_actions[i]);
    if (previous_actions[i].sa_handler != SIG_IGN) ::sigaction(guarded_signals[i], &action, nullptr);
  }
}
InterruptGuard::~InterruptGuard() {
  for (std::size_t i = 0; i < guarded_signals.size(); ++i)
    ::sigaction(guarded_signals[i], &previous_actions[i], nullptr);
}
bool InterruptGuard::interrupted() { return interrupt_signal != 0; }
void InterruptGuard::check() {
  if (interrupted()) throw Interrupted();
}
void InterruptGuard::obeyed() { interrupt_signal = 0; }

void rest(double seconds) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (std::chrono::steady_clock::now() < until) {
    InterruptGuard::check();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

ProcessResult run_process(const ProcessSpec& spec) {
  const auto begin = std::chrono::steady_clock::now();
  const IgnoredSigpipe unread;  // a program that does not read its input is no reason to end
  Pipe input, output, error, report;
  // Everything that allocates happens before the fork.
  std::vector<char*> argv;
  for (const auto& argument : spec.argv) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const SupervisedProgram program{
      argv.data(),   &spec.environment, spec.time_limit_s, input.end(0),
      output.end(1), error.end(1),      report.end(1),     {input.end(1), output.end(0), error.end(0), report.end(0)}};
  const pid_t parent = ::getpid();
  const pid_t supervisor = fork_without_signals();
  if (supervisor < 0) fail("fork");
  if (supervisor == 0) supervise(program, parent);
  input.close_end(0);
  output.close_end(1);
  error.close_end(1);
  report.close_end(1);

  ProcessResult result;
  const SupervisorReport said = Conversation(spec, supervisor, input, output, error, report).run(result);
  while (::waitpid(supervisor, nullptr, 0) < 0 && errno == EINTR) {
  }
  result.start_error = said.start_error;
  result.exit_status = said.exit_status;
  result.signal = said.signal;
  result.timed_out = said.ended_because == EndedBecause::time_limit;
  result.interrupted =
      said.ended_because == EndedBecause::asked || (InterruptGuard::interrupted() && !spec.ends_by_itself);
  result.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

bool ProcessResult::succeeded() const {
  return start_error == 0 && exit_status == 0 && signal == 0 && !timed_out && !interrupted;
}

std::string ProcessResult::start_problem() const { return std::generic_category().message(start_error); }

bool is_plain_word(std::string_view text) {
  constexpr const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+%@";
  return !text.empty() && text.find_first_not_of(plain) == std::string_view::npos;
}

std::string shell_word(std::string_view text) {
  if (is_plain_word(text)) return std::string(text);
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + '\'';
}

std::string shown_command(const std::vector<std::string>& argv) {
  std::string line;
  for (const auto& argument : argv) line += (line.empty() ? "" : " ") + shell_word(argument);
  return line;
}

}  // namespace fourscore
