#include "jobscripts/programs/printed_times.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/errors.hpp"
#include "core/flags.hpp"
#include "core/phase.hpp"
#include "core/record.hpp"
#include "core/text.hpp"
#include "results/printable.hpp"

namespace fourscore {
namespace {

using nlohmann::json;

constexpr std::size_t longest_line = 1000;
constexpr std::size_t most_samples = 1000000;
constexpr std::size_t longest_checksum = 200;
constexpr const char* from_one_rank = "; print from one rank alone";

/// A duration above 0.
std::optional<double> seconds_of(const std::string& text, bool or_zero = false) {
  const auto value = number_from<double>(text);
  return value && std::isfinite(*value) && (or_zero ? *value >= 0 : *value > 0) ? value : std::nullopt;
}

/// The words between blanks; of Windows' line ends too.
std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t begin = line.find_first_not_of(" \t\r", at);
    if (begin == std::string::npos) break;
    at = std::min(line.find_first_of(" \t\r", begin), line.size());
    words.push_back(line.substr(begin, at - begin));
  }
  return words;
}

}  // namespace

void PrintedTimes::take(std::string_view piece) {
  while (!piece.empty()) {
    const std::size_t end = piece.find('\n');
    const std::string_view part = piece.substr(0, end);
    rest_is_long_ = rest_is_long_ || rest_.size() + part.size() > longest_line;
    if (!rest_is_long_) rest_.append(part);
    if (end == std::string_view::npos) return;
    ++lines_;
    if (!rest_is_long_) take_line(rest_);
    rest_.clear();
    rest_is_long_ = false;
    piece.remove_prefix(end + 1);
  }
}

void PrintedTimes::refuse(const std::string& line, const std::string& expected) {
  if (problem_.empty()) problem_ = fmt::format("line {}, '{}': expected {}", lines_, printable(line), expected);
}

void PrintedTimes::take_line(const std::string& line) {
  const auto words = words_of(line);
  if (words.empty()) return;
  const std::string& what = words.front();
  const auto seconds = seconds_of(words.back(), what == "phase");
  if (what == "sample_s" || what == "warmup_s") {
    if (words.size() != 2 || !seconds)
      refuse(line, fmt::format("{} and seconds above 0, as in '{} 0.0123'{}", what, what, from_one_rank));
    else if (what == "sample_s")
      add_sample(*seconds);
    else if (!samples_s_.empty())
      refuse(line, "the warm-up before the samples");
    else
      warmups_s_.push_back(*seconds);
  } else if (what == "phase") {
    if (words.size() != 3 || !seconds)
      refuse(line, fmt::format("a name and seconds, as in 'phase fft 0.008'{}", from_one_rank));
    else
      add_phase(line, words[1], *seconds);
  } else if (what == "checksum") {
    if (words.size() != 2 || words[1].size() > longest_checksum)
      refuse(line, "one word, as in 'checksum 5e7f'");
    else if (!checksum_.empty() && checksum_ != words[1])
      refuse(line, fmt::format("{}, as before: the result is another than that of the sample before", checksum_));
    else
      checksum_ = words[1];
  } else if (what == "ranks") {
    const auto ranks = number_from<int>(words.back());
    if (words.size() != 2 || !ranks || *ranks < 1)
      refuse(line, "how many ranks there are, as in 'ranks 4'");
    else if (ranks_ != 0)
      refuse(line, fmt::format("this line once{}", from_one_rank));
    else
      ranks_ = *ranks;
  }
}

void PrintedTimes::add_sample(double seconds) {
  check_phases();
  if (samples_s_.size() == most_samples) return refuse("sample_s", fmt::format("at most {} samples", most_samples));
  samples_s_.push_back(seconds);
}

void PrintedTimes::add_phase(const std::string& line, const std::string& name, double seconds) {
  if (std::ranges::find(phase_names, name) == phase_names.end())
    return refuse(line, fmt::format("one of {}", fmt::join(phase_names, ", ")));
  if (samples_s_.empty()) return refuse(line, "the sample above its phases");
  auto& values = phases_s_[name];
  if (values.size() + 1 != samples_s_.size())
    return refuse(line, values.size() == samples_s_.size() ? fmt::format("phase {} once a sample", name)
                                                           : fmt::format("phase {} of the samples before, too", name));
  values.push_back(seconds);
}

/// Each sample has the phases of the first.
void PrintedTimes::check_phases() {
  for (const auto& [name, values] : phases_s_)
    if (values.size() != samples_s_.size() && problem_.empty())
      problem_ = fmt::format("sample {} has no 'phase {}', and those before have it", samples_s_.size(), name);
}

json PrintedTimes::samples() const {
  json result{{"time_s", samples_s_}, {"warmup_s", warmups_s_}, {"time_is", "printed"}, {"rank_total_s", {samples_s_}}};
  if (phases_s_.empty()) return result;
  std::vector<double> others(samples_s_.size());
  double worst = 0;
  for (std::size_t i = 0; i < samples_s_.size(); ++i) {
    double sum = 0;
    for (const auto& [name, values] : phases_s_) sum += values[i];
    others[i] = phases_s_.contains("other") ? 0 : std::max(0.0, samples_s_[i] - sum);
    worst = std::max(worst, std::abs(sum + others[i] - samples_s_[i]) / samples_s_[i]);
  }
  for (const auto& [name, values] : phases_s_) result["rank_phase_s"][name] = json::array({values});
  if (!phases_s_.contains("other")) result["rank_phase_s"]["other"] = json::array({others});
  result["closure"] = {{"worst", worst}, {"limit", closure_limit}, {"ok", worst <= closure_limit}};
  return result;
}

json PrintedTimes::record(const Point& point, int repetitions) {
  if (!rest_.empty() || rest_is_long_) take("\n");
  check_phases();
  const auto require = [](bool holds, const std::string& what) {
    if (!holds) throw InputError(what);
  };
  require(problem_.empty(), problem_);
  require(!samples_s_.empty(),
          fmt::format("it printed no sample among {}; expected lines as 'sample_s 0.0123', one a repetition, on its "
                      "standard output",
                      plural(lines_, "line")));
  require(
      ranks_ == 0 || ranks_ == point.ranks,
      fmt::format("it printed 'ranks {}', asked was {}: is it of another MPI than the launcher?", ranks_, point.ranks));
  require(
      repetitions == 0 || samples_s_.size() <= static_cast<std::size_t>(repetitions),
      fmt::format("it printed {}, asked were {}{}", plural(samples_s_.size(), "sample"), repetitions, from_one_rank));
  json record = make_record(point, nullptr, {}, nullptr);
  record["cards"] = {{"variant", {{"name", point.variant}, {"summary", "a program that prints its times"}}}};
  record["sampling"] = {{"repetitions", repetitions == 0 ? static_cast<int>(samples_s_.size()) : repetitions}};
  record["samples"] = samples();
  if (!checksum_.empty()) record["checksum"] = checksum_;
  return record;
}

}  // namespace fourscore
