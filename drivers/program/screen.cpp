#include "program/screen.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <vector>

#include "core/phase.hpp"
#include "core/point_keys.hpp"
#include "core/record.hpp"
#include "core/statistics.hpp"
#include "core/text.hpp"
#include "program/tuning.hpp"

namespace fourscore::bench {
namespace {

using nlohmann::json;

/// Three significant digits, without an exponent.
std::string three_digits(double value) {
  const int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f}", value, decimals);
}

double largest(const json& values) {
  double result = 0;
  for (const json& value : values) result = std::max(result, value.get<double>());
  return result;
}

std::string shape_of(const json& extents) {
  return fmt::format("{}", fmt::join(extents.get<std::vector<long long>>(), "x"));
}

std::string line(const std::string& label, const std::string& text) { return fmt::format("{:<13}{}\n", label, text); }

/// Text longer than a line goes on under its own beginning.
std::string wrapped(const std::string& label, const std::string& text) {
  constexpr std::size_t width = 85;
  std::string result;
  std::size_t begin = 0;
  while (begin < text.size()) {
    std::size_t end = text.size();
    if (end - begin > width) {
      // After a comma rather than between a number and its unit.
      const std::size_t comma = text.rfind(", ", begin + width - 1);
      const std::size_t space =
          comma == std::string::npos || comma <= begin ? text.rfind(' ', begin + width) : comma + 1;
      end = space == std::string::npos || space <= begin ? begin + width : space;
    }
    result += line(begin == 0 ? label : "", text.substr(begin, end - begin));
    begin = end < text.size() && text[end] == ' ' ? end + 1 : end;
  }
  return result;
}

std::string what_ran(const json& record) {
  const json& point = record.at("point");
  const auto value = [&](std::string_view key) { return point_value(point, key); };
  std::string text = line("fft_bench", fmt::format("{} {} {} {} {}, exchange {}, local FFT {}", value("variant"),
                                                   value("shape"), value("precision"), value("kind"),
                                                   value("direction"), value("exchange"), value("local_fft")));
  std::string on = fmt::format("{} rank{}", value("ranks"), value("ranks") == "1" ? "" : "s");
  if (value("threads") != "1") on += fmt::format(" of {} threads", value("threads"));
  if (record.contains("resolved")) {
    const json& resolved = record["resolved"];
    if (!resolved["grid"].empty()) on += ", grid " + shape_of(resolved["grid"]);
    on += fmt::format(", {} to {}", resolved["input"].get<std::string>(), resolved["output"].get<std::string>());
  }
  text += wrapped("", on);
  if (value("instances") != "1")
    text += line("", fmt::format("{} instances, placement {}", value("instances"), value("placement")));
  if (!value("fields").empty()) text += line("", fmt::format("{} fields, {}", value("fields"), value("field_order")));
  const std::string wire = value("wire");
  return text + line("", fmt::format("layout {}, {}, planner {}{}", value("layout"), value("buffers"), value("planner"),
                                     wire.empty() ? "" : ", wire " + wire));
}

/// For several instances, the worst of each check that passes, and all that fail.
std::vector<json> shown_checks(const json& record) {
  std::vector<json> shown;
  for (const json& check : record.at("verification").at("checks")) {
    const std::string name = check.at("name").get<std::string>();
    json entry = check;
    if (check.at("ok").get<bool>()) entry["name"] = name.substr(0, name.find(" of instance "));
    const auto same = std::find_if(shown.begin(), shown.end(), [&](const json& known) {
      return known["name"] == entry["name"] && known["when"] == entry["when"] && known["ok"] == entry["ok"];
    });
    if (same == shown.end())
      shown.push_back(std::move(entry));
    else if (entry.value("error", 0.0) > same->value("error", 0.0))
      *same = std::move(entry);
  }
  return shown;
}

std::string verified(const json& record) {
  std::string text;
  for (const json& check : shown_checks(record)) {
    const bool ok = check.at("ok");
    const std::string name = check.at("name");
    std::string result = ok ? "" : " WRONG";
    if (check.at("tolerance").get<double>() > 0)
      result = fmt::format(" {}{}",
                           check.contains("error") ? fmt::format("{:.1e}", check["error"].get<double>()) : "not finite",
                           ok ? "" : fmt::format(" WRONG (tolerance {:.1e})", check["tolerance"].get<double>()));
    text += (text.empty() ? "" : ", ") + name + result;
  }
  return wrapped("verified", text);
}

std::string times(const json& record) {
  const auto samples = record.at("samples").at("time_s").get<std::vector<double>>();
  const auto [least, most] = std::minmax_element(samples.begin(), samples.end());
  const double middle = median(samples);
  std::string text =
      line("time", fmt::format("median {}   min {}   max {}   ({} runs, {})", seconds_text(middle),
                               seconds_text(*least), seconds_text(*most), samples.size(),
                               record["samples"].at("time_is") == "span" ? "first start to last end" : "longest rank"));
  if (record.at("point").at("ranks") > 1)
    text +=
        line("", fmt::format("the ranks start within {} (median)",
                             seconds_text(median(record["samples"].at("start_skew_s").get<std::vector<double>>()))));
  text += line("", fmt::format("{} GFLOP/s at the median ({} N log2 N, 1e9)",
                               three_digits(record.at("credited_flops").get<double>() / middle / 1e9),
                               record.at("point").at("kind") == "r2c" ? "2.5" : "5"));
  if (record["samples"].contains("forward_s"))
    text += line("", fmt::format("forward through after {} on every rank (median)",
                                 seconds_text(median(record["samples"]["forward_s"].get<std::vector<double>>()))));
  if (record["samples"].contains("instance_time_s")) {
    std::vector<double> middles;
    for (const json& of_instance : record["samples"]["instance_time_s"])
      middles.push_back(median(of_instance.get<std::vector<double>>()));
    const auto [first, last] = std::minmax_element(middles.begin(), middles.end());
    text += line("instances", fmt::format("the first complete after {}, the last after {}", seconds_text(*first),
                                          seconds_text(*last)));
  }
  return text;
}

struct PhaseRow {
  std::optional<double> share_s;  ///< on the slowest rank in the median run
  std::optional<double> max_s;    ///< maximum over ranks, median over the runs: what the component alone is set beside
  std::optional<double> alone_s;
};

/// The run in the middle when they are ordered by time (of an even number the faster of two), and its slowest rank: the
/// phases of one rank in one run add up to its time, medians and maxima taken phase by phase do not.
struct SlowestOfMedianRun {
  explicit SlowestOfMedianRun(const json& samples) {
    const auto times = samples.at("time_s").get<std::vector<double>>();
    std::vector<std::size_t> order(times.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return times[a] < times[b]; });
    run = order[(order.size() - 1) / 2];
    const json& totals = samples.at("rank_total_s");
    for (std::size_t r = 1; r < totals.size(); ++r)
      if (totals[r][run].get<double>() > totals[rank][run].get<double>()) rank = r;
    total_s = totals[rank][run].get<double>();
  }
  std::size_t run = 0, rank = 0;
  double total_s = 0;
};

