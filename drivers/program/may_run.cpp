#include "program/may_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "harness/active_ranks.hpp"
#include "harness/agreement.hpp"
#include "harness/instances.hpp"
#include "harness/round_trip.hpp"
#include "program/memory_check.hpp"
#include "redistribution/zfp_exchange.hpp"

namespace fourscore::bench {
namespace {

using Answer = std::optional<Refusal>;

Answer closed(Refusal::Kind kind, const char* key, Reason reason) {
  if (!reason) return std::nullopt;
  return Refusal{kind, key, *std::move(reason)};
}
Answer unsupported(const char* key, Reason reason) {
  return closed(Refusal::Kind::unsupported, key, std::move(reason));
}

template <class T>
Answer absent(const char* key, const std::string& what, const std::string& name, const T* entry) {
  const std::string reason = entry == nullptr ? "" : entry->unavailable();
  if (reason.empty()) return std::nullopt;
  return Refusal{Refusal::Kind::absent, key, fmt::format("{} '{}' cannot run here: {}", what, name, reason)};
}

Answer absent_entry(const ResolvedPoint& resolved) {
  const Point& point = resolved.point;
  if (auto refusal = absent("variant", "variant", point.variant, resolved.variant)) return refusal;
  if (auto refusal = absent("local_fft", "local FFT library", point.local_fft, resolved.local_fft)) return refusal;
  if (auto refusal = absent("exchange", "exchange", point.exchange, resolved.exchange)) return refusal;
  const std::string reason = point.problem.wire == Wire::zfp ? zfp_unavailable() : "";
  if (reason.empty()) return std::nullopt;
  return Refusal{Refusal::Kind::absent, "wire", fmt::format("wire zfp cannot run here: {}", reason)};
}

/// A grid has as many places as there are ranks.
Answer misfit(const ResolvedPoint& resolved) {
  const Point& point = resolved.point;
  if (point.problem.grid.empty()) return std::nullopt;
  Index ranks = 1;
  for (const int extent : point.problem.grid) ranks *= extent;
  const auto of_instance = static_cast<int>(ranks_of_instance(point.problem, point.ranks, 0).size());
  const Index there = active_ranks_of(*resolved.variant, point.problem, of_instance);
  if (ranks == there) return std::nullopt;
  return Refusal{
      Refusal::Kind::misfit, "grid",
      fmt::format("grid {} has {} places, but there are {} ranks{}", grid_text(point.problem.grid), ranks, there,
                  there < of_instance    ? " that are active"
                  : there == point.ranks ? ""
                                         : " in a subset")};
}

Answer lacking_kind(const ResolvedPoint& resolved) {
  const auto kinds = resolved.variant->facts().kinds;
  const Kind asked = resolved.point.problem.kind;
  if (std::find(kinds.begin(), kinds.end(), asked) != kinds.end()) return std::nullopt;
  std::vector<std::string> names;
  for (const Kind kind : kinds) names.push_back(to_string(kind));
  return unsupported("kind", fmt::format("variant '{}' has no kind {}; it has: {}", resolved.point.variant,
                                         to_string(asked), fmt::join(names, ", ")));
}

Answer local_fft_of_variant(const ResolvedPoint& resolved) {
  const Problem& problem = resolved.point.problem;
  const LocalFftUse use = resolved.variant->local_fft(problem);
  if (!use.own)
    if (auto reason = resolved.local_fft->refuses(problem.kind, use.threads)) return unsupported("local_fft", reason);
  if (resolved.local_fft == nullptr) return std::nullopt;
  return unsupported("local_fft", resolved.local_fft->supports(problem));
}

Answer exchange_of_variant(const ResolvedPoint& resolved) {
  if (resolved.exchange == nullptr) return std::nullopt;
  const Problem& problem = resolved.point.problem;
  if (auto reason = resolved.variant->refuses(*resolved.exchange, problem)) return unsupported("exchange", reason);
  return unsupported("exchange", resolved.exchange->supports(problem));
}

/// Messages can be made smaller where an exchange makes them, of whole arrays in the host's memory.
Answer wire_of_exchange(const ResolvedPoint& resolved) {
  const Problem& problem = resolved.point.problem;
  if (problem.wire == Wire::as_is) return std::nullopt;
  const std::string wire = to_string(problem.wire);
  const std::string& variant = resolved.point.variant;
  if (resolved.exchange == nullptr)
    return unsupported(
        "wire", fmt::format("variant '{}' takes no exchange, whose messages wire {} makes smaller", variant, wire));
  if (resolved.variant->device_use(one_instance(problem)) != nullptr)
    return unsupported(
        "wire",
        fmt::format("variant '{}' computes on a device; wire {} is for data in the host's memory", variant, wire));
  const ExchangeMethod& whole = ExchangeRegistry::instance().get(resolved.point.exchange, "exchange");
  if (!resolved.variant->refuses(whole, problem) && resolved.variant->refuses(*resolved.exchange, problem))
    return unsupported("wire",
                       fmt::format("variant '{}' sends arrays in pieces; wire {} is for whole arrays", variant, wire));
  return std::nullopt;
}

Answer instances(const ResolvedPoint& resolved) {
  return unsupported("variant", supports_instances(*resolved.variant, resolved.point.problem, resolved.point.ranks));
}

/// The exchange serves the groups of all redistributions. A rank's groups are as large as those of the others, but for
/// those of a rank that keeps all it has: so the first and the last rank tell.
Answer unserved_group(const ResolvedPoint& resolved) {
  if (resolved.exchange == nullptr) return std::nullopt;
  const Point& point = resolved.point;
  const Problem problem = first_direction(one_field(one_instance(point.problem)));
  for (const int instance : {0, point.problem.instances - 1}) {
    const auto ranks = static_cast<int>(ranks_of_instance(point.problem, point.ranks, instance).size());
    for (const int rank : {0, ranks - 1})
      for (const RedistributionGroup& group : resolved.variant->redistributions(problem, ranks, rank))
        if (auto reason = resolved.exchange->supports_group(point.problem, group.from.ranks()))
          return unsupported("exchange", reason);
  }
  return std::nullopt;
}

/// An MPI that gives less than was asked for cannot run the point. A rank of one thread funnels by itself.
Answer thread_level(MPI_Comm comm, const ResolvedPoint& resolved) {
  Reason missing;
  const auto failed = failure_of_any(comm, [&] {
    ThreadLevel needed = resolved.variant->thread_level(resolved.point.problem);
    if (needed == ThreadLevel::funneled && resolved.point.problem.threads == 1) needed = ThreadLevel::single;
    missing = mpi::missing_thread_level(needed, "variant '" + resolved.point.variant + "'");
  });
  if (failed) throw LeaveTogether{*failed};
  return closed(Refusal::Kind::placement, "variant", std::move(missing));
}

/// What an entry finds out by trying on the ranks of comm. What fails otherwise than by its answer ends the launch.
template <class Try>
Answer tried(MPI_Comm comm, const char* key, const std::string& name, const Try& try_it) {
  const auto found = failure_of_any(comm, [&] {
    if (const Reason reason = try_it()) throw InputError(*reason);
  });
  if (!found) return std::nullopt;
  if (found->code != 2) throw LeaveTogether{*found};
  return Refusal{Refusal::Kind::placement, key, fmt::format("{} '{}' cannot run here: {}", key, name, found->message)};
}

Answer exchange_here(MPI_Comm comm, const ResolvedPoint& resolved) {
  if (resolved.exchange == nullptr) return std::nullopt;
  return tried(comm, "exchange", resolved.point.exchange, [&] { return resolved.exchange->cannot_run_on(comm); });
}

Answer variant_here(MPI_Comm comm, const ResolvedPoint& resolved) {
  return tried(comm, "variant", resolved.point.variant,
               [&] { return resolved.variant->cannot_run_on(resolved.point.problem, comm); });
}

Answer devices_here(MPI_Comm comm, const ResolvedPoint& resolved, CheckExtent extent) {
  const Problem problem = one_field(one_instance(resolved.point.problem));
  const DeviceUse* const use = resolved.variant->device_use(problem);
  if (use == nullptr) return std::nullopt;
  const bool inverted = extent == CheckExtent::all && !goes_back(problem.direction);
  const int instances = resolved.point.problem.placement == Placement::subset ? 1 : resolved.point.problem.instances;
  return tried(comm, "variant", resolved.point.variant, [&] {
    return use->obstacle(problem, comm, resolved.point.problem.fields * (instances + (inverted ? 1 : 0)));
  });
}

/// The memory suffices for the plan and what checks it; else also whether less checking would make it do.
Answer memory(MPI_Comm comm, const ResolvedPoint& resolved, CheckExtent extent) {
  const MemoryShare share = shortest_memory(comm);
  const Reason of_plan = lacking_memory(share, min_bytes_of_a_rank(resolved, CheckExtent::spots), "the plan");
  if (extent == CheckExtent::spots) return closed(Refusal::Kind::memory, "shape", of_plan);
  Reason reason =
      lacking_memory(share, min_bytes_of_a_rank(resolved, extent), "the plan and the inverse that checks it");
  if (reason && !of_plan) *reason += "; without the inverse it does (--check spots, in a suite check = \"spots\")";
  return closed(Refusal::Kind::memory, "shape", reason);
}

}  // namespace

std::optional<Refusal> may_run(const ResolvedPoint& resolved) {
  constexpr std::array doors{misfit,           absent_entry,        lacking_kind, local_fft_of_variant,
                             wire_of_exchange, exchange_of_variant, instances,    unserved_group};
  try {
    for (const auto door : doors)
      if (auto refusal = door(resolved)) return refusal;
  } catch (const GridError& error) {
    return Refusal{Refusal::Kind::misfit, "grid", error.what()};
  }
  return std::nullopt;
}

std::optional<Refusal> may_run_here(MPI_Comm comm, const ResolvedPoint& resolved, CheckExtent extent) {
  if (auto refusal = thread_level(comm, resolved)) return refusal;
  if (auto refusal = exchange_here(comm, resolved)) return refusal;
  if (auto refusal = variant_here(comm, resolved)) return refusal;
  if (auto refusal = devices_here(comm, resolved, extent)) return refusal;
  return memory(comm, resolved, extent);
}

}  // namespace fourscore::bench
