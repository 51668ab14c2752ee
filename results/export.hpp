#pragma once
// Records in the formats of other tools.

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace fourscore {

/// A text as a cell of a CSV file: quoted as RFC 4180 where it must be. Text that a spreadsheet would take for a
/// formula gets an apostrophe before it.
[[nodiscard]] std::string csv_cell(const std::string& value);

/// One CSV writer over many records: a line per repetition of a record with samples or of each of its benchmarks, one
/// line for any other record.
class CsvExport {
 public:
  explicit CsvExport(std::ostream& out);
  void add(const nlohmann::json& record, const std::string& name);

 private:
  void add_benchmark(const std::string& line, const nlohmann::json& benchmark);
  std::ostream& out_;
};

/// Google Benchmark's JSON: "context" and "benchmarks", an entry per launch (real_time in ns, the median of its
/// repetitions), for the repetitions of one launch are not independent and compare.py takes entries for that. Records
/// without a time are entries with error_occurred and error_message, without real_time, under a name of their own.
[[nodiscard]] nlohmann::json benchmark_export(const std::vector<nlohmann::json>& records,
                                              const std::string& executable);

/// "pencil/alltoallv/fftw/128x96x100/double/c2c/forward/ranks:4/grid:auto/...", "memory_bench/ranks:2/kernels:copy":
/// equal exactly for equal points. The benchmarks of a component add "/" and their own name.
[[nodiscard]] std::string benchmark_name(const nlohmann::json& point);

}  // namespace fourscore
