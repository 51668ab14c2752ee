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

/// What a variant takes, whatever the problem.
struct VariantFacts {
  std::vector<Kind> kinds{Kind::c2c};  ///< it can do these; asked for another it is skipped
  /// The exchange of a point that names none; one that it does not refuse. "none": it takes none.
  std::string exchange = "alltoallv";
  std::vector<Parameter> parameters{};  ///< that it reads (Problem::parameters); others are an input error
};

/// Who makes a rank's local transforms.
struct LocalFftUse {
  std::optional<std::string> own;  ///< the library that the variant brings, whatever a point asks for; nothing: none
  int threads = 1;                 ///< that the point's library is asked for
};

/// What a variant that computes on devices says of a problem.
class DeviceUse {
 public:
  /// Whether times are of something else than what they are named after: of a stand-in for a device.
  [[nodiscard]] virtual bool emulates(const Problem& problem) const = 0;
  /// Describes the device that this rank of comm computes on: what it is, and its state now.
  [[nodiscard]] virtual nlohmann::json describe(const Problem& problem, MPI_Comm comm) const = 0;
  /// Nothing, or why `plans` plans of the problem cannot be made on the ranks of comm. The same on all ranks.
  /// Collective. The point is then skipped.
  [[nodiscard]] virtual Reason obstacle(const Problem& problem, MPI_Comm comm, int plans) const = 0;

 protected:
  ~DeviceUse() = default;
};

class Variant {
 public:
  virtual ~Variant() = default;
  [[nodiscard]] virtual Card card() const = 0;
  [[nodiscard]] virtual std::string unavailable() const { return {}; }
  [[nodiscard]] virtual VariantFacts facts() const { return {}; }
  [[nodiscard]] bool takes_exchange() const { return facts().exchange != "none"; }
  /// Nothing, or why it cannot use this exchange with the problem's parameters.
  [[nodiscard]] virtual Reason refuses(const ExchangeMethod& /*exchange*/, const Problem& /*problem*/) const {
    return std::nullopt;
  }
  /// Nothing, or why it cannot transform the problem's several fields in their order. A variant that takes them
  /// together makes one plan of all; of the other orders it makes a plan for each.
  [[nodiscard]] virtual Reason refuses_fields(const Problem& problem) const;
  [[nodiscard]] virtual LocalFftUse local_fft(const Problem& problem) const { return {std::nullopt, problem.threads}; }
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
  [[nodiscard]] virtual Reason supports(const Problem& problem, int ranks) const = 0;
  /// Nothing, or why a problem that it supports, all instances of it, cannot run between the ranks of comm, which only
  /// MPI can tell: a network without one-sided communication, say. Collective. The point is then skipped.
  [[nodiscard]] virtual Reason cannot_run_on(const Problem& /*problem*/, MPI_Comm /*comm*/) const { return {}; }
  /// Null: the problem is computed on processors alone.
  [[nodiscard]] virtual const DeviceUse* device_use(const Problem& /*problem*/) const { return nullptr; }
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

/// Variant::refuses_fields() of one that is a library of others, whose plans are not told apart in parts.
[[nodiscard]] Reason whole_fields(const Problem& problem, const Variant& variant);

using VariantRegistry = Registry<Variant>;

}  // namespace fourscore

#define FOURSCORE_REGISTER_VARIANT(Type) \
  static const bool registered_##Type = ::fourscore::VariantRegistry::instance().add(std::make_unique<Type>())
