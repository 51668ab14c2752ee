#pragma once
// What a measuring program (fft_bench, or one of a component) says of itself, asked without MPI launch.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/grid.hpp"
#include "core/problem.hpp"

namespace fourscore {

/// The program's answer about one point.
struct PointCheck {
  Point point;         ///< as it would be recorded: a variant that takes no exchange has "none"
  bool error = false;  ///< unusable input; otherwise a reason means: to be skipped
  std::string reason;
  std::string key{};  ///< for an error: what cannot be used, as of points ("variant"); of components a
                      ///< parameter's name
  GridRoom grid{};    ///< from fft_bench
};

class Bench {
 public:
  /// `plugins`: libraries whose transforms are variants of fft_bench too.
  explicit Bench(std::filesystem::path program, std::vector<std::filesystem::path> plugins = {})
      : program_(std::move(program)), plugins_(std::move(plugins)) {}
  [[nodiscard]] const std::filesystem::path& program() const { return program_; }

  /// `--list`: {"variants": [...], "exchanges": [...], "local_ffts": [...], "operators": [...]}, each with name,
  /// summary, citation, available, reason, and "counters" with name, available, reason; of a component its own card.
  [[nodiscard]] nlohmann::json list() const;
  /// What CounterBackend::unavailable() says in that program, by its list; nothing where it lists no such backend.
  [[nodiscard]] std::optional<std::string> listed_unavailable(const std::string& backend) const;
  /// `--identity`: { "identity": { "machine": {...}, "code": {...} }, "machine_hash", "code_hash", "program": FILE }.
  /// A hash that it does not tell is made here.
  [[nodiscard]] nlohmann::json identity() const;
  /// `--check-points`: points as JSON lines on its standard input, one answer a line, in one process.
  [[nodiscard]] std::vector<PointCheck> check(const std::vector<Point>& points) const;

 private:
  /// Its standard output. Throws EnvironmentError with the end of its standard error when it fails, InputError where a
  /// plugin is at fault.
  [[nodiscard]] std::string ask(const std::vector<std::string>& options, const std::string& input = {}) const;

  std::filesystem::path program_;
  std::vector<std::filesystem::path> plugins_;
};

/// fourscore's own fft_bench: beside this program, else in libexec; empty where it is in neither.
[[nodiscard]] std::filesystem::path shipped_bench();
/// fft_bench: --bench, else $FOURSCORE_BENCH, else beside this program, else in libexec, else in PATH.
/// Throws EnvironmentError.
[[nodiscard]] std::filesystem::path find_bench(const std::string& option);

}  // namespace fourscore
