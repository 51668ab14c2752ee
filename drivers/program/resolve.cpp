#include "program/resolve.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/did_you_mean.hpp"
#include "core/rank_map.hpp"
#include "core/text.hpp"
#include "harness/active_ranks.hpp"
#include "harness/instances.hpp"
#include "interfaces/pointwise_operator.hpp"
#include "redistribution/wired_method.hpp"
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

/// An unknown name is an error, also where the variant brings its own: a typing error is no wish for that.
template <class T>
const T& find_entry(const Registry<T>& registry, const std::string& name, const std::string& key,
                    const std::string& what) {
  const T* entry = registry.find(name);
  if (entry == nullptr)
    return blaming(key, [&]() -> const T& { return registry.get(name, what); });  // throws with the nearest name
  return *entry;
}

void check_parameter_names(const Point& point, const Variant& variant, const ExchangeMethod* exchange) {
  const auto known = parameter_names(variant, exchange);
  std::string who = fmt::format("variant '{}'", point.variant);
  if (exchange != nullptr) who += fmt::format(" with exchange '{}'", point.exchange);
  for (const auto& [key, value] : point.problem.parameters) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    throw PointError("parameters." + key,
                     fmt::format("{} has no parameter '{}'{}; {}", who, key, did_you_mean(key, known),
                                 known.empty() ? "it has none" : fmt::format("it has: {}", fmt::join(known, ", "))));
  }
}

/// The program reads the maps that parameters name, so that their content is part of the point.
void read_maps(const std::vector<Parameter>& parameters, Point& point) {
  for (const Parameter& parameter : parameters) {
    const auto given = point.problem.parameters.find(parameter.name);
    if (!parameter.takes_map || given == point.problem.parameters.end() || !given->second.starts_with(map_prefix))
      continue;
    blaming("parameters." + parameter.name,
            [&] { given->second = read_rank_map(given->second, "parameter '" + parameter.name + "'"); });
  }
}

/// Local transforms are charged there and not timed, so that there is nothing to plan by.
void require_estimate(const Point& point) {
  if (point.platform != "none" && point.problem.contract.effort != Effort::estimate)
    throw PointError("planner", fmt::format("planner {} on the simulated platform {}; expected estimate",
                                            to_string(point.problem.contract.effort), point.platform));
}

void resolve_operator(Problem& problem) {
  if (problem.direction == Direction::convolution) {
    if (problem.operator_name.empty()) problem.operator_name = default_operator;
    (void)find_entry(OperatorRegistry::instance(), problem.operator_name, "operator", "operator");
  } else if (!problem.operator_name.empty()) {
    throw PointError("operator", fmt::format("operator '{}' with direction {}; expected direction convolution",
                                             problem.operator_name, to_string(problem.direction)));
  }
}

/// There is nothing to take away from data that is of single precision.
void require_double_to_narrow(const Problem& problem) {
  if (problem.wire != Wire::as_is && problem.precision != Precision::double_precision)
    throw PointError("wire", fmt::format("wire {} with precision {}; expected precision double, or wire as-is",
                                         to_string(problem.wire), to_string(problem.precision)));
}

/// Equal work is one point.
void normalise(Point& point) {
  Problem& problem = point.problem;
  if (problem.instances == 1) problem.placement = Placement::all;
  if (!problem.other_work.any()) problem.other_work = {};
  normalise_fields(problem);
  if (problem.active_ranks == all_ranks) return;
  // On subsets the last is a smallest one.
  const auto [first, last] = std::pair(ranks_of_instance(problem, point.ranks, 0),
                                       ranks_of_instance(problem, point.ranks, std::max(1, problem.instances) - 1));
  if (problem.active_ranks > last.size())
    throw PointError("active_ranks", fmt::format("active_ranks {} of {}; expected 1 to {}, auto or all",
                                                 problem.active_ranks, plural(last.size(), "rank"), last.size()));
  if (problem.active_ranks == first.size()) problem.active_ranks = all_ranks;
}

}  // namespace

std::vector<std::string> parameter_names(const Variant& variant, const ExchangeMethod* exchange) {
  auto known = names_of(variant.facts().parameters);
  if (exchange == nullptr) return known;
  const auto of_exchange = names_of(exchange->parameters());
  known.insert(known.end(), of_exchange.begin(), of_exchange.end());
  return known;
}

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
  resolve_operator(point.problem);
  require_double_to_narrow(point.problem);
  ResolvedPoint resolved;
  resolved.variant = &find_entry(VariantRegistry::instance(), point.variant, "variant", "variant");
  const auto local_fft = [&]() -> const LocalFftLibrary& {
    return find_entry(LocalFftRegistry::instance(), point.local_fft, "local_fft", "local FFT library");
  };
  const auto exchange = [&]() -> const ExchangeMethod& {
    return find_entry(ExchangeRegistry::instance(), point.exchange, "exchange", "exchange");
  };
  if (const auto own = resolved.variant->local_fft(point.problem).own) {
    (void)local_fft();
    point.local_fft = *own;
  }
  resolved.local_fft = &local_fft();
  if (point.exchange.empty()) point.exchange = resolved.variant->facts().exchange;
  if (!resolved.variant->takes_exchange()) {
    if (point.exchange != "none") (void)exchange();
    point.exchange = "none";
  } else {
    if (point.exchange == "none")
      throw PointError("exchange", fmt::format("variant '{}' needs an exchange", point.variant));
    resolved.exchange = &exchange();
  }
  if (point.problem.wire != Wire::as_is && resolved.exchange != nullptr) {
    resolved.wired = wired(point.problem, *resolved.exchange);
    resolved.exchange = resolved.wired.get();
  }
  normalise(point);
  check_parameter_names(point, *resolved.variant, resolved.exchange);
  read_maps(resolved.variant->facts().parameters, point);
  // A value that the exchange cannot use is an error, whatever else is in the way.
  if (resolved.exchange != nullptr) (void)resolved.exchange->supports(point.problem);
  if (point.problem.active_ranks != all_ranks) {
    resolved.on_active_ranks = on_active_ranks(*resolved.variant);
    resolved.variant = resolved.on_active_ranks.get();
  }
  resolved.point = std::move(point);
  return resolved;
}

}  // namespace fourscore::bench
