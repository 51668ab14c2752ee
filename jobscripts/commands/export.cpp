// fourscore export: records in the formats of other tools.

#include "results/export.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>

#include "core/problem.hpp"
#include "jobscripts/commands/campaigns.hpp"
#include "jobscripts/commands/command.hpp"
#include "jobscripts/paths.hpp"
#include "results/chrome_trace.hpp"

namespace fourscore {
namespace {

using nlohmann::json;

struct ExportOptions {
  std::string archive;
  std::string format;
  std::vector<std::string> campaigns;
  std::vector<std::string> records;
  std::string output;
};

namespace fs = std::filesystem;

/// A record is named by its file, in the archive or anywhere, or by that file's name with or without ".json".
bool is_called(const fs::path& file, const Archive& archive, const std::string& wanted) {
  return archive.name_of(file) == wanted || file.filename() == wanted || file.stem() == wanted;
}

/// Throws InputError for a name in --record that no file has.
std::vector<fs::path> chosen_files(const Archive& archive, const ExportOptions& options) {
  std::vector<fs::path> files;
  std::vector<std::string> in_archive;
  for (const std::string& name : options.records) {
    if (fs::is_regular_file(name))
      files.emplace_back(name);
    else
      in_archive.push_back(name);
  }
  if (in_archive.empty() && !options.records.empty()) return files;
  archive.require();
  std::vector<fs::path> all;
  for (const auto& campaign : chosen_campaigns(archive, options.campaigns))
    for (auto& file : archive.record_files(campaign)) all.push_back(std::move(file));
  if (options.records.empty()) return all;
  for (const std::string& name : in_archive) {
    const std::size_t before = files.size();
    for (const auto& file : all)
      if (is_called(file, archive, name)) files.push_back(file);
    if (files.size() == before)
      throw InputError(fmt::format("no record '{}': neither a file nor a record of {}", name, archive.root().string()));
  }
  return files;
}

json trace_of(const std::vector<json>& records, std::size_t without) {
  if (records.empty())
    throw InputError(
        fmt::format("none of {} records has a timeline; measure with `timeline = true` in the suite, or with "
                    "`fft_bench --timeline`",
                    without));
  return chrome_trace(records);
}

int write_export(const ExportOptions& options, std::ostream& out) {
  const Archive archive(fs::absolute(archive_folder(options.archive)));
  std::vector<json> records;
  std::optional<CsvExport> csv;
  if (options.format == "csv") csv.emplace(out);
  std::size_t unreadable = 0;
  std::size_t without_timeline = 0;
  for (const auto& file : chosen_files(archive, options)) {
    try {
      json record = read_record(file);
      if (csv)
        csv->add(record, archive.name_of(file));
      else if (options.format == "jsonl")
        out << record.dump(-1, ' ', false, json::error_handler_t::replace) << '\n';
      else if (options.format == "benchmark" || record.contains("timeline"))
        records.push_back(std::move(record));
      else
        ++without_timeline;
    } catch (const UnreadableRecord& error) {
      fmt::print(stderr, "unreadable: {}: {}\n", archive.name_of(file), error.what());
      ++unreadable;
    }
  }
  if (options.format == "benchmark")
    out << benchmark_export(records, "fft_bench").dump(2, ' ', false, json::error_handler_t::replace) << '\n';
  if (options.format == "chrome-trace")
    out << trace_of(records, without_timeline).dump(-1, ' ', false, json::error_handler_t::replace) << '\n';
  out.flush();
  if (!out)
    throw EnvironmentError(fmt::format(
        "cannot write {}: {}", options.output.empty() ? "standard output" : options.output, std::strerror(errno)));
  if (unreadable > 0) fmt::print(stderr, "{} unreadable records were left out\n", unreadable);
  return exit_done;
}

int export_records(const ExportOptions& options) {
  if (options.output.empty() || options.output == "-") return write_export(options, std::cout);
  std::ofstream file(options.output, std::ios::binary);
  if (!file) throw EnvironmentError(fmt::format("cannot write {}: {}", options.output, std::strerror(errno)));
  return write_export(options, file);
}

Command export_command() {
  return {
      "export", "Write records as CSV, JSON lines, Google-Benchmark JSON or timelines for Perfetto",
      "  fourscore export --format csv -o samples.csv\n"
      "  fourscore export --format jsonl --campaign strong-1a2b3c4d | jq .point\n"
      "  fourscore export --format benchmark --campaign before -o before.json   # then: compare.py benchmarks "
      "before.json after.json\n"
      "  fourscore export --format chrome-trace --record out.json -o trace.json   # open it at ui.perfetto.dev\n",
      60, [](CLI::App& app) -> std::function<int()> {
        auto options = std::make_shared<ExportOptions>();
        app.add_option("--format", options->format,
                       "csv (a line per sample, also of each benchmark of a component), jsonl (a record per line), "
                       "benchmark, or chrome-trace (timelines)")
            ->required()
            ->check(CLI::IsMember({"csv", "jsonl", "benchmark", "chrome-trace"}));
        app.add_option("--campaign", options->campaigns, "campaigns to write (default: all)")->type_name("NAME");
        app.add_option("--record", options->records,
                       "records to write: files, or names of files of the archive (default: all)")
            ->type_name("FILE");
        app.add_option("-o,--output", options->output, "file to write (default: standard output)")->type_name("FILE");
        add_archive_option(app, options->archive);
        return [options] { return export_records(*options); };
      }};
}

FOURSCORE_REGISTER_COMMAND(export_command);

}  // namespace
}  // namespace fourscore
