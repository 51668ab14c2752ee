#include "jobscripts/base/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "jobscripts/base/output.hpp"

namespace fourscore {

std::string shown_duration(double seconds) {
  const auto whole = static_cast<long>(std::lround(std::max(0.0, seconds)));
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::string shown_time(double seconds) {
  // 0.9995 of a unit rounds to 1000 of the next smaller one, which {:.3g} would write as 1e+03.
  if (seconds >= 0.9995) return fmt::format("{:.3g} s", seconds);
  if (seconds >= 0.9995e-3) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} us", seconds * 1e6);
}

Progress::Progress(std::FILE* stream, std::size_t total, std::size_t done, bool quiet)
    : stream_(stream), total_(total), done_(done), quiet_(quiet), terminal_(::isatty(::fileno(stream)) == 1) {}

Progress::~Progress() { clear(); }

void Progress::begin(const std::string& what, double left_s) {
  if (!quiet_ && terminal_) draw(what, left_s);
}

void Progress::end(const std::string& line, double left_s) {
  ++done_;
  if (quiet_) return;
  clear();
  const std::string left = left_s >= 0 && done_ < total_ ? fmt::format("  ({} left)", shown_duration(left_s)) : "";
  say_to(stream_, fmt::format("[{}/{}] {}{}\n", done_, total_, line, terminal_ ? "" : left));
}

void Progress::note(const std::string& line) {
  clear();
  say_to(stream_, line + "\n");
}

void Progress::draw(const std::string& what, double left_s) {
  winsize size{};
  const bool known = ::ioctl(::fileno(stream_), TIOCGWINSZ, &size) == 0 && size.ws_col > 20;
  const std::size_t width = known ? size.ws_col : 80;
  constexpr std::size_t bar = 20;
  const std::size_t full = total_ == 0 ? bar : bar * done_ / total_;
  std::string line = fmt::format("[{}{}] {}/{} {} {}", std::string(full, '#'), std::string(bar - full, '.'), done_,
                                 total_, left_s >= 0 ? shown_duration(left_s) + " left " : "", what);
  if (line.size() >= width) line.resize(width - 1);
  say_to(stream_, "\r\x1b[K" + line);
}

void Progress::clear() {
  if (quiet_ || !terminal_) return;
  say_to(stream_, "\r\x1b[K");
}

}  // namespace fourscore
