#pragma once
// What the measuring programs share of reading a command line and of leaving.

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace CLI {
class App;
class Validator;
}  // namespace CLI

namespace fourscore::bench {

/// The program must end now, on purpose: text for stdout or stderr (printed by one rank) and the exit code.
struct Exit {
  int code = 0;
  std::string text;
};

/// The launcher's word for this process's rank, or null without a launcher: before MPI_Init nothing else says it.
[[nodiscard]] const char* launched_rank();
/// Ranks whose launcher was killed would go on for ever, and spoil the next measurement.
void die_with_the_launcher();
/// After MPI_Init: creates the file where rank 0 is asked to by --started. Who launched the program knows by it that
/// the launcher did its part. A file that cannot be created is as a launch that failed: something outside is at fault.
void announce_start(const std::string& file);
/// Before MPI_Init: only the launcher's rank 0 prints.
void print_once(std::FILE* stream, const std::string& text);
/// Beyond a limit on the size of files a write then is an error that can be reported, not the end of the program.
void survive_full_files();
/// The exit code of a program that prints no more: `code`, or, after a message, 3 in place of 0 where standard output
/// took not all that was written.
[[nodiscard]] int end_output(int code, const std::string& program);

struct NamedFile {
  std::string option;
  std::filesystem::path file;  ///< empty: the option was not given
};
/// Throws InputError where two options name one file.
void require_different(const std::vector<NamedFile>& files);

/// The campaign of a record from a file that holds a JSON object; null for an empty path. Throws InputError that names
/// the option.
[[nodiscard]] nlohmann::json read_campaign(const std::string& path, const std::string& option);

/// Checks of an option's text. CLI11's own for numbers let NaN and infinity pass, and wrap a negative number that is
/// read as an unsigned one.
[[nodiscard]] CLI::Validator number_between(double least, double most);
[[nodiscard]] CLI::Validator unsigned_integer();
[[nodiscard]] CLI::Validator not_empty(const std::string& expected = "a file");

}  // namespace fourscore::bench
