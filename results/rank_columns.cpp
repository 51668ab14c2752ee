#include "results/rank_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/json_value.hpp"
#include "core/plain_name.hpp"
#include "core/regular_file.hpp"
#include "core/sha256.hpp"

namespace fourscore {
namespace {

using nlohmann::json;

/// Where a record has one entry a rank; * is any key, or any element. Counters are by reader: they are columns where
/// every rank reads its own.
constexpr std::array<std::string_view, 34> places{"/samples/rank_total_s",
                                                  "/samples/rank_forward_s",
                                                  "/samples/rank_phase_s/*",
                                                  "/samples/rank_instance_s",
                                                  "/samples/rank_instance_forward_s",
                                                  "/other_work/rank_units",
                                                  "/other_work/rank_parts",
                                                  "/other_work/rank_array_bytes",
                                                  "/other_work/rank_s",
                                                  "/isolated/*/rank_s",
                                                  "/benchmarks/*/rank_s",
                                                  "/plan/rank_s",
                                                  "/cost/bytes_sent_per_rank",
                                                  "/cost/messages_per_rank",
                                                  "/cost/control_messages_per_rank",
                                                  "/cost/bytes_self_per_rank",
                                                  "/cost/bytes_read_shared_per_rank",
                                                  "/cost/least_bytes_per_rank/*",
                                                  "/cost/device/*",
                                                  "/memory/local_data_bytes",
                                                  "/memory/plan_bytes",
                                                  "/memory/workspace_bytes",
                                                  "/memory/peak_rss_bytes",
                                                  "/memory/huge_bytes",
                                                  "/timeline/rank_start_s",
                                                  "/timeline/rank_end_s",
                                                  "/timeline/clock/offset_s",
                                                  "/timeline/clock/uncertainty_s",
                                                  "/counters/idle_per_s/*",
                                                  "/counters/other_cores",
                                                  "/counters/with_idle/*",
                                                  "/counters/total/*",
                                                  "/counters/phases/*/*",
                                                  "/counters/components/*/*"};

constexpr std::size_t value_bytes = 8;
constexpr std::size_t shown_ranks = 8;

struct Column {
  std::string path;                ///< JSON pointer
  std::vector<std::size_t> shape;  ///< shape of one rank's values
  std::vector<double> values;      ///< [rank][...]; NaN: null

