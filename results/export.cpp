#include "results/export.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <ostream>

#include "core/phase.hpp"
#include "core/point_keys.hpp"
#include "core/statistics.hpp"
#include "core/text.hpp"
#include "results/index_columns.hpp"

namespace fourscore {
using nlohmann::json;

namespace {

bool is_number(std::string_view text) {
  return number_from<double>(text.starts_with('+') ? text.substr(1) : text).has_value();
}

/// A spreadsheet takes a cell that begins so for a formula, and runs it. An apostrophe before it makes it text.
std::string defused(const std::string& text) {
  if (text.empty() || std::string_view("=+-@\t\r").find(text.front()) == std::string_view::npos || is_number(text))
    return text;
  return "'" + text;
}

std::string shown(const IndexValue& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  if (const auto* real = std::get_if<double>(&value)) return json(*real).dump();
  if (const auto* string = std::get_if<std::string>(&value)) return csv_cell(*string);
  return {};
}

/// The machine, as Google Benchmark describes it; nothing where the record does not know it.
void describe_machine(const json& record, json& context) {
  const json machine = record.value("/provenance/identity/machine"_json_pointer, json::object());
  if (context.contains("num_cpus") || !machine.contains("cores")) return;
  context["num_cpus"] = machine["cores"];
  context["mhz_per_cpu"] =
      static_cast<int>(std::clamp(record.value("/provenance/volatile/cpu_mhz"_json_pointer, 0.0), 0.0, 1e6));
  const std::string governor = record.value("/provenance/volatile/governor"_json_pointer, "");
  if (!governor.empty()) context["cpu_scaling_enabled"] = governor != "performance";
  const std::string build = record.value("/provenance/identity/code/build_type"_json_pointer, "");
  context["library_build_type"] = build == "Debug" ? "debug" : "release";
  context["date"] = record.value("/provenance/volatile/started_at"_json_pointer, "");
  const json hosts = record.value("/provenance/volatile/hosts"_json_pointer, json::array());
  context["host_name"] = hosts.empty() ? json("") : hosts.front();
  context["load_avg"] = json::array({record.value("/provenance/volatile/load_1min"_json_pointer, 0.0)});
  context["caches"] = json::array();
  for (const auto& cache : machine.value("caches", json::array()))
    context["caches"].push_back({{"type", "Unified"},
                                 {"level", cache.value("level", 0)},
                                 {"size", cache.value("bytes", 0LL)},
                                 {"num_sharing", cache.value("shared_by", 1)}});
}

/// The launches of one benchmark.
struct Runs {
  std::size_t threads = 1;
  std::vector<json> entries;  ///< what differs from launch to launch
};

/// Without a time: readers of the format take 0 for one.
json failure(const json& record) {
  const json verdict = record.value("verdict", json::object());
  return {{"error_occurred", true},
          {"error_message", fmt::format("{}: {}", verdict.value("status", "?"), verdict.value("reason", ""))}};
}

/// A name that no other launch has. compare.py, which knows no errors, would take the entry for a time beside others of
/// its name.
std::string failure_name(const json& record, const std::string& name) {
  return fmt::format("{}/{}:{}", name, record.value("/verdict/status"_json_pointer, "?"),
                     record.value("record_id", "?").substr(0, 12));
}

/// The median wall time of the slowest rank over the repetitions of a launch; processor time is not measured, and tools
/// expect the key.
json timed(double seconds, const json& iterations) {
  return {{"real_time", seconds * 1e9}, {"cpu_time", seconds * 1e9}, {"iterations", iterations}};
}

void add_launch(const json& record, Runs& runs) {
  const auto times = record.at("samples").at("time_s").get<std::vector<double>>();
  if (times.empty()) return;
  const double seconds = median(times);
  json entry = timed(seconds, times.size());
  const json instances = record.value("/samples/instance_time_s"_json_pointer, json::array());
  for (std::size_t k = 0; k < instances.size(); ++k)
    if (const auto of_instance = instances[k].get<std::vector<double>>(); !of_instance.empty())
      entry[fmt::format("instance_{}_s", k + 1)] = median(of_instance);
  if (record.contains("credited_flops"))
    entry["flops_per_second"] = record.at("credited_flops").get<double>() / seconds;
  runs.entries.push_back(std::move(entry));
}

void add_component_launch(const json& benchmark, Runs& runs) {
  const json numbers = benchmark.value("numbers", json::object());
  const auto times = benchmark.at("time_s").get<std::vector<double>>();
  if (times.empty()) return;
  const double seconds = median(times);
  json entry = timed(seconds, benchmark.value("iterations", json(1)));
  if (numbers.contains("bytes")) entry["bytes_per_second"] = numbers["bytes"].get<double>() / seconds;
  if (numbers.contains("flops")) entry["flops_per_second"] = numbers["flops"].get<double>() / seconds;
  if (benchmark.value("emulated", false)) entry["label"] = "emulated";
  runs.entries.push_back(std::move(entry));
}

const std::string no_phases(phase_count, ',');

/// The phases of the rank that took longest in each repetition, as cells with a comma before each.
class SlowestPhases {
 public:
  explicit SlowestPhases(const json& record)
      : totals_(record.value("/samples/rank_total_s"_json_pointer, json::array())),
        phases_(record.value("/samples/rank_phase_s"_json_pointer, json::object())) {}

