#include "hwcounters/output_capture.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdio>

namespace fourscore {
namespace {

void close_file(int& file) noexcept {
  if (file >= 0) ::close(file);
  file = -1;
}

}  // namespace

OutputCapture::OutputCapture() : file_(::memfd_create("output", MFD_CLOEXEC)) {
  if (file_ < 0) return;
  std::fflush(stdout);
  std::fflush(stderr);
  out_ = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  error_ = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
  if (out_ >= 0) ::dup2(file_, STDOUT_FILENO);
  if (error_ >= 0) ::dup2(file_, STDERR_FILENO);
}

OutputCapture::~OutputCapture() {
  restore();
  close_file(file_);
}

void OutputCapture::restore() noexcept {
  if (out_ < 0 && error_ < 0) return;
  std::fflush(stdout);
  std::fflush(stderr);
  if (out_ >= 0) ::dup2(out_, STDOUT_FILENO);
  if (error_ >= 0) ::dup2(error_, STDERR_FILENO);
  close_file(out_);
  close_file(error_);
}

std::string OutputCapture::text() {
  restore();
  std::string all;
  if (file_ >= 0 && ::lseek(file_, 0, SEEK_SET) == 0) {
    std::array<char, 4096> piece{};
    for (ssize_t size = 0; (size = ::read(file_, piece.data(), piece.size())) > 0;)
      all.append(piece.data(), static_cast<std::size_t>(size));
  }
  std::string joined;
  bool gap = false;
  for (const char c : all) {
    if (c == '\n') {
      gap = !joined.empty();
    } else {
      if (gap) joined += "; ";
      gap = false;
      joined += c;
    }
  }
  constexpr std::size_t most = 600;
  return joined.size() > most ? joined.substr(joined.size() - most) : joined;
}

}  // namespace fourscore