double median_of_maxima(const json& ranks) {
  std::vector<double> maxima = ranks.front().get<std::vector<double>>();
  for (const json& rank : ranks)
    for (std::size_t i = 0; i < maxima.size(); ++i) maxima[i] = std::max(maxima[i], rank[i].get<double>());
  return median(std::move(maxima));
}

std::map<std::string, PhaseRow> phase_rows(const json& record, const SlowestOfMedianRun& shown) {
  std::map<std::string, PhaseRow> rows;
  const json& samples = record.at("samples");
  if (samples.contains("rank_phase_s"))
    for (const auto& [phase, ranks] : samples["rank_phase_s"].items()) {
      rows[phase].share_s = ranks[shown.rank][shown.run].get<double>();
      rows[phase].max_s = median_of_maxima(ranks);
    }
  if (record.contains("isolated"))
    for (const json& component : record["isolated"]) {
      auto& alone_s = rows[component.at("phase").get<std::string>()].alone_s;
      alone_s = alone_s.value_or(0) + median(component.at("time_s").get<std::vector<double>>());
    }
  return rows;
}

std::string seconds_or_dash(const std::optional<double>& seconds) { return seconds ? seconds_text(*seconds) : "-"; }

std::string phases(const json& record) {
  const SlowestOfMedianRun shown(record.at("samples"));
  const auto rows = phase_rows(record, shown);
  if (rows.empty()) return {};
  const bool isolated = record.contains("isolated");
  std::string text = fmt::format("{:<13}{:<10}{:>12}{:>8}", "phases", "", "slowest rank", "share");
  text += isolated ? fmt::format("{:>12}{:>12}{:>14}\n", "maximum", "alone", "max/alone") : "\n";
  for (const std::string_view phase : phase_names) {
    const auto it = rows.find(std::string(phase));
    if (it == rows.end()) continue;
    const auto& [share_s, max_s, alone_s] = it->second;
    text += fmt::format("{:<13}{:<10}{:>12}{:>8}", "", phase, seconds_or_dash(share_s),
                        share_s ? fmt::format("{:.1f} %", 100 * *share_s / shown.total_s) : "-");
    if (isolated)
      text += fmt::format("{:>12}{:>12}{:>14}", seconds_or_dash(max_s), seconds_or_dash(alone_s),
                          max_s && alone_s && *alone_s > 0 ? three_digits(*max_s / *alone_s) : "-");
    text += "\n";
  }
  return text;
}

