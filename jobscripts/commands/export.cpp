// fourscore export: records in the formats of other tools.

#include "results/export.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "core/path_kind.hpp"
#include "core/problem.hpp"
#include "jobscripts/commands/campaigns.hpp"
#include "jobscripts/commands/command.hpp"
#include "jobscripts/machines/archive_folder.hpp"
#include "results/chrome_trace.hpp"
#include "results/extra_p.hpp"
#include "results/otava_csv.hpp"
#include "results/output_file.hpp"
#include "results/printable.hpp"
#include "results/record_file.hpp"

namespace fourscore {
namespace {

using nlohmann::json;

struct ExportOptions {
  std::string archive;
  std::string format;
  std::vector<std::string> campaigns;
  std::vector<std::string> records;
  std::string output;
  bool json = false;
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
    if (names_file(name))
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

/// What was written, for --json.
struct Written {
  std::size_t records = 0;
  json unreadable = json::array();
  json left_out = json::array();
};

/// Writes one record after the other, or collects those that one document holds.
class Exporter {
 public:
  Exporter(const ExportOptions& options, const Archive& archive, std::ostream& out)
      : options_(options), archive_(archive), out_(out) {
    if (options.format == "csv") csv_.emplace(out);
    if (options.format == "extra-p") extra_p_.emplace();
    if (options.format == "otava-csv") otava_.emplace();
  }

  void add(const fs::path& file) {
    json record = read_record(file);
    if (csv_)
      csv_->add(record, archive_.name_of(file));
    else if (extra_p_ || otava_) {
      if (!(extra_p_ ? extra_p_->add(record) : otava_->add(record))) {
        ++without_;
        return;
      }
    } else if (options_.format == "jsonl")
      out_ << stored_line(std::move(record));
    else if (options_.format == "benchmark" || record.contains("timeline"))
      collected_.push_back(std::move(record));
    else {
      ++without_;
      return;
    }
    ++records_;
  }

  /// How many records were written.
  std::size_t finish() {
    if (options_.format == "benchmark") write(benchmark_export(collected_, "fft_bench"), 2);
    if (options_.format == "chrome-trace") write(trace_of(collected_, without_), -1);
    if ((extra_p_ || otava_) && records_ == 0)
      throw InputError(fmt::format("none of {} records is of a transform and has a time", without_));
    if (extra_p_) finish_extra_p();
    if (otava_) finish_otava();
    return records_;
  }

  /// What records hold and the file does not, a sentence each.
  [[nodiscard]] const std::vector<std::string>& left_out() const { return left_out_; }

 private:
  void finish_extra_p() {
    if (extra_p_->write(out_) == 0)
      throw InputError(fmt::format("none of {} records has a time that is positive", records_));
    left_out_ = extra_p_->left_out();
    for (const std::string& sentence : left_out_) fmt::print(stderr, "{}\n", printable(sentence));
  }

  void finish_otava() {
    otava_->write(out_);
    const auto incomplete = otava_->incomplete();
    if (!incomplete.empty())
      fmt::print(stderr, "{} series lack a time of some build, and Otava reads no empty cell; the first: {}\n",
                 incomplete.size(), printable(incomplete.front()));
  }

  void write(const json& content, int indent) {
    out_ << content.dump(indent, ' ', false, json::error_handler_t::replace) << '\n';
  }

  const ExportOptions& options_;
  const Archive& archive_;
  std::ostream& out_;
  std::optional<CsvExport> csv_;
  std::optional<ExtraPExport> extra_p_;
  std::optional<OtavaCsv> otava_;
  std::vector<json> collected_;
  std::size_t records_ = 0;
  std::vector<std::string> left_out_;
  std::size_t without_ = 0;  ///< records that lack what the format is of
};

Written write_export(const ExportOptions& options, const Archive& archive, const std::vector<fs::path>& files,
                     std::ostream& out) {
  Written written;
  Exporter exporter(options, archive, out);
  for (const auto& file : files) {
    try {
      exporter.add(file);
    } catch (const UnreadableRecord& error) {
      const std::string name = archive.name_of(file);
      fmt::print(stderr, "unreadable: {}: {}\n", printable(name), printable(error.what()));
      written.unreadable.push_back({{"file", name}, {"reason", error.what()}});
    }
  }
  written.records = exporter.finish();
  written.left_out = exporter.left_out();
  return written;
}

int export_records(const ExportOptions& options) {
  const bool to_screen = options.output.empty() || options.output == "-";
  if (options.json && to_screen)
    throw InputError("--json tells what was written to a file, and here the export itself is printed; add -o FILE");
  const Archive archive(fs::absolute(archive_folder(options.archive)));
  const auto files = chosen_files(archive, options);
  check_output(options.output, archive.root(), files);
  OutputFile output(options.output);
  const Written written = write_export(options, archive, files, output.stream());
  output.commit();
  if (!written.unreadable.empty())
    fmt::print(stderr, "{} unreadable records were left out\n", written.unreadable.size());
  if (options.json)
    print_json({{"format", options.format},
                {"output", fs::absolute(options.output).string()},
                {"records", written.records},
                {"left_out", written.left_out},
                {"unreadable", written.unreadable}});
  return exit_done;
}

Command export_command() {
  return {
      "export", "Write records as CSV, JSON lines, or for Google Benchmark, Perfetto, Otava or Extra-P",
      "  fourscore export --format csv -o samples.csv\n"
      "  fourscore export --format jsonl --campaign strong-1a2b3c4d | jq .point\n"
      "  fourscore export --format benchmark --campaign before -o before.json   # for Google Benchmark's compare.py\n"
      "  fourscore export --format chrome-trace --record out.json -o trace.json   # open it at ui.perfetto.dev\n",
      60, with_options<ExportOptions>(export_records, [](CLI::App& app, ExportOptions& options) {
        app.add_option("--format", options.format,
                       "csv (a line per sample, also of each benchmark of a component), jsonl (a record per line), "
                       "benchmark, chrome-trace (timelines), otava-csv (a row per build, a column per series), or\n"
                       "extra-p (JSON lines: total and phases over ranks and elements)")
            ->required()
            ->check(CLI::IsMember({"csv", "jsonl", "benchmark", "chrome-trace", "otava-csv", "extra-p"}));
        app.add_option("--campaign", options.campaigns, "campaigns to write (default: all)")->type_name("NAME");
        app.add_option("--record", options.records,
                       "records to write: files, or names of files of the archive (default: all)")
            ->type_name("FILE");
        app.add_option("-o,--output", options.output, "file to write, whole or not at all (default: standard output)")
            ->type_name("FILE");
        app.add_flag("--json", options.json, "print as JSON what was written; wants -o FILE");
        add_archive_option(app, options.archive);
      })};
}

FOURSCORE_REGISTER_COMMAND(export_command);

}  // namespace
}  // namespace fourscore
