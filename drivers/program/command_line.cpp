#include "program/command_line.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "core/problem.hpp"
#include "core/regular_file.hpp"
#include "core/text.hpp"
#include "results/output_file.hpp"

namespace fourscore::bench {

using nlohmann::json;

const char* launched_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"})
    if (const char* value = std::getenv(name)) return value;
  return nullptr;
}

void die_with_the_launcher() {
  if (launched_rank() != nullptr) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
}

void announce_start(const std::string& file) {
  const char* rank = launched_rank();
  if (!file.empty() && (rank == nullptr || std::string_view(rank) == "0")) try {
      write_file(file, "");
    } catch (const OutputFailed&) {
    }
}

void print_once(std::FILE* stream, const std::string& text) {
  const char* rank = launched_rank();
  if (rank == nullptr || std::string_view(rank) == "0") std::fputs(text.c_str(), stream);
  std::fflush(stream);
}

void survive_full_files() { ::signal(SIGXFSZ, SIG_IGN); }

int end_output(int code, const std::string& program) {
  errno = 0;
  const bool complete = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (complete) return code;
  // The reason why an earlier write failed is no longer known.
  print_once(stderr, program + ": cannot write standard output" +
                         (errno == 0 ? std::string() : std::string(": ") + std::strerror(errno)) + "\n");
  return code == 0 ? 3 : code;
}

void require_different(const std::vector<NamedFile>& files) {
  for (auto one = files.begin(); one != files.end(); ++one)
    for (auto other = files.begin(); other != one; ++other) {
      if (one->file.empty() || other->file.empty()) continue;
      std::error_code error;
      if (std::filesystem::weakly_canonical(one->file, error) == std::filesystem::weakly_canonical(other->file, error))
        throw InputError(other->option + " and " + one->option + " both name " + one->file.string() +
                         "; expected a file of its own for each");
    }
}

json read_campaign(const std::string& path, const std::string& option) {
  if (path.empty()) return nullptr;
  // Whoever prints or reads the record goes down by recursion.
  constexpr int deepest = 50;
  bool too_deep = false;
  const auto look_at_depth = [&](int depth, json::parse_event_t, const json&) {
    too_deep = too_deep || depth > deepest;
    return !too_deep;
  };
  json campaign;
  try {
    campaign = json::parse(read_regular_file(path).text, look_at_depth, false);
  } catch (const UnreadableFile& error) {
    throw InputError(option + ": cannot read " + path + ": " + error.what());
  }
  if (too_deep)
    throw InputError(option + ": " + path + " is nested deeper than " + std::to_string(deepest) + " levels");
  if (!campaign.is_object()) throw InputError(option + ": " + path + " does not hold a JSON object");
  return campaign;
}

CLI::Validator number_between(double least, double most) {
  return {[=](const std::string& text) {
            const auto number = number_from<double>(text);
            if (number && *number >= least && *number <= most) return std::string();
            return fmt::format("'{}' is no number from {:g} to {:g}", text, least, most);
          },
          fmt::format("{:g} to {:g}", least, most)};
}

CLI::Validator unsigned_integer() {
  return {[](const std::string& text) {
            if (number_from<std::uint64_t>(text)) return std::string();
            return "'" + text + "' is not an integer from 0 to " + std::to_string(UINT64_MAX);
          },
          "INTEGER"};
}

CLI::Validator not_empty(const std::string& expected) {
  return {[expected](const std::string& text) { return text.empty() ? "is empty; expected " + expected : ""; }, ""};
}

}  // namespace fourscore::bench
