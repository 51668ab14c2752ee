#pragma once
// One launch of a program that measures: what fft_bench and the component programs do alike, from main() to the record.

#include <mpi.h>

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "core/problem.hpp"
#include "program/common_options.hpp"
#include "program/mpi_program.hpp"

namespace fourscore::bench {

[[nodiscard]] double seconds_since(SteadyTime begin);

/// What a program answers without MPI.
struct Answers {
  std::function<nlohmann::json()> list;  ///< to --list
  /// About one point: "point_id", "point" (normalised), "supported", "reason"; a program's own keys beside. Throws
  /// InputError for a point that is unusable input, PointError where one of its keys is to blame.
  std::function<nlohmann::json(const Point&)> about;
};

/// Prints the answer that the mode asks for, to --check-points by check_points(). The exit code.
[[nodiscard]] int answer(Mode mode, const Answers& answers);

/// Reads one point (JSON) a line and writes one answer a line: that of `about` with "error" false; with "error" true
/// and a "reason" where the point is unusable input, and "key" where one key of the point is to blame.
void check_points(std::istream& in, std::ostream& out, const Answers& answers);

/// One launch as it goes on, on one rank. All calls are collective.
struct Launch {
  Agreement& agreement;
  const CommonOptions& options;
  StepTimes steps;
  SteadyTime begin;  ///< when the program began
  MPI_Comm comm = MPI_COMM_WORLD;

  /// Sets ranks, nodes and placement of the point. Throws where the launch is another than was asked for.
  void place(Point& point) const;
  /// Before anything is measured: would the record find its place, and a file `beside` it?
  void check_output(const std::optional<std::filesystem::path>& beside = std::nullopt) const;
  /// The record's "campaign"; null on all ranks but 0.
  [[nodiscard]] nlohmann::json campaign() const;
  /// Rank 0 writes the record where one is asked for, then calls show().
  void deliver(const nlohmann::json& record, const std::function<void()>& show) const;
};

/// Starts MPI, calls measure() on all ranks and ends. The exit code.
[[nodiscard]] int run_launch(int argc, char** argv, const std::string& program, ThreadLevel thread_level,
                             const CommonOptions& options, SteadyTime begin,
                             const std::function<int(Launch&)>& measure);

}  // namespace fourscore::bench
