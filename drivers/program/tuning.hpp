#pragma once
// The exchange and the process grid of a tuned point, chosen by timing each candidate on the ranks of the launch.

#include <mpi.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/refusal.hpp"
#include "harness/agreement.hpp"
#include "program/candidates.hpp"
#include "program/options.hpp"

namespace fourscore::bench {

/// Timed runs of a candidate, after one for warm-up. One that takes `hopeless` times as long as the best, or longer,
/// gets no more than the first.
inline constexpr int tuning_runs = 3;
inline constexpr double hopeless = 2;

/// A candidate that was tried. Equal on all ranks.
struct Tried {
  std::string exchange;
  std::vector<int> grid;
  double time_s = 0;       ///< the shortest of its runs
  int runs = 0;            ///< timed; 0: it was left out
  std::string left_out{};  ///< why
};

struct Tuned {
  std::optional<ResolvedPoint> resolved{};  ///< the chosen candidate; nothing where none is left
  std::optional<Refusal> refusal{};         ///< then the reason
  std::vector<Tried> tried{};               ///< in the order of the candidates
  std::size_t best = 0;                     ///< the chosen one among them
};

/// Collective, with the same answer on all ranks. Plans each candidate by estimate, times it with data as of samples,
/// and gives its memory back before the next. A candidate that may not run here, or whose planning fails on any rank,
/// is left out. Checks no results.
[[nodiscard]] Tuned tune(MPI_Comm comm, Agreement& agreement, const Options& options,
                         const std::vector<ResolvedPoint>& candidates);

/// The record's "resolved": {"tuning"}.
[[nodiscard]] nlohmann::json tuning_json(const ResolvedPoint& chosen, const Tuned& tuned);

/// "exchange p2p, grid 2x2: the fastest of 22 candidates", of that.
[[nodiscard]] std::string tuning_text(const nlohmann::json& tuning);

}  // namespace fourscore::bench
