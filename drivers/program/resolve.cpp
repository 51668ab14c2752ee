#include "program/resolve.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/instances.hpp"
#include "harness/round_trip.hpp"
#include "simulation/host_order.hpp"
#include "simulation/platform.hpp"

namespace fourscore::bench {
namespace {

/// What `work` finds unusable is the fault of `key`.
template <class Work>
decltype(auto) blaming(const std::string& key, const Work& work) {
  try {
    return work();
  } catch (const PointError&) {
    throw;
  } catch (const InputError& error) {
    throw PointError(key, error.what());
  }
}

/// An unknown name is an error, an entry that cannot run here a reason to skip.
template <class T>
const T& find_entry(const Registry<T>& registry, const std::string& name, const std::string& key,
                    const std::string& what, std::optional<std::string>& skip) {
  const T* entry = registry.find(name);
  if (entry == nullptr)
    return blaming(key, [&]() -> const T& { return registry.get(name, what); });  // throws with the nearest name
  if (const std::string reason = entry->unavailable(); !reason.empty() && !skip)
    skip = fmt::format("{} '{}' cannot run here: {}", what, name, reason);
  return *entry;
}

/// A typing error is no wish for what the variant brings itself.
template <class T>
void require_name(const Registry<T>& registry, const std::string& name, const std::string& key,
                  const std::string& what) {
  if (registry.find(name) == nullptr) blaming(key, [&] { (void)registry.get(name, what); });
}

/// Nothing, or why the grid has not as many places as there are ranks.
std::optional<std::string> misfit_of(const Point& point) {
  if (point.problem.grid.empty()) return std::nullopt;
  Index ranks = 1;
  for (const int extent : point.problem.grid) ranks *= extent;
  const Index there = ranks_of_instance(point.problem, point.ranks, 0).size();
  if (ranks == there) return std::nullopt;
  return fmt::format("grid {} has {} places, but there are {} ranks{}", grid_text(point.problem.grid), ranks, there,
                     there == point.ranks ? "" : " in a subset");
}

void check_parameter_names(const Point& point, const Variant& variant, const ExchangeMethod* exchange) {
  auto known = names_of(variant.parameters());
  std::string who = fmt::format("variant '{}'", point.variant);
  if (exchange != nullptr) {
    const auto of_exchange = names_of(exchange->parameters());
    known.insert(known.end(), of_exchange.begin(), of_exchange.end());
    who += fmt::format(" with exchange '{}'", point.exchange);
  }
  for (const auto& [key, value] : point.problem.parameters) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    const auto nearest = nearest_name(key, known);
    throw PointError("parameters." + key,
                     fmt::format("{} has no parameter '{}'{}; {}", who, key,
                                 nearest ? fmt::format(", did you mean '{}'?", *nearest) : "",
                                 known.empty() ? "it has none" : fmt::format("it has: {}", fmt::join(known, ", "))));
  }
}

/// Nothing, or the kinds that the variant has where it has not the one asked for.
std::optional<std::string> lacking_kind(const Point& point, const Variant& variant) {
  const auto kinds = variant.kinds();
  if (std::find(kinds.begin(), kinds.end(), point.problem.kind) != kinds.end()) return std::nullopt;
  std::vector<std::string> names;
  for (const Kind kind : kinds) names.push_back(to_string(kind));
  return fmt::format("variant '{}' has no kind {}; it has: {}", point.variant, to_string(point.problem.kind),
                     fmt::join(names, ", "));
}

/// Nothing, or why the exchange cannot serve a group of one of the redistributions. A rank's groups are as large as
/// those of the others, but for those of a rank that keeps all it has: so the first and the last rank tell.
std::optional<std::string> unserved_group(const Point& point, const Variant& variant, const ExchangeMethod& exchange) {
  const Problem problem = first_direction(one_instance(point.problem));
  for (const int instance : {0, point.problem.instances - 1}) {
    const auto ranks = static_cast<int>(ranks_of_instance(point.problem, point.ranks, instance).size());
    for (const int rank : {0, ranks - 1})
      for (const RedistributionGroup& group : variant.redistributions(problem, ranks, rank))
        if (auto reason = exchange.supports_group(point.problem, group.from.ranks())) return reason;
  }
  return std::nullopt;
}

/// Why the point cannot be measured here, where its names, grid and parameters can be used. `refused`: the exchange's
/// own reason.
std::optional<std::string> reason_to_skip(const Point& point, const Variant& variant, const ExchangeMethod* exchange,
                                          const LocalFftLibrary& local_fft, const std::optional<std::string>& refused) {
  if (auto reason = lacking_kind(point, variant)) return reason;
  if (!variant.own_local_fft(point.problem))
    if (auto reason = local_fft.refuses(point.problem.kind, variant.local_fft_threads(point.problem))) return reason;
  if (exchange != nullptr)
    if (auto reason = variant.refuses_parameters(*exchange, point.problem)) return reason;
  if (refused) return refused;
  if (auto reason = supports_instances(variant, point.problem, point.ranks)) return reason;
  return exchange == nullptr ? std::nullopt : unserved_group(point, variant, *exchange);
}

/// Local transforms are charged there and not timed, so that there is nothing to plan by.
void require_estimate(const Point& point) {
  if (point.platform != "none" && point.problem.contract.effort != Effort::estimate)
    throw PointError("planner", fmt::format("planner {} on the simulated platform {}; expected estimate",
                                            to_string(point.problem.contract.effort), point.platform));
}

}  // namespace

