#pragma once
// The verifiers of all instances, and their checks.

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "harness/instances.hpp"
#include "harness/round_trip.hpp"
#include "harness/verifier.hpp"

namespace fourscore::bench {

/// One for each instance that is here, each with data of its own, so that no instance passes with another's.
class Verifiers {
 public:
  using MakeInverse = std::function<std::unique_ptr<Plan>(const Plan&)>;

  Verifiers(const Problem& problem, const Instances& instances, std::uint64_t seed);
  [[nodiscard]] std::vector<Check> check_before(const MakeInverse& make);
  [[nodiscard]] std::vector<Check> check_waves();
  /// What the instances that are here handed to MPI, where a plan does not know it.
  [[nodiscard]] MessageVolume counted() const;
  /// From here on data stays where the plans compute.
  void keep_data_in_place();
  void fill(int run);
  [[nodiscard]] std::vector<Check> check_after();

 private:
  void add_forward_half(RoundTrip& round_trip, std::vector<Check>& checks) const;
  template <class CheckOne>
  std::vector<Check> of_each(const CheckOne& check_one);

  const Problem& problem_;
  const Instances& instances_;
  std::uint64_t seed_;
  std::vector<std::unique_ptr<Verifier>> verifiers_;
};

/// An array of objects. JSON has no NaN and no infinity: an error that is not finite is absent, and its check is not
/// ok.
[[nodiscard]] nlohmann::json checks_json(const std::vector<Check>& checks);

/// Adds the checks of all instances on rank 0, those that are here elsewhere; whether all are ok is the same
/// everywhere.
bool keep_checks(MPI_Comm comm, const Instances& instances, const std::vector<Check>& mine, std::vector<Check>& kept);

}  // namespace fourscore::bench
