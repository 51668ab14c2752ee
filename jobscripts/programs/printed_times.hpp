#pragma once
// What a program says that prints its times (key 'program' of a [[sweep]]): lines on its standard output.
//
//   sample_s 0.0123      one repetition, in seconds
//   warmup_s 0.02        one that came before them and does not count
//   phase fft 0.008      how much of the sample above it a phase took
//   checksum TEXT        of the result of the sample above it, or of all
//   ranks 4              how many ranks MPI gave it
//
// All other lines are its own.

#include <cstddef>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/problem.hpp"

namespace fourscore {

class PrintedTimes {
 public:
  /// Takes the next piece of the output, of any length.
  void take(std::string_view piece);

  /// Once, at the end: the record of the launch as the program told it, of `point`; `repetitions`: how many it was
  /// asked for, 0 where it was told no number. Throws InputError with the line that cannot be used, or what is missing.
  [[nodiscard]] nlohmann::json record(const Point& point, int repetitions);

 private:
  void take_line(const std::string& line);
  void refuse(const std::string& line, const std::string& expected);
  void add_sample(double seconds);
  void add_phase(const std::string& line, const std::string& name, double seconds);
  void check_phases();
  [[nodiscard]] nlohmann::json samples() const;

  std::string rest_;           ///< what is there of a line that goes on
  bool rest_is_long_ = false;  ///< and of which no more is kept
  std::size_t lines_ = 0;
  std::string problem_;  ///< the first
  std::vector<double> samples_s_, warmups_s_;
  std::map<std::string, std::vector<double>, std::less<>> phases_s_;  ///< by name, one a sample
  std::string checksum_;
  int ranks_ = 0;  ///< 0: not told
};

}  // namespace fourscore
