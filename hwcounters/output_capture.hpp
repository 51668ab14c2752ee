#pragma once
// What a library prints, kept from the terminal and put into our error messages.

#include <string>

namespace fourscore {

/// While it exists, what this process writes to standard output and standard error goes to a file without a name.
/// For calls before and after measuring, never in between. Where that file cannot be had, nothing is captured.
class OutputCapture {
 public:
  OutputCapture();
  ~OutputCapture();
  OutputCapture(const OutputCapture&) = delete;
  OutputCapture& operator=(const OutputCapture&) = delete;

  /// Ends the capture: what was written, lines joined by "; ", at most its last 600 characters.
  [[nodiscard]] std::string text();

 private:
  void restore() noexcept;

  int file_ = -1;
  int out_ = -1;
  int error_ = -1;
};

}  // namespace fourscore
