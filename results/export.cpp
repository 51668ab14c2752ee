#include "results/export.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <ostream>

#include "results/index.hpp"

namespace fourscore {
using nlohmann::json;

namespace {

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + "\"";
}

std::string shown(const IndexValue& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  if (const auto* real = std::get_if<double>(&value)) return json(*real).dump();
  if (const auto* string = std::get_if<std::string>(&value)) return quoted(*string);
  return {};
}

std::string joined(const json& values) {
  if (!values.is_array()) return values.is_string() ? values.get<std::string>() : values.dump();
  std::vector<std::string> parts;
  for (const auto& value : values) parts.push_back(value.dump());
  return fmt::format("{}", fmt::join(parts, "x"));
}

}  // namespace

CsvExport::CsvExport(std::ostream& out) : out_(out) {
  out_ << fmt::format("{},repetition,time_s,instance_time_s\n", fmt::join(index_columns(), ","));
}

void CsvExport::add(const json& record, const std::string& name) {
  std::string line;
  for (const auto& value : index_row(record, name)) line += shown(value) + ',';
  const json times = record.value("/samples/time_s"_json_pointer, json::array());
  const json instances = record.value("/samples/instance_time_s"_json_pointer, json::array());
  if (times.empty()) out_ << line << ",,\n";
  for (std::size_t repetition = 0; repetition < times.size(); ++repetition) {
    out_ << line << repetition << ',' << times[repetition].dump() << ',';
    for (std::size_t i = 0; i < instances.size(); ++i)
      out_ << (i == 0 ? "" : ";") << instances[i].at(repetition).dump();
    out_ << '\n';
  }
}

std::string benchmark_name(const json& point) {
  const json contract = point.value("contract", json::object());
  std::string name =
      fmt::format("{}/{}/{}/{}/{}/{}/{}/ranks:{}/grid:{}/threads:{}/instances:{}/placement:{}/{}/{}/{}",
                  point.value("variant", "?"), point.value("exchange", "?"), point.value("local_fft", "?"),
                  joined(point.value("shape", json::array())), point.value("precision", "?"), point.value("kind", "?"),
                  point.value("direction", "?"), point.value("ranks", 0), joined(point.value("grid", json("auto"))),
                  point.value("threads", 1), point.value("instances", 1), point.value("placement", "all"),
                  contract.value("layout", "?"), contract.value("buffers", "?"), contract.value("planner", "?"));
  const json parameters = point.value("parameters", json::object());
  for (const auto& [key, value] : parameters.items())
    name += fmt::format("/{}:{}", key, value.is_string() ? value.get<std::string>() : value.dump());
  return name;
}

json benchmark_export(const std::vector<json>& records, const std::string& executable) {
  json context{{"executable", executable}, {"json_schema_version", 1}};
  std::map<std::string, std::vector<const json*>> by_name;
  for (const auto& record : records) {
    by_name[benchmark_name(record.at("point"))].push_back(&record);
    const json machine = record.value("/provenance/identity/machine"_json_pointer, json::object());
    if (context.contains("num_cpus") || !machine.contains("cores")) continue;
    context["num_cpus"] = machine["cores"];
    context["mhz_per_cpu"] = static_cast<int>(record.value("/provenance/volatile/cpu_mhz"_json_pointer, 0.0));
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
  json benchmarks = json::array();
  std::size_t family = 0;
  for (const auto& [name, launches] : by_name) {
    std::size_t repetitions = 0;
    for (const json* record : launches)
      repetitions += record->value("/samples/time_s"_json_pointer, json::array()).size();
    std::size_t repetition = 0;
    for (const json* record : launches) {
      const json point = record->at("point");
      json entry{{"name", name},
                 {"family_index", family},
                 {"per_family_instance_index", 0},
                 {"run_name", name},
                 {"run_type", "iteration"},
                 {"repetitions", std::max<std::size_t>(repetitions, 1)},
                 {"iterations", 1},
                 {"threads", point.value("ranks", 1)},
                 {"time_unit", "ns"}};
      const json times = record->value("/samples/time_s"_json_pointer, json::array());
      if (times.empty()) {
        const json verdict = record->value("verdict", json::object());
        entry["repetition_index"] = 0;
        entry["error_occurred"] = true;
        entry["error_message"] = fmt::format("{}: {}", verdict.value("status", "?"), verdict.value("reason", ""));
        entry["real_time"] = 0.0;
        entry["cpu_time"] = 0.0;
        entry["iterations"] = 0;
        benchmarks.push_back(entry);
      }
      const json instances = record->value("/samples/instance_time_s"_json_pointer, json::array());
      for (std::size_t of_launch = 0; of_launch < times.size(); ++of_launch) {
        const json& time = times[of_launch];
        entry["repetition_index"] = repetition++;
        for (std::size_t i = 0; i < instances.size(); ++i)
          entry[fmt::format("instance_{}_s", i + 1)] = instances[i].at(of_launch);
        // Wall time of the slowest rank; processor time is not measured, and tools expect the key.
        entry["real_time"] = time.get<double>() * 1e9;
        entry["cpu_time"] = time.get<double>() * 1e9;
        if (record->contains("credited_flops"))
          entry["flops_per_second"] = record->at("credited_flops").get<double>() / time.get<double>();
        benchmarks.push_back(entry);
      }
    }
    ++family;
  }
  return {{"context", context}, {"benchmarks", benchmarks}};
}

}  // namespace fourscore