  [[nodiscard]] std::size_t values_of_a_rank() const {
    std::size_t count = 1;
    for (const std::size_t extent : shape) count *= extent;
    return count;
  }
  [[nodiscard]] std::span<const double> of_rank(std::size_t rank) const {
    return std::span(values).subspan(rank * values_of_a_rank(), values_of_a_rank());
  }
};

/// Whether a JSON pointer is one of `places`.
bool is_place(std::string_view path) {
  const auto matches = [&](std::string_view place) {
    std::string_view rest = path;
    while (!place.empty() && !rest.empty() && rest.front() == '/') {
      place.remove_prefix(1);
      rest.remove_prefix(1);
      const std::string_view wanted = place.substr(0, place.find('/'));
      const std::string_view part = rest.substr(0, rest.find('/'));
      if (wanted != "*" && wanted != part) return false;
      place.remove_prefix(wanted.size());
      rest.remove_prefix(part.size());
    }
    return place.empty() && rest.empty();
  };
  return std::ranges::any_of(places, matches);
}

/// JSON pointers of arrays at a place.
void find_places(const json& value, std::string_view rest, const std::string& path, std::vector<std::string>& found) {
  if (rest.empty()) {
    if (value.is_array() && !value.empty()) found.push_back(path);
    return;
  }
  rest.remove_prefix(1);
  const std::string part(rest.substr(0, rest.find('/')));
  rest.remove_prefix(part.size());
  if (part != "*") {
    if (value.is_object() && value.contains(part)) find_places(value[part], rest, path + "/" + part, found);
  } else if (value.is_object() || value.is_array()) {
    for (const auto& [key, inner] : value.items())
      find_places(inner, rest, (json::json_pointer(path) / key).to_string(), found);
  }
}

std::vector<std::size_t> shape_of(const json& value) {
  std::vector<std::size_t> shape;
  for (const json* inner = &value; inner->is_array(); inner = &inner->front()) {
    shape.push_back(inner->size());
    if (inner->empty()) break;
  }
  return shape;
}

void append_values(const json& value, std::span<const std::size_t> shape, const std::string& path,
                   std::vector<double>& values) {
  if (shape.empty()) {
    if (!value.is_number() && !value.is_null())
      throw std::invalid_argument(fmt::format("{} has {}, which is no number", path, value.dump()));
    values.push_back(value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>());
    return;
  }
  if (!value.is_array() || value.size() != shape.front())
    throw std::invalid_argument(fmt::format("{} has ranks with different numbers of values", path));
  for (const json& inner : value) append_values(inner, shape.subspan(1), path, values);
}

Column column_of(const json& record, const std::string& path) {
  const json& ranks = record.at(json::json_pointer(path));
  Column column{path, shape_of(ranks.front()), {}};
  column.values.reserve(ranks.size() * column.values_of_a_rank());
  for (const json& rank : ranks) append_values(rank, column.shape, path, column.values);
  return column;
}

/// The median of a few values, as those of one rank; NaN where all are.
double median_of(std::span<const double> values) {
  std::vector<double> known;
  std::ranges::copy_if(values, std::back_inserter(known), [](double value) { return !std::isnan(value); });
  if (known.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::ranges::sort(known);
  const std::size_t middle = known.size() / 2;
  return known.size() % 2 == 1 ? known[middle] : (known[middle - 1] + known[middle]) / 2;
}

/// Quantiles over the ranks of each rank's median, nearest rank below.
json summary_of(const Column& column, std::size_t ranks) {
  std::vector<std::pair<double, std::size_t>> medians;
  for (std::size_t rank = 0; rank < ranks; ++rank)
    if (const double value = median_of(column.of_rank(rank)); !std::isnan(value)) medians.emplace_back(value, rank);
  json summary{{"path", column.path}, {"shape", column.shape}};
  if (medians.empty()) return summary;
  std::ranges::sort(medians);
  const auto quantile = [&](std::size_t percent) { return medians[(medians.size() - 1) * percent / 100].first; };
  summary["min"] = quantile(0);
  summary["q25"] = quantile(25);
  summary["median"] = quantile(50);
  summary["q75"] = quantile(75);
  summary["max"] = quantile(100);
  for (std::size_t i = 0; i < std::min(shown_ranks, medians.size()); ++i) {
    const auto& [value, rank] = medians[medians.size() - 1 - i];
    summary["largest"].push_back({{"rank", rank}, {"value", value}});
  }
  return summary;
}

/// Little-endian, on every machine.
void append_bytes(std::string& bytes, double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  for (std::size_t byte = 0; byte < value_bytes; ++byte) bytes += static_cast<char>(bits >> (8 * byte) & 0xff);
}

double value_at(std::string_view bytes, std::size_t place) {
  std::uint64_t bits = 0;
  for (std::size_t byte = 0; byte < value_bytes; ++byte)
    bits |= std::uint64_t{static_cast<unsigned char>(bytes[place + byte])} << (8 * byte);
  return std::bit_cast<double>(bits);
}

/// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html, version 1.0
std::string npy_header(const std::vector<Column>& columns, std::size_t ranks) {
  std::string fields;
  for (const Column& column : columns) {
    std::string shape;
    for (const std::size_t extent : column.shape) shape += fmt::format("{},", extent);
    std::string name;
    for (const char c : column.path) name += (c == '\'' || c == '\\') ? fmt::format("\\{}", c) : std::string(1, c);
    fields += fmt::format("('{}', '<f8', ({})), ", name, shape);
  }
  std::string text = fmt::format("{{'descr': [{}], 'fortran_order': False, 'shape': ({},), }}", fields, ranks);
  constexpr std::size_t prefix_bytes = 10;
  text.append(63 - (prefix_bytes + text.size()) % 64, ' ');
  text += '\n';
  if (text.size() > 0xffff) throw std::invalid_argument("too many columns for a NumPy header");
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(text.size() & 0xff);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

std::size_t header_bytes(std::string_view content) {
  if (!content.starts_with(std::string_view("\x93NUMPY\x01\x00", 8)) || content.size() < 10)
    throw std::runtime_error("no NumPy file of format 1.0");
  return 10 + static_cast<unsigned char>(content[8]) + 256 * std::size_t{static_cast<unsigned char>(content[9])};
}

json values_json(std::string_view bytes, std::size_t& place, std::span<const std::size_t> shape) {
  if (shape.empty()) {
    const double value = value_at(bytes, std::exchange(place, place + value_bytes));
    return std::isnan(value) ? json() : json(value);
  }
  json array = json::array();
  for (std::size_t i = 0; i < shape.front(); ++i) array.push_back(values_json(bytes, place, shape.subspan(1)));
  return array;
}

/// Columns without values, as "columns" of a record names them. Throws std::runtime_error for what is no place of a
/// value a rank, is not lacking in the record, or has a shape of more than `most_values`.
std::vector<Column> named_columns(const json& record, const json& columns, std::size_t most_values) {
  std::vector<Column> named;
  for (const json& column : columns) {
    const std::string path = value_or(column, "path", "");
    if (!is_place(path)) throw std::runtime_error(fmt::format("its column '{}' is no place of values by rank", path));
    const json::json_pointer place(path);
    if (!record.contains(place.parent_pointer()) || !record.at(place.parent_pointer()).is_object())
      throw std::runtime_error(fmt::format("the record has no place for its column '{}'", path));
    named.push_back({path, {}, {}});
    std::size_t values = 1;
    for (const json& extent : column.value("shape", json())) {
      const bool fits = extent.is_number_unsigned() && extent <= most_values;
      named.back().shape.push_back(fits ? extent.get<std::size_t>() : most_values + 1);
      values *= std::min(named.back().shape.back(), most_values + 1);
      if (values > most_values)
        throw std::runtime_error(fmt::format("its column '{}' has a shape that does not fit", path));
    }
  }
  return named;
}

/// One entry a rank, which the columns say already.
json all_readers(const json& counters, std::size_t ranks) {
  json readers = json::array();
  for (std::size_t rank = 0; rank < ranks; ++rank)
    readers.push_back({{"rank", rank}, {"scope", counters.value("scope", "")}});
  return readers;
}

}  // namespace

std::string take_rank_columns(json& record) {
  const auto ranks = record.value("/point/ranks"_json_pointer, std::size_t{0});
  if (ranks <= max_ranks_inline) return {};
  const bool every_rank_reads = record.value("/counters/readers"_json_pointer, json::array()).size() == ranks;
  std::vector<std::string> paths;
  for (const std::string_view place : places)
    if (every_rank_reads || !place.starts_with("/counters")) find_places(record, place, "", paths);
  std::vector<Column> columns;
  for (const std::string& path : paths) {
    json& array = record.at(json::json_pointer(path));
    if (array.size() != ranks)
      throw std::invalid_argument(fmt::format("{} has {} entries for {} ranks", path, array.size(), ranks));
    columns.push_back(column_of(record, path));
  }
  if (columns.empty()) return {};
  if (every_rank_reads) record["counters"].erase("readers");

  std::string content = npy_header(columns, ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank)
    for (const Column& column : columns)
      for (const double value : column.of_rank(rank)) append_bytes(content, value);
  json summaries = json::array();
  for (const Column& column : columns) {
    summaries.push_back(summary_of(column, ranks));
    const json::json_pointer path(column.path);
    json& parent = record.at(path.parent_pointer());
    parent.erase(path.back());
  }
  const PlainName id(record.at("record_id").get<std::string>(), "record_id");
  record["rank_columns"] = {{"file", id.text() + std::string(columns_suffix)},
                            {"sha256", sha256_hex(content)},
                            {"bytes", content.size()},
                            {"columns", summaries}};
  return content;
}

void give_rank_columns(json& record, std::string_view content) {
  const json columns = record.at("rank_columns");
  if (columns.at("bytes") != content.size() || columns.at("sha256") != sha256_hex(content))
    throw std::runtime_error("its content is not what the record says");
  const auto ranks = record.at("/point/ranks"_json_pointer).get<std::size_t>();
  const std::vector<Column> named = named_columns(record, columns.at("columns"), content.size());
  std::size_t place = header_bytes(content);
  std::size_t row_bytes = 0;
  for (const Column& column : named) row_bytes += value_bytes * column.values_of_a_rank();
  const std::size_t bytes = content.size() - std::min(place, content.size());
  if (row_bytes == 0 ? bytes != 0 : bytes % row_bytes != 0 || bytes / row_bytes != ranks)
    throw std::runtime_error("its size is not that of the record's columns");
  if (content.substr(0, place) != npy_header(named, ranks))
    throw std::runtime_error("its header does not describe the record's columns");
  std::vector<json> arrays(named.size(), json::array());
  for (std::size_t rank = 0; rank < ranks; ++rank)
    for (std::size_t i = 0; i < named.size(); ++i) arrays[i].push_back(values_json(content, place, named[i].shape));
  for (std::size_t i = 0; i < named.size(); ++i) record[json::json_pointer(named[i].path)] = std::move(arrays[i]);
  if (record.contains("/counters/total"_json_pointer) && !record["counters"].contains("readers"))
    record["counters"]["readers"] = all_readers(record["counters"], ranks);
  record.erase("rank_columns");
}

void read_rank_columns(json& record, const std::filesystem::path& folder) {
  if (!record.contains("rank_columns")) return;
  const std::string name = value_or(record["rank_columns"], "file", "");
  if (!name.ends_with(columns_suffix)) throw std::runtime_error("rank_columns names no file of columns");
  (void)PlainName(name.substr(0, name.size() - columns_suffix.size()), "rank_columns: the file");
  try {
    give_rank_columns(record, read_regular_file(folder / name).text);
  } catch (const json::exception& error) {
    throw std::runtime_error(fmt::format("{}: \"rank_columns\" or \"point\" is of another form than expected", name));
  } catch (const std::exception& error) {
    throw std::runtime_error(fmt::format("{}: {}", name, error.what()));
  }
}

}  // namespace fourscore