std::string movement(const json& record) {
  const json& cost = record.at("cost");
  const double messages = largest(cost["messages_per_rank"]);
  std::string text = fmt::format("{} in {} sent by the busiest rank", bytes_text(largest(cost["bytes_sent_per_rank"])),
                                 plural(messages, "message"));
  const double shared = largest(cost["bytes_read_shared_per_rank"]);
  if (const double control = largest(cost["control_messages_per_rank"]); control > 0)
    text += fmt::format(", {} more without payload", control);
  if (shared > 0) text += fmt::format(", {} read from shared memory", bytes_text(shared));
  const json& memory = record.at("memory");
  std::string memory_text = fmt::format("{} times the local data of {}", three_digits(memory["ratio"].get<double>()),
                                        bytes_text(largest(memory["local_data_bytes"])));
  if (memory.contains("peak_rss_bytes"))
    memory_text += fmt::format("; {} resident at most", bytes_text(largest(memory["peak_rss_bytes"])));
  if (memory.contains("huge_bytes") && largest(memory["huge_bytes"]) > 0)
    memory_text += fmt::format(", {} in huge pages", bytes_text(largest(memory["huge_bytes"])));
  return wrapped("exchange", text) + wrapped("memory", memory_text);
}

std::string timeline(const json& record) {
  std::size_t events = 0, dropped = 0;
  double end_s = 0;
  const json& traced = record.at("timeline");
  for (const json& lane : traced.at("lanes")) {
    events += lane.at("phase").size();
    dropped += lane.at("dropped").get<std::size_t>();
  }
  for (const json& end : traced.at("rank_end_s")) end_s = std::max(end_s, end.get<double>());
  std::string text = fmt::format("{} events on {} lanes in a run of {}, not among the {} samples", events,
                                 traced["lanes"].size(), seconds_text(end_s), record.at("samples")["time_s"].size());
  if (dropped > 0) text += fmt::format(", {} more were dropped", dropped);
  return wrapped("timeline", text);
}

/// The most of any reader, or nothing where none could count.
std::optional<double> max_of(const json& values, const char* metric) {
  std::optional<double> most;
  if (!values.contains(metric)) return most;
  for (const json& value : values[metric])
    if (value.is_number()) most = std::max(most.value_or(0.0), value.get<double>());
  return most;
}

std::string bytes_or_dash(const std::optional<double>& bytes) { return bytes ? bytes_text(*bytes) : "-"; }

/// Read, written, together, the minimum bytes, and how many times that.
std::string traffic_row(const std::string& name, const json& values, const std::optional<double>& minimum) {
  const auto read = max_of(values, "dram_read_bytes");
  const auto written = max_of(values, "dram_write_bytes");
  auto all = max_of(values, "dram_bytes");
  if (!all && read && written) all = *read + *written;
  return fmt::format("{:<13}{:<10}{:>12}{:>12}{:>12}{:>12}{:>11}\n", "", name, bytes_or_dash(read),
                     bytes_or_dash(written), bytes_or_dash(all), bytes_or_dash(minimum),
                     all && minimum && *minimum > 0 ? three_digits(*all / *minimum) : "-");
}

/// All readers and all that takes energy together; "-" where a reader could not count.
std::string joules_of(const json& counters, const char* which) {
  double sum = 0;
  for (const json& metric : counters.at("metrics")) {
    const json values = counters.at(which).value(metric.at("name").get<std::string>(), json::array());
    if (metric.at("unit") != "J" || std::ranges::all_of(values, &json::is_null)) continue;
    for (const json& value : values) {
      if (value.is_null()) return "-";
      sum += value.get<double>();
    }
  }
  return sum > 0 ? fmt::format("{:.3g}", sum) : "-";
}

std::string energy(const json& record) {
  const json& counters = record.at("counters");
  const auto is_energy = [](const json& metric) { return metric.at("unit") == "J"; };
  if (std::ranges::none_of(counters.at("metrics"), is_energy) || !counters.contains("with_idle")) return {};
  std::string text =
      fmt::format("{} {}: {} J a run above idle, {} J with it; idle {} W over {}; {}",
                  counters["backend"].get<std::string>(), counters["group"].get<std::string>(),
                  joules_of(counters, "total"), joules_of(counters, "with_idle"), joules_of(counters, "idle_per_s"),
                  seconds_text(counters.at("idle_s").get<double>()), plural(counters.at("runs").get<long>(), "run"));
  if (const std::string refused = counters.value("phases_refused", ""); !refused.empty())
    text += fmt::format("; no phases: {}", refused);
  return wrapped("energy", text);
}

