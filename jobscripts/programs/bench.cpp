#include "jobscripts/programs/bench.hpp"

#include <fmt/format.h>

#include <sstream>

#include "core/environment.hpp"
#include "core/record.hpp"
#include "jobscripts/base/paths.hpp"
#include "jobscripts/base/process.hpp"

namespace fourscore {
using nlohmann::json;
namespace fs = std::filesystem;

namespace {
constexpr double answer_limit_s = 60.0;
}

fs::path shipped_bench() {
  for (const fs::path& folder : {own_folder(), own_folder().parent_path() / "libexec/fourscore"})
    if (is_program(folder / "fft_bench")) return folder / "fft_bench";
  return {};
}

fs::path find_bench(const std::string& option) {
  for (const auto& [given, from] :
       {std::pair{option, "--bench"}, std::pair{environment("FOURSCORE_BENCH"), "FOURSCORE_BENCH"}}) {
    if (given.empty()) continue;
    if (!is_program(given)) throw EnvironmentError(fmt::format("{} names {}, which is not a program", from, given));
    return fs::absolute(given);
  }
  if (fs::path own = shipped_bench(); !own.empty()) return own;
  if (fs::path found = find_program("fft_bench"); !found.empty()) return found;
  throw EnvironmentError(
      fmt::format("fft_bench is neither in {} nor in PATH; build it (it needs MPI: the configure summary says what is "
                  "missing) or name it with --bench or FOURSCORE_BENCH",
                  own_folder().string()));
}

std::string Bench::ask(const std::vector<std::string>& options, const std::string& input) const {
  ProcessSpec spec;
  spec.argv = {program_.string()};
  spec.argv.insert(spec.argv.end(), options.begin(), options.end());
  for (const fs::path& plugin : plugins_) spec.argv.insert(spec.argv.end(), {"--plugin", plugin.string()});
  spec.input = input;
  spec.output_limit = 0;
  spec.time_limit_s = answer_limit_s;
  const ProcessResult result = run_process(spec);
  const std::string command = shown_command(spec.argv);
  if (result.start_error != 0)
    throw EnvironmentError(fmt::format("{} cannot be started: {}", command, result.start_problem()));
  if (result.interrupted) throw Interrupted();
  if (result.timed_out) throw EnvironmentError(fmt::format("{} did not answer in {} s", command, answer_limit_s));
  if (result.exit_status == 2 && !plugins_.empty()) throw InputError(result.stderr_tail);
  if (!result.succeeded())
    throw EnvironmentError(fmt::format("{} ended with {} {}: {}", command, result.signal != 0 ? "signal" : "status",
                                       result.signal != 0 ? result.signal : result.exit_status, result.stderr_tail));
  return result.output;
}

std::optional<std::string> Bench::listed_unavailable(const std::string& backend) const {
  for (const json& one : list().value("counters", json::array()))
    if (one.value("name", "") == backend) return one.value("reason", "");
  return std::nullopt;
}

json Bench::list() const {
  json answer = json::parse(ask({"--list"}), nullptr, false);
  if (!answer.is_object())
    throw EnvironmentError(fmt::format("{} --list does not answer with a JSON object", program_.string()));
  return answer;
}

json Bench::identity() const {
  json answer = json::parse(ask({"--identity"}), nullptr, false);
  const json said = answer.is_object() ? answer.value("identity", json()) : json();
  if (!said.is_object() || !said.value("code", json()).is_object())
    throw EnvironmentError(
        fmt::format(R"({} --identity does not answer with {{"identity": {{"code": {{...}}}}}})", program_.string()));
  for (const auto& [part, hash] : {std::pair{"machine", "machine_hash"}, std::pair{"code", "code_hash"}})
    if (!answer.contains(hash)) answer[hash] = short_hash(said.value(part, json::object()));
  return answer;
}

std::vector<PointCheck> Bench::check(const std::vector<Point>& points) const {
  std::string input;
  for (const auto& point : points) input += point_json(point).dump() + '\n';
  std::istringstream lines(ask({"--check-points"}, input));
  std::vector<PointCheck> answers;
  for (std::string line; std::getline(lines, line) && answers.size() < points.size();) {
    const json said = json::parse(line, nullptr, false);
    if (!said.is_object() || !said.contains("supported"))
      throw EnvironmentError(fmt::format("{} --check-points answers '{}'", program_.string(), line));
    PointCheck answer{
        points[answers.size()], said.value("error", false), said.value("reason", ""), said.value("key", ""), {}};
    if (const auto room = said.find("grid"); room != said.end() && room->is_object())
      answer.grid = {room->value("entries", std::size_t{1}), room->value("ranks", 1)};
    if (!answer.error && said.contains("point")) answer.point = point_from_json(said["point"]);
    if (!answer.error && !said.value("supported", false) && answer.reason.empty()) answer.reason = "not supported";
    answers.push_back(std::move(answer));
  }
  if (answers.size() != points.size())
    throw EnvironmentError(fmt::format("{} --check-points gave {} answers to {} points", program_.string(),
                                       answers.size(), points.size()));
  return answers;
}

}  // namespace fourscore