  [[nodiscard]] std::string cells(std::size_t repetition) const {
    const std::optional<std::size_t> rank = slowest(repetition);
    if (!rank) return no_phases;
    std::string text;
    for (const std::string_view name : phase_names) {
      text += ',';
      const auto found = phases_.find(name);
      if (found == phases_.end() || *rank >= found->size() || repetition >= (*found)[*rank].size()) continue;
      text += (*found)[*rank][repetition].dump();
    }
    return text;
  }

 private:
  /// Nothing where the record has no times of ranks.
  [[nodiscard]] std::optional<std::size_t> slowest(std::size_t repetition) const {
    std::optional<std::size_t> found;
    for (std::size_t rank = 0; rank < totals_.size(); ++rank) {
      if (repetition >= totals_[rank].size()) return std::nullopt;
      if (!found || totals_[rank][repetition].get<double>() > totals_[*found][repetition].get<double>()) found = rank;
    }
    return found;
  }

  json totals_, phases_;
};

}  // namespace

std::string csv_cell(const std::string& value) {
  const std::string text = defused(value);
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + "\"";
}

CsvExport::CsvExport(std::ostream& out) : out_(out) {
  out_ << fmt::format("{},repetition,time_s,instance_time_s,benchmark,kernel,labels,numbers,iterations,{}_s\n",
                      fmt::join(index_columns(), ","), fmt::join(phase_names, "_s,"));
}

void CsvExport::add(const json& record, const std::string& name) {
  std::string line;
  for (const auto& value : index_row(record, name)) line += shown(value) + ',';
  const json benchmarks = record.value("benchmarks", json::array());
  for (const auto& benchmark : benchmarks) add_benchmark(line, benchmark);
  if (!benchmarks.empty()) return;
  const json times = record.value("/samples/time_s"_json_pointer, json::array());
  const json instances = record.value("/samples/instance_time_s"_json_pointer, json::array());
  if (times.empty()) out_ << line << ",,,,,,," << no_phases << '\n';
  const SlowestPhases phases(record);
  for (std::size_t repetition = 0; repetition < times.size(); ++repetition) {
    out_ << line << repetition << ',' << times[repetition].dump() << ',';
    for (std::size_t i = 0; i < instances.size(); ++i)
      out_ << (i == 0 ? "" : ";") << (repetition < instances[i].size() ? instances[i][repetition].dump() : "");
    out_ << ",,,,," << phases.cells(repetition) << '\n';
  }
}

void CsvExport::add_benchmark(const std::string& line, const json& benchmark) {
  const std::string rest = fmt::format(
      "{},{},{},{},{}", csv_cell(benchmark.value("name", "")), csv_cell(benchmark.value("kernel", "")),
      csv_cell(benchmark.value("labels", json::object()).dump()),
      csv_cell(benchmark.value("numbers", json::object()).dump()), benchmark.value("iterations", json()).dump());
  std::size_t repetition = 0;
  for (const auto& time : benchmark.at("time_s"))
    out_ << line << repetition++ << ',' << time.dump() << ",," << rest << no_phases << '\n';
}

std::string benchmark_name(const json& point) {
  std::string name;
  for (const PointKey& key : point.contains("component") ? component_keys() : point_keys()) {
    const std::string value = point_value(point, key.name);
    // So that a point on one node keeps the name that it had before there were others.
    if (key.derived || (key.of_launch && !key.required && value == key.get({}))) continue;
    if (key.labelled && value.empty()) continue;
    if (!name.empty()) name += '/';
    name += key.labelled ? fmt::format("{}:{}", key.name, value) : value.empty() ? "?" : value;
  }
  const json parameters = point.value("parameters", json::object());
  for (const auto& [key, value] : parameters.items())
    name += fmt::format("/{}:{}", key, value.is_string() ? value.get<std::string>() : value.dump());
  return name;
}

json benchmark_export(const std::vector<json>& records, const std::string& executable) {
  json context{{"executable", executable}, {"json_schema_version", 1}};
  std::map<std::string, Runs> by_name;
  const auto runs_of = [&](const json& record, const std::string& name) -> Runs& {
    Runs& runs = by_name[name];
    runs.threads = record.at("point").value("ranks", std::size_t{1});
    return runs;
  };
  for (const auto& record : records) {
    describe_machine(record, context);
    const std::string name = benchmark_name(record.at("point"));
    if (record.contains("benchmarks"))
      for (const auto& benchmark : record["benchmarks"])
        add_component_launch(benchmark, runs_of(record, name + "/" + benchmark.value("name", "?")));
    else if (record.contains("samples") && record.value("/verdict/status"_json_pointer, "ok") == "ok")
      add_launch(record, runs_of(record, name));
    else
      runs_of(record, failure_name(record, name)).entries.push_back(failure(record));
  }
  json benchmarks = json::array();
  std::size_t family = 0;
  for (const auto& [name, runs] : by_name) {
    std::size_t repetition = 0;
    for (const json& run : runs.entries) {
      json entry{{"name", name},
                 {"family_index", family},
                 {"per_family_instance_index", 0},
                 {"run_name", name},
                 {"run_type", "iteration"},
                 {"repetitions", runs.entries.size()},
                 {"repetition_index", repetition++},
                 {"threads", runs.threads},
                 {"time_unit", "ns"}};
      entry.update(run);
      benchmarks.push_back(std::move(entry));
    }
    ++family;
  }
  return {{"context", context}, {"benchmarks", benchmarks}};
}

}  // namespace fourscore
