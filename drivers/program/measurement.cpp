#include "program/measurement.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <set>
#include <type_traits>

#include "core/record.hpp"
#include "core/sha256.hpp"
#include "harness/charge.hpp"
#include "harness/counting.hpp"
#include "harness/gather.hpp"
#include "harness/instances.hpp"
#include "harness/planning.hpp"
#include "harness/provenance.hpp"
#include "harness/round_trip.hpp"
#include "harness/simulated.hpp"
#include "mpi/error.hpp"
#include "program/counters.hpp"
#include "variants/reference/reference_plan.hpp"

namespace fourscore::bench {
namespace {

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

double data_bytes(const Plan& plan, int rank, const Problem& problem) {
  const auto bytes = [rank](const Decomposition& layout, std::size_t element_bytes) {
    return static_cast<double>(layout.volume(rank)) * static_cast<double>(element_bytes);
  };
  return std::max(bytes(plan.input_layout(), problem.input_element_bytes()),
                  bytes(plan.output_layout(), problem.output_element_bytes()));
}

std::unique_ptr<Instances> make_instances(MPI_Comm comm, Agreement& agreement, const ResolvedPoint& resolved,
                                          Measurement& result, double& own_seconds) {
  std::unique_ptr<Instances> instances;
  FOURSCORE_MPI(MPI_Barrier(comm));
  const Stopwatch watch;
  const auto plan_by = [&](const LocalFftLibrary& library) {
    agreement.run([&] {
      instances = std::make_unique<Instances>(*resolved.variant,
                                              PlanContext{resolved.point.problem, comm, resolved.exchange, library});
      own_seconds = watch.seconds();
    });
  };
  const NotingLibrary noting(*resolved.local_fft);
  plan_by(noting);
  int lacking = noting.wanted().empty() ? 0 : 1;
  FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, &lacking, 1, MPI_INT, MPI_MAX, comm));
  if (lacking != 0) {
    instances.reset();
    plan_together(comm, agreement, *resolved.local_fft, noting.wanted());
    plan_by(*resolved.local_fft);
  }
  result.steps.plan_s = watch.seconds();
  return instances;
}

/// The opposite transform of one instance, planned quickly, on the same grid; null where the variant has none, or where
/// it is to be left out.
std::unique_ptr<Plan> make_inverse(MPI_Comm comm, const ResolvedPoint& resolved, const Plan& plan) {
  if (resolved.point.problem.direction == Direction::roundtrip) return nullptr;  // it has its inverse in itself
  Problem opposite = one_instance(resolved.point.problem);
  opposite.direction = opposite.direction == Direction::forward ? Direction::backward : Direction::forward;
  opposite.contract.effort = Effort::estimate;
  opposite.grid = plan.facts().grid;
  if (resolved.variant->supports(opposite, mpi::size_of(comm))) return nullptr;
  return resolved.variant->make_plan({opposite, comm, resolved.exchange, *resolved.local_fft});
}

/// One for each instance that is here, each with data of its own, so that no instance passes with another's.
class Verifiers {
 public:
  Verifiers(const Problem& problem, const Instances& instances, std::uint64_t seed)
      : problem_(problem), instances_(instances), seed_(seed) {
    for (const auto& instance : instances.here()) {
      const auto number = static_cast<std::uint64_t>(instance.number);
      verifiers_.push_back(std::make_unique<Verifier>(one_instance(problem), instances.comm(), *instance.plan,
                                                      number == 0 ? seed : mix(seed + number)));
    }
  }
  using MakeInverse = std::function<std::unique_ptr<Plan>(const Plan&)>;
  [[nodiscard]] std::vector<Check> check_before(const MakeInverse& make) {
    return of_each([&](Verifier& verifier, Plan& plan) {
      std::vector<Check> checks = verifier.check_before(plan, [&] { return make(plan); });
      if (auto* round_trip = dynamic_cast<RoundTrip*>(&plan)) add_forward_half(*round_trip, checks);
      return checks;
    });
  }
  /// What the instances that are here handed to MPI, where a plan does not know it.
  [[nodiscard]] MessageVolume counted() const {
    MessageVolume volume;
    for (const auto& verifier : verifiers_)
      if (const auto& sent = verifier->sent())
        volume += {.bytes_sent = sent->bytes,
                   .messages_sent = sent->messages,
                   .control_messages_sent = sent->control_messages};
    return volume;
  }
  /// From here on data stays where the plans compute.
  void keep_data_in_place() {
    for (const auto& instance : instances_.here())
      if (DeviceData* const on_device = instance.plan->device_data()) on_device->keep_in_place(true);
  }
  void fill(int run) {
    for (std::size_t i = 0; i < verifiers_.size(); ++i) {
      Plan& plan = *instances_.here()[i].plan;
      plan.check_memory();
      DeviceData* const on_device = plan.device_data();
      if (on_device != nullptr) on_device->fetch_output();
      verifiers_[i]->fill(plan, run);
      if (on_device != nullptr) on_device->place_input();
    }
  }
  [[nodiscard]] std::vector<Check> check_after() {
    return of_each([](Verifier& verifier, Plan& plan) {
      plan.check_memory();
      if (DeviceData* const on_device = plan.device_data()) on_device->fetch_output();
      return verifier.check_after(plan);
    });
  }

