#include "bench/measurement.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <set>

#include "core/provenance.hpp"
#include "mpi/error.hpp"
#include "results/sha256.hpp"

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
  const auto at = static_cast<std::size_t>(rank);
  const auto bytes = [at](const Decomposition& layout, std::size_t element_bytes) {
    return static_cast<double>(layout.boxes.at(at).volume()) * static_cast<double>(element_bytes);
  };
  return std::max(bytes(plan.input_layout(), problem.input_element_bytes()),
                  bytes(plan.output_layout(), problem.output_element_bytes()));
}

void load_wisdom(Agreement& agreement, const Options& options, const ResolvedPoint& resolved, Measurement& result) {
  if (!options.wisdom) return;
  agreement.run([&] {
    if (resolved.local_fft->load_wisdom(*options.wisdom)) result.wisdom_sha256 = sha256_file(*options.wisdom);
  });
}

std::unique_ptr<Plan> make_plan(MPI_Comm comm, Agreement& agreement, const ResolvedPoint& resolved, Measurement& result,
                                double& own_seconds) {
  std::unique_ptr<Plan> plan;
  FOURSCORE_MPI(MPI_Barrier(comm));
  const Stopwatch watch;
  agreement.run([&] {
    plan = resolved.variant->make_plan({resolved.point.problem, comm, resolved.exchange, *resolved.local_fft});
    own_seconds = watch.seconds();
  });
  result.steps.plan_s = watch.seconds();
  return plan;
}

/// The opposite transform, planned quickly, on the same grid; null where the variant has none.
std::unique_ptr<Plan> make_inverse(MPI_Comm comm, const ResolvedPoint& resolved, const Plan& plan) {
  Problem opposite = resolved.point.problem;
  opposite.direction = opposite.direction == Direction::forward ? Direction::backward : Direction::forward;
  opposite.contract.effort = Effort::estimate;
  opposite.grid = plan.grid();
  if (resolved.variant->supports(opposite, resolved.point.ranks)) return nullptr;
  return resolved.variant->make_plan({opposite, comm, resolved.exchange, *resolved.local_fft});
}

/// Zeros stay zeros through every component, however often it runs; what a run left behind would grow with each pass
/// and overflow. One whole run spreads the zeros to all buffers of the plan.
void clear_buffers(Plan& plan, int rank, const Problem& problem) {
  const auto volume = static_cast<std::size_t>(plan.input_layout().memory_volume(rank));
  if (volume > 0) std::memset(plan.input(), 0, volume * problem.input_element_bytes());
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

void describe_plan(MPI_Comm comm, const Plan& plan, const ResolvedPoint& resolved, double plan_s, double rss,
                   Measurement& result) {
  const int rank = mpi::rank_in(comm);
  const Traffic traffic = plan.traffic();
  const nlohmann::json mine{{"plan_s", plan_s},
                            {"local_data_bytes", data_bytes(plan, rank, resolved.point.problem)},
                            {"plan_bytes", plan.buffer_bytes()},
                            {"workspace_bytes", plan.workspace_bytes()},
                            {"rss", rss},
                            {"local_ffts", plan.describe_local_ffts()},
                            {"bytes_sent", traffic.bytes_sent},
                            {"messages_sent", traffic.messages_sent},
                            {"bytes_self", traffic.bytes_self},
                            {"bytes_read_shared", traffic.bytes_read_shared}};
  std::set<nlohmann::json> distinct;
  for (const auto& one : gather_json(comm, mine)) {
    result.plan_s.push_back(one["plan_s"]);
    result.local_data_bytes.push_back(one["local_data_bytes"]);
    result.plan_bytes.push_back(one["plan_bytes"]);
    result.workspace_bytes.push_back(one["workspace_bytes"]);
    result.peak_rss_bytes.push_back(one["rss"]);
    result.bytes_sent.push_back(one["bytes_sent"]);
    result.messages_sent.push_back(one["messages_sent"]);
    result.bytes_self.push_back(one["bytes_self"]);
    result.bytes_read_shared.push_back(one["bytes_read_shared"]);
    distinct.insert(one["local_ffts"]);
  }
  result.distinct_plans = static_cast<int>(distinct.size());
  result.local_ffts = plan.describe_local_ffts();
  result.grid = plan.grid();
  result.input_layout = plan.input_layout().name;
  result.output_layout = plan.output_layout().name;
}

bool all_ok(const std::vector<Check>& checks) {
  return std::all_of(checks.begin(), checks.end(), [](const Check& check) { return check.ok; });
}

}  // namespace

Measurement measure(MPI_Comm comm, Agreement& agreement, const Options& options, const ResolvedPoint& resolved) {
  Measurement result;
  const Problem& problem = resolved.point.problem;
  const int rank = mpi::rank_in(comm);
  load_wisdom(agreement, options, resolved, result);
  double plan_s = 0;
  const auto plan = make_plan(comm, agreement, resolved, result, plan_s);
  if (options.wisdom) agreement.run_on_root([&] { resolved.local_fft->save_wisdom(*options.wisdom); });

  const Stopwatch verify_watch;
  Verifier verifier(problem, comm, *plan, options.seed);
  double rss = 0;
  result.checks = verifier.check_before(*plan, [&] {
    // The plan has run by now, and the inverse is not part of its memory.
    rss = peak_rss_bytes();
    return make_inverse(comm, resolved, *plan);
  });
  if (rss == 0) rss = peak_rss_bytes();
  result.steps.verify_s = verify_watch.seconds();
  describe_plan(comm, *plan, resolved, plan_s, rss, result);
  if (!all_ok(result.checks)) return result;

  Sampler sampler(comm, options.sampling);
  const Stopwatch measure_watch;
  result.samples =
      sampler.measure([&](int run) { verifier.fill(*plan, run); }, [&](PhaseClock& clock) { plan->execute(clock); });
  result.steps.measure_s = measure_watch.seconds();
  const Stopwatch after_watch;
  result.checks.push_back(verifier.check_after(*plan));
  *result.steps.verify_s += after_watch.seconds();
  result.ok = all_ok(result.checks);
  if (result.ok && options.timeline) {
    const Stopwatch timeline_watch;
    result.timeline = sampler.trace([&] { verifier.fill(*plan, options.sampling.repetitions); },
                                    [&](PhaseClock& clock) { plan->execute(clock); }, problem.threads);
    result.steps.timeline_s = timeline_watch.seconds();
  }
  if (!result.ok || !options.isolate) return result;

  const Stopwatch isolate_watch;
  const std::vector<Component> components = plan->components();
  check_components(comm, components);
  clear_buffers(*plan, rank, problem);
  for (const Component& component : components) result.isolated.push_back(sampler.measure_component(component));
  result.steps.isolate_s = isolate_watch.seconds();
  return result;
}

}  // namespace fourscore::bench
