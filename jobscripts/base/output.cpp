#include "jobscripts/base/output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace fourscore {
namespace {

constexpr int exit_environment = 3;

/// What is still in the buffer, and all that follows, goes nowhere.
void drop_output() {
  if (const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC); nowhere >= 0) {
    ::dup2(nowhere, STDOUT_FILENO);
    ::close(nowhere);
  }
  std::fflush(stdout);
  std::clearerr(stdout);
}

}  // namespace

void say_to(std::FILE* stream, const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stream);
  std::fflush(stream);
}

void print_if_read(const std::function<void()>& print) {
  try {
    print();
    if (std::fflush(stdout) != 0) throw std::system_error(errno, std::generic_category(), "standard output");
  } catch (const std::system_error& error) {
    if (error.code() != std::errc::broken_pipe && error.code() != std::errc::io_error) throw;
    drop_output();
  }
}

int end_output(int code) {
  errno = 0;
  const bool flushed = std::fflush(stdout) == 0;
  const int error = errno;
  if (flushed && std::ferror(stdout) == 0) return code;
  if (code != exit_environment)  // else the failure was reported where it was met
    say("fourscore: cannot write standard output: {}\n",
        error != 0 ? std::strerror(error) : "a part of it was refused");
  return exit_environment;
}

}  // namespace fourscore