 private:
  void add_forward_half(RoundTrip& round_trip, std::vector<Check>& checks) const {
    Verifier verifier(in_direction(one_instance(problem_), Direction::forward), instances_.comm(), round_trip.forward(),
                      seed_);
    for (Check& check : verifier.check_before(round_trip.forward(), nullptr)) {
      check.name += " of the forward half";
      checks.push_back(std::move(check));
    }
  }

  template <class CheckOne>
  std::vector<Check> of_each(const CheckOne& check_one) {
    std::vector<Check> all;
    for (std::size_t i = 0; i < verifiers_.size(); ++i)
      for (Check& check : check_one(*verifiers_[i], *instances_.here()[i].plan)) {
        if (instances_.several()) check.name += " of instance " + std::to_string(instances_.here()[i].number + 1);
        all.push_back(std::move(check));
      }
    return all;
  }

  const Problem& problem_;
  const Instances& instances_;
  std::uint64_t seed_;
  std::vector<std::unique_ptr<Verifier>> verifiers_;
};

/// Adds the checks of all instances on rank 0, those that are here elsewhere; whether all are ok is the same
/// everywhere.
bool keep_checks(MPI_Comm comm, const Instances& instances, const std::vector<Check>& mine, std::vector<Check>& kept) {
  int ok = std::all_of(mine.begin(), mine.end(), [](const Check& check) { return check.ok; }) ? 1 : 0;
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

/// Zeros stay zeros through every component, however often it runs; what a run left behind would grow with each pass
/// and overflow. One whole run spreads the zeros to all buffers of the plan.
void clear_buffers(Plan& plan, int rank, const Problem& problem) {
  const auto volume = static_cast<std::size_t>(plan.input_layout().memory_volume(rank));
  if (volume > 0) std::memset(plan.input(), 0, volume * problem.input_element_bytes());
  if (DeviceData* const on_device = plan.device_data()) on_device->place_input();
  PhaseClock clock(false);
  plan.execute(clock);
}

/// Every rank must have the same list, or the ranks would wait for each other in different components.
void check_components(MPI_Comm comm, const std::vector<Component>& components) {
  std::string names;
  for (const Component& component : components) names += component.name + "\n";
  const std::string hash = sha256_hex(names);
  std::array<char, 64> first{};
  std::copy(hash.begin(), hash.end(), first.begin());
  FOURSCORE_MPI(MPI_Bcast(first.data(), 64, MPI_CHAR, 0, comm));
  if (!std::equal(hash.begin(), hash.end(), first.begin()))
    throw std::logic_error("the ranks of the plan have different components");
}

/// What a rank tells of its plans.
struct RankFacts {
  double plan_s = 0;
  double local_data_bytes = 0;
  double plan_bytes = 0;
  double workspace_bytes = 0;
  ResidentMemory resident;
  MessageVolume declared;
  DeviceWork device;
  std::array<double, phase_count> min_bytes{};  ///< by phase; negative: unknown
  std::uint64_t local_ffts = 0;                 ///< a hash of their description
};
static_assert(std::is_trivially_copyable_v<RankFacts>);

/// What a plan that knows not what it sends sent: what was counted, or, where that is less, as of a library that calls
/// MPI's interface for Fortran, what must have gone from one layout to the other.
MessageVolume sent_by_library(const Instances& instances, const Problem& problem, const MessageVolume& counted) {
  MessageVolume least;
  for (const auto& instance : instances.here())
    least += payload_between(instance.plan->input_layout(), instance.plan->output_layout(),
                             mpi::rank_in(instances.comm()), problem.element_bytes());
  return counted.bytes_sent >= least.bytes_sent ? counted : least;
}

RankFacts facts_of_plans(Instances& instances, const Verifiers& verifiers, const Problem& problem, double plan_s,
                         const ResidentMemory& resident) {
  const Plan& plan = *instances.here().front().plan;
  RankFacts facts;
  facts.plan_s = plan_s;
  facts.local_data_bytes =
      data_bytes(plan, mpi::rank_in(instances.comm()), problem) * static_cast<double>(instances.here().size());
  facts.plan_bytes = static_cast<double>(instances.total(&PlanFacts::buffer_bytes));
  facts.workspace_bytes = static_cast<double>(instances.total(&PlanFacts::workspace_bytes));
  facts.resident = resident;
  facts.declared = instances.total(&PlanFacts::message_volume);
  if (facts.declared == MessageVolume{} && !plan.facts().message_volume_is_exact)
    facts.declared = sent_by_library(instances, problem, verifiers.counted());
  facts.device = instances.total(&PlanFacts::device_work);
  facts.min_bytes.fill(-1);
  for (const auto& [phase, bytes] : instances.min_bytes(problem))
    facts.min_bytes[static_cast<std::size_t>(phase)] = static_cast<double>(bytes);
  const std::string hash = short_hash(nlohmann::json(plan.facts().local_ffts));
  facts.local_ffts = std::stoull(hash, nullptr, 16);
  return facts;
}

void describe_plans(MPI_Comm comm, Instances& instances, const Verifiers& verifiers, const ResolvedPoint& resolved,
                    double plan_s, const ResidentMemory& resident, Measurement& result) {
  const Plan& plan = *instances.here().front().plan;
  const RankFacts mine = facts_of_plans(instances, verifiers, resolved.point.problem, plan_s, resident);
  const std::vector<RankFacts> all = gather_values(comm, mine);
  std::set<std::uint64_t> distinct;
  for (const RankFacts& one : all) {
    result.plan_s.push_back(one.plan_s);
    result.local_data_bytes.push_back(one.local_data_bytes);
    result.plan_bytes.push_back(one.plan_bytes);
    result.workspace_bytes.push_back(one.workspace_bytes);
    result.peak_rss_bytes.push_back(one.resident.peak_bytes);
    result.huge_bytes.push_back(one.resident.huge_bytes);
    result.declared.push_back(one.declared);
    result.device.push_back(one.device);
    distinct.insert(one.local_ffts);
  }
  for (std::size_t phase = 0; phase < phase_count; ++phase) {
    const auto known = [phase](const RankFacts& one) { return one.min_bytes[phase] >= 0; };
    if (all.empty() || !std::ranges::all_of(all, known)) continue;
    auto& of_phase = result.min_bytes[static_cast<Phase>(phase)];
    for (const RankFacts& one : all) of_phase.push_back(one.min_bytes[phase]);
  }
  result.distinct_plans = static_cast<int>(distinct.size());
  result.plan_hash = short_hash(nlohmann::json(distinct));
  result.local_ffts = plan.facts().local_ffts;
  result.grid = plan.facts().grid;
  result.input_layout = plan.input_layout().name;
  result.output_layout = plan.output_layout().name;
}

Samples sample(Sampler& sampler, Instances& instances, Verifiers& verifiers, bool round_trips) {
  return sampler.measure_instances(
      instances.completions(), [&](int run) { verifiers.fill(run); },
      [&](PhaseClock& clock, const Sampler::Done& done) { instances.execute(clock, done); }, round_trips);
}

/// On a simulated machine a component takes its charge beside its messages.
std::vector<Component> charged(std::vector<Component> components, const Charges& charges,
                               const std::map<Phase, Index>& min_bytes) {
  for (Component& component : components)
    component.run = [run = component.run, charge = charge_of(component, charges, min_bytes)] {
      if (charge.seconds > 0) simulated_machine()->work(charge.seconds, charge.bytes);
      run();
    };
  return components;
}

std::vector<ComponentSamples> sample_components(MPI_Comm comm, Sampler& sampler, Instances& instances,
                                                const Problem& problem, const std::optional<Charges>& charges) {
  std::vector<Component> components = instances.components();
  if (charges) components = charged(std::move(components), *charges, instances.min_bytes(problem));
  check_components(comm, components);
  for (const auto& instance : instances.here()) clear_buffers(*instance.plan, mpi::rank_in(instances.comm()), problem);
  std::vector<ComponentSamples> samples;
  for (const Component& component : components) samples.push_back(sampler.measure_component(component));
  return samples;
}

/// The same work as the samples, then each component where they were timed alone.
nlohmann::json count(MPI_Comm comm, const Options& options, Instances& instances, Verifiers& verifiers,
                     const Problem& problem) {
  CountedRuns counted(comm, options.counters->request, problem.threads);
  int run = options.sampling.repetitions;
  counted.count([&] { verifiers.fill(run++); },
                [&](PhaseClock& clock) { instances.execute(clock, [](std::size_t) {}); });
  if (options.settings.isolate) {
    for (const auto& instance : instances.here())
      clear_buffers(*instance.plan, mpi::rank_in(instances.comm()), problem);
    for (const Component& component : instances.components()) counted.count_component(component);
  }
  return counted.gather();
}

struct OptionalPart {
  std::string_view name;
  std::optional<double>& seconds;
  std::function<void()> work;
};

/// One after another, each after what there is so far was kept. Ranks that met a failure may have left messages behind,
/// so that nothing more is tried on the plan then.
void run_parts(Agreement& agreement, const std::vector<OptionalPart>& parts, Measurement& result,
               const std::function<void(const Measurement&)>& keep) {
  for (const OptionalPart& part : parts)
    result.failed_parts[std::string(part.name)] = failed_part_json("failed", "the program ended before it was through");
  std::string failed;
  for (const OptionalPart& part : parts) {
    const std::string name(part.name);
    if (!failed.empty()) {
      result.failed_parts[name] = failed_part_json("failed", "not begun, because " + failed + " failed before it");
      continue;
    }
    agreement.run_on_root([&] { keep(result); });
    const Stopwatch watch;
    try {
      agreement.run(part.work);
      part.seconds = watch.seconds();
      result.failed_parts.erase(name);
    } catch (const LeaveTogether& leave) {
      failed = name;
      result.failed_parts[name] = failed_part_json("failed", leave.message);
    }
  }
}

}  // namespace

