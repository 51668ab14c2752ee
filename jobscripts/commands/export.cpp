// fourscore export: records in the formats of other tools.

#include "results/export.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <optional>

#include "jobscripts/commands/campaigns.hpp"
#include "jobscripts/commands/command.hpp"
#include "jobscripts/paths.hpp"

namespace fourscore {
namespace {

using nlohmann::json;

struct ExportOptions {
  std::string archive;
  std::string format;
  std::vector<std::string> campaigns;
  std::string output;
};

int write_export(const ExportOptions& options, std::ostream& out) {
  const Archive archive = open_archive(options.archive);
  std::vector<json> records;
  std::optional<CsvExport> csv;
  if (options.format == "csv") csv.emplace(out);
  std::size_t unreadable = 0;
  for (const auto& campaign : chosen_campaigns(archive, options.campaigns))
    for (const auto& file : archive.record_files(campaign)) {
      try {
        json record = read_record(file);
        if (csv)
          csv->add(record, archive.name_of(file));
        else if (options.format == "jsonl")
          out << record.dump(-1, ' ', false, json::error_handler_t::replace) << '\n';
        else
          records.push_back(std::move(record));
      } catch (const UnreadableRecord& error) {
        fmt::print(stderr, "unreadable: {}: {}\n", archive.name_of(file), error.what());
        ++unreadable;
      }
    }
  if (options.format == "benchmark")
    out << benchmark_export(records, "fft_bench").dump(2, ' ', false, json::error_handler_t::replace) << '\n';
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
      "export", "Write records as CSV, JSON lines or Google-Benchmark JSON",
      "  fourscore export --format csv -o samples.csv\n"
      "  fourscore export --format jsonl --campaign strong-1a2b3c4d | jq .point\n"
      "  fourscore export --format benchmark --campaign before -o before.json   # then: compare.py benchmarks "
      "before.json after.json\n",
      60, [](CLI::App& app) -> std::function<int()> {
        auto options = std::make_shared<ExportOptions>();
        app.add_option("--format", options->format, "csv (a line per sample), jsonl (a record per line) or benchmark")
            ->required()
            ->check(CLI::IsMember({"csv", "jsonl", "benchmark"}));
        app.add_option("--campaign", options->campaigns, "campaigns to write (default: all)")->type_name("NAME");
        app.add_option("-o,--output", options->output, "file to write (default: standard output)")->type_name("FILE");
        add_archive_option(app, options->archive);
        return [options] { return export_records(*options); };
      }};
}

FOURSCORE_REGISTER_COMMAND(export_command);

}  // namespace
}  // namespace fourscore
