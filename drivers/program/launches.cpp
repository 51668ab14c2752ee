#include "program/launches.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "core/errors.hpp"
#include "core/regular_file.hpp"
#include "program/command_line.hpp"

namespace fourscore::bench {
namespace {

using nlohmann::json;

constexpr const char* expected = R"(expected [["--variant", "slab", ...], ...], a command line for each launch)";

std::vector<std::vector<std::string>> read_command_lines(const std::filesystem::path& file) {
  try {
    const json text = json::parse(read_regular_file(file).text);
    auto lines = text.get<std::vector<std::vector<std::string>>>();
    if (lines.empty()) throw InputError(fmt::format("--launches {} has no launch; {}", file.string(), expected));
    return lines;
  } catch (const UnreadableFile& error) {
    throw InputError(fmt::format("--launches: cannot read {}: {}", file.string(), error.what()));
  } catch (const json::exception&) {
    throw InputError(fmt::format("--launches {} is no list of command lines; {}", file.string(), expected));
  }
}

Options parse(std::vector<std::string> line) {
  line.insert(line.begin(), "fft_bench");
  std::vector<char*> argv;
  for (std::string& word : line) argv.push_back(word.data());
  return parse_command_line(static_cast<int>(argv.size()), argv.data());
}

Reason why_alone(const Options& options) {
  if (options.mode != Mode::measure) return "a question is no launch";
  if (!options.launches.empty()) return "--launches within --launches";
  if (options.counters) return "counters";
  if (!options.plugins.empty()) return "a plugin";
  if (options.launch.contains("platform") && options.launch.at("platform") != "none") return "a platform";
  return std::nullopt;
}

std::vector<Options> understood(const std::filesystem::path& file) {
  std::vector<Options> launches;
  for (auto& line : read_command_lines(file)) {
    Options options = parse(std::move(line));
    if (const auto reason = why_alone(options))
      throw InputError(fmt::format("--launches {}, launch {}: {}; expected a job of its own", file.string(),
                                   launches.size(), *reason));
    launches.push_back(std::move(options));
  }
  return launches;
}

}  // namespace

std::vector<Options> read_launches(const std::filesystem::path& file) {
  try {
    return understood(file);
  } catch (const InputError& error) {
    throw Exit{2, fmt::format("fft_bench: {}\n", error.what())};
  }
}

}  // namespace fourscore::bench
