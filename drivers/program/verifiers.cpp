#include "program/verifiers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "harness/energy_check.hpp"
#include "harness/gather.hpp"
#include "mpi/error.hpp"

namespace fourscore::bench {

Verifiers::Verifiers(const Problem& problem, const Instances& instances, std::uint64_t seed)
    : problem_(problem), instances_(instances), seed_(seed) {
  for (const auto& instance : instances.here()) {
    const auto number = static_cast<std::uint64_t>(instance.number);
    verifiers_.push_back(std::make_unique<Verifier>(one_instance(problem), instances.comm(), *instance.plan,
                                                    number == 0 ? seed : mix(seed + number)));
  }
}

template <class CheckOne>
std::vector<Check> Verifiers::of_each(const CheckOne& check_one) {
  std::vector<Check> all;
  for (std::size_t i = 0; i < verifiers_.size(); ++i)
    for (Check& check : check_one(*verifiers_[i], *instances_.here()[i].plan)) {
      if (instances_.several()) check.name += " of instance " + std::to_string(instances_.here()[i].number + 1);
      all.push_back(std::move(check));
    }
  return all;
}

std::vector<Check> Verifiers::check_before(const MakeInverse& make) {
  return of_each([&](Verifier& verifier, Plan& plan) {
    std::vector<Check> checks = verifier.check_before(plan, [&] { return make(plan); });
    if (auto* round_trip = dynamic_cast<RoundTrip*>(&plan)) add_forward_half(*round_trip, checks);
    return checks;
  });
}

std::vector<Check> Verifiers::check_waves() {
  return of_each([](Verifier& verifier, Plan& plan) { return verifier.check_waves(plan); });
}

MessageVolume Verifiers::counted() const {
  MessageVolume volume;
  for (const auto& verifier : verifiers_)
    if (const auto& sent = verifier->sent())
      volume +=
          {.bytes_sent = sent->bytes, .messages_sent = sent->messages, .control_messages_sent = sent->control_messages};
  return volume;
}

void Verifiers::keep_data_in_place() {
  for (const auto& instance : instances_.here())
    if (DeviceData* const on_device = instance.plan->device_data()) on_device->keep_in_place(true);
}

void Verifiers::fill(int run) {
  for (std::size_t i = 0; i < verifiers_.size(); ++i) {
    Plan& plan = *instances_.here()[i].plan;
    plan.check_memory();
    DeviceData* const on_device = plan.device_data();
    if (on_device != nullptr) on_device->fetch_output();
    verifiers_[i]->fill(plan, run);
    if (on_device != nullptr) on_device->place_input();
  }
}

std::vector<Check> Verifiers::check_after() {
  return of_each([](Verifier& verifier, Plan& plan) {
    plan.check_memory();
    if (DeviceData* const on_device = plan.device_data()) on_device->fetch_output();
    return verifier.check_after(plan);
  });
}

void Verifiers::add_forward_half(RoundTrip& round_trip, std::vector<Check>& checks) const {
  const Problem one = one_instance(problem_);
  if (one.direction == Direction::convolution)
    checks.push_back(check_energy(one, instances_.comm(), round_trip, seed_, verifiers_.front()->tolerance()));
  const Problem half = in_direction(one, Direction::forward);
  if (round_trip.forward().output_layout().shape != half.output_extents()) {  // truncated
    checks.push_back(check_kept_modes(one, instances_.comm(), round_trip, seed_, verifiers_.front()->tolerance()));
    return;
  }
  Verifier verifier(half, instances_.comm(), round_trip.forward(), seed_);
  for (Check& check : verifier.check_before(round_trip.forward(), nullptr)) {
    check.name += " of the forward half";
    checks.push_back(std::move(check));
  }
}

nlohmann::json checks_json(const std::vector<Check>& checks) {
  nlohmann::json list = nlohmann::json::array();
  for (const Check& check : checks) {
    nlohmann::json entry{{"name", check.name}, {"when", check.when}, {"tolerance", check.tolerance}, {"ok", check.ok}};
    if (std::isfinite(check.error)) entry["error"] = check.error;
    if (!check.finding.empty()) entry["finding"] = check.finding;
    list.push_back(std::move(entry));
  }
  return list;
}

bool keep_checks(MPI_Comm comm, const Instances& instances, const std::vector<Check>& mine, std::vector<Check>& kept) {
  int ok = all_ok(mine) ? 1 : 0;
  FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, &ok, 1, MPI_INT, MPI_MIN, comm));
  if (instances.here().size() > 1 || !instances.several()) {  // every rank knows all of them
    kept.insert(kept.end(), mine.begin(), mine.end());
    return ok != 0;
  }
  const bool speaks = mpi::rank_in(instances.comm()) == 0;
  const mpi::Communicator speakers = mpi::split(comm, speaks ? 0 : MPI_UNDEFINED, mpi::rank_in(comm));
  if (!speaks) return ok != 0;
  for (const auto& list : gather_json(speakers.get(), checks_json(mine)))
    for (const auto& entry : list)
      kept.push_back({entry["name"], entry["when"], entry.value("error", std::numeric_limits<double>::infinity()),
                      entry["tolerance"], entry["ok"], entry.value("finding", "")});
  return ok != 0;
}

}  // namespace fourscore::bench