bool has_optional_parts(const Options& options) {
  return options.settings.timeline || options.settings.isolate || options.counters;
}

nlohmann::json harness_json(const StepTimes& steps) {
  nlohmann::json harness = nlohmann::json::object();
  const auto add = [&](const char* name, const std::optional<double>& seconds) {
    if (seconds) harness[name] = *seconds;
  };
  add("launch_s", steps.launch_s);
  add("init_s", steps.init_s);
  add("plan_s", steps.plan_s);
  add("verify_s", steps.verify_s);
  add("measure_s", steps.measure_s);
  add("timeline_s", steps.timeline_s);
  add("isolate_s", steps.isolate_s);
  add("count_s", steps.count_s);
  return harness;
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

Measurement measure(MPI_Comm comm, Agreement& agreement, const Options& options, const ResolvedPoint& resolved,
                    Wisdom* wisdom, const StepTimes& before, const std::function<void(const Measurement&)>& keep) {
  Measurement result;
  result.steps = before;
  const Problem& problem = resolved.point.problem;
  if (options.counters && counter_backend(options.counters->request.backend).simulates()) start_on_an_empty_heap();
  double plan_s = 0;
  const auto instances = make_instances(comm, agreement, resolved, result, plan_s);
  if (wisdom != nullptr) wisdom->save();

  const Stopwatch verify_watch;
  Verifiers verifiers(problem, *instances, options.seed);
  std::optional<ResidentMemory> resident;
  const auto first_checks = verifiers.check_before([&](const Plan& plan) {
    // The plan has run by now, and the inverse is not part of its memory.
    if (!resident) resident = resident_memory();
    return options.extent == CheckExtent::all ? make_inverse(instances->comm(), resolved, plan) : nullptr;
  });
  if (!resident) resident = resident_memory();
  const bool right = keep_checks(comm, *instances, first_checks, result.checks);
  result.steps.verify_s = verify_watch.seconds();
  describe_plans(comm, *instances, verifiers, resolved, plan_s, *resident, result);
  if (!right) return result;
  verifiers.keep_data_in_place();

  SamplingOptions sampling = options.sampling;
  if (const SimulatedMachine* const machine = simulated_machine()) {
    Problem planned = problem;
    planned.grid = instances->here().front().plan->facts().grid;
    const double flops = cost_of_instances(*resolved.variant, planned, resolved.point.ranks).flops;
    const LocalFftUse use = resolved.variant->local_fft(problem);
    const int of_library = use.own ? 1 : use.threads;
    sampling.charges = charges_of(*machine, flops / resolved.point.ranks, instances->min_bytes(problem),
                                  {problem.threads / of_library, of_library});
  }
  Sampler sampler(comm, sampling);
  const Stopwatch measure_watch;
  result.samples = sample(sampler, *instances, verifiers, problem.direction == Direction::roundtrip);
  result.steps.measure_s = measure_watch.seconds();
  const Stopwatch after_watch;
  result.ok = keep_checks(comm, *instances, verifiers.check_after(), result.checks);
  *result.steps.verify_s += after_watch.seconds();
  if (!result.ok) return result;
  std::vector<OptionalPart> parts;
  if (options.settings.timeline)
    parts.push_back({"timeline", result.steps.timeline_s, [&] {
                       result.timeline = sampler.trace(
                           [&] { verifiers.fill(options.sampling.repetitions); },
                           [&](PhaseClock& clock) { instances->execute(clock, [](std::size_t) {}); }, problem.threads);
                     }});
  if (options.settings.isolate)
    parts.push_back({"isolate", result.steps.isolate_s, [&] {
                       result.isolated = sample_components(comm, sampler, *instances, problem, sampling.charges);
                     }});
  if (options.counters)
    parts.push_back({"counters", result.steps.count_s,
                     [&] { result.counters = count(comm, options, *instances, verifiers, problem); }});
  run_parts(agreement, parts, result, keep);
  return result;
}

}  // namespace fourscore::bench
