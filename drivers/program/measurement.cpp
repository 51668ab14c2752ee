#include "program/measurement.hpp"

#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <stdexcept>

#include "core/record.hpp"
#include "core/sha256.hpp"
#include "harness/active_ranks.hpp"
#include "harness/charge.hpp"
#include "harness/counting.hpp"
#include "harness/instances.hpp"
#include "harness/planning.hpp"
#include "harness/provenance.hpp"
#include "harness/simulated.hpp"
#include "mpi/error.hpp"
#include "program/counters.hpp"
#include "program/plan_description.hpp"
#include "program/verifiers.hpp"

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
  if (goes_back(resolved.point.problem.direction)) return nullptr;  // it has its inverse in itself
  Problem opposite = one_instance(resolved.point.problem);
  opposite.direction = opposite.direction == Direction::forward ? Direction::backward : Direction::forward;
  opposite.contract.effort = Effort::estimate;
  opposite.grid = plan.facts().grid;
  if (supports_directions(*resolved.variant, opposite, mpi::size_of(comm))) return nullptr;
  return make_plan_of(*resolved.variant, {opposite, comm, resolved.exchange, *resolved.local_fft});
}

/// What this rank computes over what a rank does on average: idle ranks leave their part to the active ones.
double share_of_flops(const ResolvedPoint& resolved, MPI_Comm comm) {
  const int ranks = mpi::size_of(comm);
  const int active = active_ranks_of(*resolved.variant, resolved.point.problem, ranks);
  return is_active(mpi::rank_in(comm), active, ranks) ? static_cast<double>(ranks) / active : 0;
}

/// Zeros stay zeros through every component, however often it runs; what a run left behind would grow with each pass
/// and overflow. One whole run spreads the zeros to all buffers of the plan.
void clear_buffers(Plan& plan, int rank, const Problem& problem) {
  const Index in_array = plan.facts().input_fields.fields;
  const auto elements = static_cast<std::size_t>(plan.input_layout().memory_volume(rank) * in_array);
  for (Index array = 0; elements > 0 && array < plan.fields() / in_array; ++array)
    std::memset(plan.arrays_of(array).input, 0, elements * problem.input_element_bytes());
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

/// The checks before timing, as many as are asked for. `resident` is the memory once the plan has run.
std::vector<Check> check_plans(const Options& options, const ResolvedPoint& resolved, Instances& instances,
                               Verifiers& verifiers, std::optional<ResidentMemory>& resident) {
  if (options.extent == CheckExtent::waves) return verifiers.check_waves();
  return verifiers.check_before([&](const Plan& plan) {
    // The plan has run by now, and the inverse is not part of its memory.
    if (!resident) resident = resident_memory();
    return options.extent == CheckExtent::all ? make_inverse(instances.comm(), resolved, plan) : nullptr;
  });
}

/// Checks the plans, samples them, checks again, and then runs what else was asked for.
void measure_planned(MPI_Comm comm, Agreement& agreement, const Options& options, const ResolvedPoint& resolved,
                     Instances& instances, double plan_s, const std::function<void(const Measurement&)>& keep,
                     Measurement& result) {
  const Problem& problem = resolved.point.problem;
  const Stopwatch verify_watch;
  Verifiers verifiers(problem, instances, options.seed);
  std::optional<ResidentMemory> resident;
  const auto first_checks = check_plans(options, resolved, instances, verifiers, resident);
  if (!resident) resident = resident_memory();
  const bool right = keep_checks(comm, instances, first_checks, result.checks);
  result.steps.verify_s = verify_watch.seconds();
  describe_plans(comm, instances, verifiers, resolved, plan_s, *resident, result);
  if (!right) return;
  verifiers.keep_data_in_place();

  SamplingOptions sampling = options.sampling;
  sampling.charges = charges_here(resolved, instances);
  Sampler sampler(comm, sampling);
  const Stopwatch measure_watch;
  const auto work = begin_work(comm, problem, instances, [&] { verifiers.fill(-1); });
  result.samples = sample(sampler, instances, verifiers, goes_back(problem.direction));
  if (work != nullptr) result.other_work = work_done(comm, sampler, *work);
  result.steps.measure_s = measure_watch.seconds();
  const Stopwatch after_watch;
  result.ok = keep_checks(comm, instances, verifiers.check_after(), result.checks);
  *result.steps.verify_s += after_watch.seconds();
  if (!result.ok) return;
  std::vector<OptionalPart> parts;
  if (options.settings.timeline)
    parts.push_back({"timeline", result.steps.timeline_s, [&] {
                       result.timeline = sampler.trace(
                           [&] { verifiers.fill(options.sampling.repetitions); },
                           [&](PhaseClock& clock) { instances.execute(clock, [](std::size_t) {}); }, problem.threads);
                     }});
  if (options.settings.isolate)
    parts.push_back({"isolate", result.steps.isolate_s, [&] {
                       result.isolated = sample_components(comm, sampler, instances, problem, sampling.charges);
                     }});
  if (options.counters)
    parts.push_back({"counters", result.steps.count_s,
                     [&] { result.counters = count(comm, options, instances, verifiers, problem); }});
  run_parts(agreement, parts, result, keep);
}

}  // namespace

std::optional<Charges> charges_here(const ResolvedPoint& resolved, Instances& instances) {
  const SimulatedMachine* const machine = simulated_machine();
  if (machine == nullptr) return std::nullopt;
  const Problem& problem = resolved.point.problem;
  Problem planned = problem;
  planned.grid = instances.here().front().plan->facts().grid;
  const double flops = cost_of_instances(*resolved.variant, planned, resolved.point.ranks).flops *
                       share_of_flops(resolved, instances.comm());
  const LocalFftUse use = resolved.variant->local_fft(problem);
  const int of_library = use.own ? 1 : use.threads;
  return charges_of(*machine, flops / resolved.point.ranks, instances.min_bytes(problem),
                    {problem.threads / of_library, of_library});
}

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
  add("tune_s", steps.tune_s);
  add("plan_s", steps.plan_s);
  add("verify_s", steps.verify_s);
  add("measure_s", steps.measure_s);
  add("timeline_s", steps.timeline_s);
  add("isolate_s", steps.isolate_s);
  add("count_s", steps.count_s);
  return harness;
}

Measurement measure(MPI_Comm comm, Agreement& agreement, const Options& options, const ResolvedPoint& resolved,
                    Wisdom* wisdom, const StepTimes& before, const std::function<void(const Measurement&)>& keep) {
  Measurement result;
  result.steps = before;
  if (options.counters && counter_backend(options.counters->request.backend).simulates()) start_on_an_empty_heap();
  double plan_s = 0;
  const auto instances = make_instances(comm, agreement, resolved, result, plan_s);
  if (wisdom != nullptr) wisdom->save();
  // Not until the job has ended may the arrays go that other ranks put or send into.
  agreement.run_or_end_job(
      [&] { measure_planned(comm, agreement, options, resolved, *instances, plan_s, keep, result); });
  return result;
}

}  // namespace fourscore::bench
