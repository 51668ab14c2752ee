#pragma once
// How far a campaign is: a bar with the time left on a terminal, plain lines otherwise.

#include <cstddef>
#include <cstdio>
#include <string>

namespace fourscore {

/// "1:05", "2:03:04"
[[nodiscard]] std::string shown_duration(double seconds);
/// "12.1 ms": three digits and a unit that fits.
[[nodiscard]] std::string shown_time(double seconds);

class Progress {
 public:
  /// `total` launches, of which `done` are archived already. A bar only where `stream` is a terminal.
  Progress(std::FILE* stream, std::size_t total, std::size_t done, bool quiet);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// So many launches more.
  void add(std::size_t launches) { total_ += launches; }
  void begin(const std::string& what, double left_s);
  void end(const std::string& line, double left_s);
  void note(const std::string& line);  ///< a warning between two launches

 private:
  void draw(const std::string& what, double left_s);
  void clear();

  std::FILE* stream_;
  std::size_t total_;
  std::size_t done_;
  bool quiet_;
  bool terminal_;
};

}  // namespace fourscore
