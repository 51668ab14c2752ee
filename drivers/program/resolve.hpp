#pragma once
// From a point to who measures it.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/refusal.hpp"
#include "interfaces/variant.hpp"

namespace fourscore::bench {

struct ResolvedPoint {
  Point point;  ///< normalised
  const Variant* variant = nullptr;
  std::shared_ptr<const Variant> on_active_ranks;  ///< the same as `variant` where not all ranks transform
  const ExchangeMethod* exchange = nullptr;        ///< null for variants that take none
  const LocalFftLibrary* local_fft = nullptr;
  std::shared_ptr<const ExchangeMethod> wired{};  ///< the exchange, where its messages hold less than the data
  std::optional<Point> tuned{};  ///< the point that was asked for, where `point` is one of its candidates

  /// The point as records have it.
  [[nodiscard]] const Point& asked() const { return tuned ? *tuned : point; }
};

/// What the two read of Problem::parameters; `exchange` may be null.
[[nodiscard]] std::vector<std::string> parameter_names(const Variant& variant, const ExchangeMethod* exchange);

/// Normalises: a point without exchange gets the variant's default, one whose variant takes none gets "none" whatever
/// was asked, and one instance has placement all, so that equal work is one point. Calls no MPI. Throws PointError for
/// unknown names (with the nearest) and parameters that the variant does not read or the exchange cannot use. Whether
/// the point can be measured is another question (program/may_run.hpp). Tuned points: program/candidates.hpp.
[[nodiscard]] ResolvedPoint resolve_point(Point point);

/// Throws PointError where the simulated machine that the point names cannot be read, has too few hosts or does not
/// allow the order of hosts. Nothing for points of real machines.
void check_platform(const Point& point);

}  // namespace fourscore::bench