std::string counted(const json& record) {
  const json& counters = record.at("counters");
  if (counters.at("backend") == "none") return {};
  std::string what = fmt::format("{} {}", counters["backend"].get<std::string>(), counters["group"].get<std::string>());
  if (counters.contains("cache"))
    what += fmt::format(", simulated cache of {}, {} ways, lines of {} B for each rank",
                        bytes_text(counters["cache"]["size_bytes"]), counters["cache"]["ways"].get<int>(),
                        counters["cache"]["line_bytes"].get<int>());
  else
    what += fmt::format(", of each {}", counters.at("scope").get<std::string>());
  if (counters.value("multiplexed", false)) what += ", multiplexed";
  const json fit = counters.at("qualification").at("fit");
  if (!counters.contains("update_s"))
    what += fit.is_null() ? ", not qualified here" : fit.get<bool>() ? ", qualified" : ", UNFIT by its qualification";
  std::string text = wrapped("counters", what);
  if (const std::string reason = counters.value("unavailable", ""); !reason.empty())
    return text + wrapped("", "no numbers: " + reason);
  const auto has = [&](const char* metric) { return max_of(counters["total"], metric).has_value(); };
  if (has("dram_read_bytes") || has("dram_write_bytes") || has("dram_bytes")) {
    text += fmt::format("{:<13}{:<10}{:>12}{:>12}{:>12}{:>12}{:>11}\n", "", "largest", "read", "written", "together",
                        "minimum", "x minimum");
    const json minimum = record.at("cost").value("least_bytes_per_rank", json::object());
    double min_in_all = 0;
    for (const auto& [phase, values] : counters.at("phases").items()) {
      const auto of_phase = minimum.contains(phase) ? std::optional(largest(minimum[phase])) : std::nullopt;
      text += traffic_row(phase, values, of_phase);
    }
    for (const auto& [phase, values] : minimum.items()) min_in_all += largest(values);
    text += traffic_row("all", counters["total"], min_in_all > 0 ? std::optional(min_in_all) : std::nullopt);
  }
  std::string others;
  for (const json& metric : counters.at("metrics")) {
    const std::string name = metric.at("name");
    if (metric.at("unit") == "bytes" || metric.at("unit") == "J") continue;
    const auto value = max_of(counters["total"], name.c_str());
    others += fmt::format("{}{} {}", others.empty() ? "" : ", ", name, value ? fmt::format("{:.4g}", *value) : "-");
  }
  if (!others.empty()) text += wrapped("", others);
  return text + energy(record);
}

std::string harness(const json& record, double total_s) {
  std::string text;
  for (const std::string_view step : harness_steps) {
    const std::string key = std::string(step) + "_s";
    if (record.at("harness").contains(key))
      text += fmt::format("{} {}, ", step, seconds_text(record["harness"][key].get<double>()));
  }
  return wrapped("harness", text + "in all " + seconds_text(total_s));
}

}  // namespace

std::string seconds_text(double seconds) {
  if (seconds < 0.9995e-6) return three_digits(seconds * 1e9) + " ns";
  if (seconds < 0.9995e-3) return three_digits(seconds * 1e6) + " us";
  if (seconds < 0.9995) return three_digits(seconds * 1e3) + " ms";
  return three_digits(seconds) + " s";
}

std::string bytes_text(double bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  static constexpr std::array<const char*, 4> units{"KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (bytes /= 1024; bytes >= 1023.5 && unit + 1 < units.size(); ++unit) bytes /= 1024;
  return three_digits(bytes) + " " + units[unit];
}

std::string summary(const json& record, const std::vector<std::string>& warnings, const std::string& record_path,
                    double total_s) {
  const json& verdict = record.at("verdict");
  const std::string status = verdict.at("status");
  std::string text = what_ran(record);
  if (const json tuning = record.value("/resolved/tuning"_json_pointer, json()); !tuning.is_null())
    text += wrapped("tuned", tuning_text(tuning));
  if (record.contains("verification")) text += verified(record);
  if (status != "ok") text += wrapped(status, verdict.at("reason").get<std::string>());
  if (record.contains("samples")) text += times(record) + phases(record);
  if (record.contains("timeline")) text += timeline(record);
  const json failed = record.value("failed_parts", json::object());
  for (const auto& [part, end] : failed.items())
    text += wrapped(end.at("status").get<std::string>(), part + ": " + end.at("reason").get<std::string>());
  if (record.contains("cost")) text += movement(record);
  for (const std::string& warning : warnings) text += wrapped("warning", warning);
  if (record.contains("samples") && record.contains("counters")) text += counted(record);
  if (record.contains("flags")) {
    const auto flags = record["flags"].get<std::vector<std::string>>();
    text += line("flags", flags.empty() ? "none" : fmt::format("{}", fmt::join(flags, ", ")));
  }
  if (record.contains("harness")) text += harness(record, total_s);
  if (!record_path.empty()) text += line("record", record_path);
  return text;
}

}  // namespace fourscore::bench