void check_platform(const Point& point) {
  if (point.platform == "none") {
    if (point.host_order != HostOrder::row_major)
      throw PointError("host_order", fmt::format("host order {} without a platform; expected row-major",
                                                 to_string(point.host_order)));
    return;
  }
  const Platform platform = blaming("platform", [&] {
    Platform found = fitted(read_platform(find_platform(point.platform)), point.nodes);
    (void)make_topology(found.network);
    return found;
  });
  blaming("host_order", [&] { (void)host_order(platform.network, point.nodes, point.host_order, 1); });
}

ResolvedPoint resolve_point(Point point) {
  if (!point.component.empty())
    throw InputError(
        fmt::format("the point is one of the component program '{}'; expected one with a variant", point.component));
  require_estimate(point);
  ResolvedPoint resolved;
  resolved.variant = &find_entry(VariantRegistry::instance(), point.variant, "variant", "variant", resolved.skip);
  if (const auto own = resolved.variant->own_local_fft(point.problem)) {
    require_name(LocalFftRegistry::instance(), point.local_fft, "local_fft", "local FFT library");
    point.local_fft = *own;
  }
  resolved.local_fft =
      &find_entry(LocalFftRegistry::instance(), point.local_fft, "local_fft", "local FFT library", resolved.skip);
  if (point.exchange.empty()) point.exchange = resolved.variant->default_exchange();
  if (!resolved.variant->takes_exchange()) {
    if (point.exchange != "none") require_name(ExchangeRegistry::instance(), point.exchange, "exchange", "exchange");
    point.exchange = "none";
  } else {
    if (point.exchange == "none")
      throw PointError("exchange", fmt::format("variant '{}' needs an exchange", point.variant));
    resolved.exchange =
        &find_entry(ExchangeRegistry::instance(), point.exchange, "exchange", "exchange", resolved.skip);
  }
  if (point.problem.instances == 1) point.problem.placement = Placement::all;  // equal work is one point
  check_parameter_names(point, *resolved.variant, resolved.exchange);
  // Asked first: a value that the exchange cannot use is an error, whatever else is in the way.
  const auto refused = resolved.exchange == nullptr ? std::nullopt : resolved.exchange->supports(point.problem);
  resolved.grid_misfit = misfit_of(point);
  if (!resolved.grid_misfit && !resolved.skip) {
    try {
      resolved.skip = reason_to_skip(point, *resolved.variant, resolved.exchange, *resolved.local_fft, refused);
    } catch (const GridError& error) {
      resolved.grid_misfit = error.what();
    }
  }
  resolved.point = std::move(point);
  return resolved;
}

}  // namespace fourscore::bench
