#pragma once
// From a point to who measures it.

#include <optional>
#include <string>
#include <utility>

#include "interfaces/variant.hpp"

namespace fourscore::bench {

/// A point that cannot be used, and which of its keys is to blame: "variant", "grid", "parameters.NAME".
struct PointError : InputError {
  PointError(std::string of, const std::string& message) : InputError(message), key(std::move(of)) {}
  std::string key;
};

struct ResolvedPoint {
  Point point;  ///< normalised
  const Variant* variant = nullptr;
  const ExchangeMethod* exchange = nullptr;  ///< null for variants that take none
  const LocalFftLibrary* local_fft = nullptr;
  std::optional<std::string> skip;         ///< why this cannot be measured here, if so
  std::optional<std::string> grid_misfit;  ///< why the grid does not fit the ranks, if so; the caller decides
};

/// Normalises: a point without exchange gets the variant's default, one whose variant takes none gets "none" whatever
/// was asked, and one instance has placement all, so that equal work is one point. Calls no MPI. Throws PointError for
/// unknown names (with the nearest), instances beyond what is allowed and parameters the variant does not read. What is
/// known but cannot run here, or not for this problem, is a skip with its reason.
[[nodiscard]] ResolvedPoint resolve_point(Point point);

/// Throws PointError where the simulated machine that the point names cannot be read, has too few hosts or does not
/// allow the order of hosts. Nothing for points of real machines.
void check_platform(const Point& point);

}  // namespace fourscore::bench
