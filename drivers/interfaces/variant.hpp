#pragma once
// The interface to one algorithm: a distributed transform that can be planned, run, taken apart and predicted.

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/parameters.hpp"
#include "core/registry.hpp"
#include "interfaces/plan.hpp"
#include "mpi/thread_level.hpp"

namespace fourscore {

/// The paper's formula for one transform, per rank where it says so.
struct Cost {
  double flops = 0;              ///< whole transform
  double bytes_per_rank = 0;     ///< payload sent to other ranks
  double messages_per_rank = 0;  ///< to other ranks
};

class Variant {
 public:
  virtual ~Variant() = default;
  [[nodiscard]] virtual Card card() const = 0;
  [[nodiscard]] virtual std::string unavailable() const { return {}; }
  [[nodiscard]] virtual bool takes_exchange() const { return true; }
  /// The exchange of a point that names none; one that it does not refuse.
  [[nodiscard]] virtual std::string default_exchange() const { return takes_exchange() ? "alltoallv" : "none"; }
  /// Nothing, or why it cannot use this exchange.
  [[nodiscard]] virtual std::optional<std::string> refuses(const ExchangeMethod& /*exchange*/) const {
    return std::nullopt;
  }
  /// Nothing, or why the exchange does not go with the problem's parameters.
  [[nodiscard]] virtual std::optional<std::string> refuses_parameters(const ExchangeMethod& exchange,
                                                                      const Problem& /*problem*/) const {
    return refuses(exchange);
  }
  /// The local FFT library that it brings itself, whatever a point asks for; nothing: it takes that of the point.
  [[nodiscard]] virtual std::optional<std::string> own_local_fft(const Problem& /*problem*/) const {
    return std::nullopt;
  }
  /// How many threads the local library is asked for.
  [[nodiscard]] virtual int local_fft_threads(const Problem& problem) const { return problem.threads; }
  /// The kinds of transform it can do; asked for another it is skipped.
  [[nodiscard]] virtual std::vector<Kind> kinds() const { return {Kind::c2c}; }
  /// The parameters it reads (Problem::parameters); others are an input error.
  [[nodiscard]] virtual std::vector<Parameter> parameters() const { return {}; }
  /// How many entries a process grid for the problem on this many ranks has: 2 for P1 x P2. With one there is but one
  /// grid. Throws InputError for a parameter that cannot be used. Calls no MPI.
  [[nodiscard]] virtual std::size_t grid_entries(const Problem& /*problem*/, int /*ranks*/) const { return 1; }
  /// Before wisdom is read: a library that adds solvers to those of the local FFT library adds them now, because
  /// wisdom is bound to the set of solvers.
  virtual void register_solvers() const {}
  /// What the plan's threads ask of MPI; the program must have initialised MPI with it. Throws InputError for a
  /// parameter that cannot be used. Calls no MPI.
  [[nodiscard]] virtual ThreadLevel thread_level(const Problem& /*problem*/) const { return ThreadLevel::funneled; }
  /// Nothing, or why one instance of the problem, of one of its kinds, cannot be solved on this many ranks. Calls no
  /// MPI.
  [[nodiscard]] virtual std::optional<std::string> supports(const Problem& problem, int ranks) const = 0;
  /// Nothing, or why `plans` plans of the problem cannot be made on the ranks of comm, which only their nodes can tell.
  /// The same on all ranks. Collective. The point is then skipped.
  [[nodiscard]] virtual std::string cannot_run_on(const Problem& /*problem*/, MPI_Comm /*comm*/, int /*plans*/) const {
    return {};
  }
  /// Whether times of the problem are of something else than what they are named after: of a stand-in for a device.
  [[nodiscard]] virtual bool emulates(const Problem& /*problem*/) const { return false; }
  /// Describes the devices that a rank of comm computes on, if it does: what they are, and their state now. Null: none.
  [[nodiscard]] virtual nlohmann::json describe_devices(const Problem& /*problem*/, MPI_Comm /*comm*/) const;
  /// Collective. Only called when supports() returned nothing.
  [[nodiscard]] virtual std::unique_ptr<Plan> make_plan(const PlanContext& context) const = 0;
  [[nodiscard]] virtual Cost cost(const Problem& problem, int ranks) const = 0;
  /// What `rank` exchanges with whom in one transform, one redistribution after the other: exact, for any number of
  /// ranks, and without MPI. Empty where the method has none, as one whose ranks exchange with one partner at a time.
  [[nodiscard]] virtual std::vector<RedistributionGroup> redistributions(const Problem& /*problem*/, int /*ranks*/,
                                                                         int /*rank*/) const {
    return {};
  }
};

using VariantRegistry = Registry<Variant>;

}  // namespace fourscore

#define FOURSCORE_REGISTER_VARIANT(Type) \
  static const bool registered_##Type = ::fourscore::VariantRegistry::instance().add(std::make_unique<Type>())
