#include "program/plan_description.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "core/record.hpp"
#include "harness/gather.hpp"
#include "variants/reference/reference_plan.hpp"

namespace fourscore::bench {
namespace {

double data_bytes(const Plan& plan, int rank, const Problem& problem) {
  const auto bytes = [rank](const Decomposition& layout, std::size_t element_bytes) {
    return static_cast<double>(layout.volume(rank)) * static_cast<double>(element_bytes);
  };
  return static_cast<double>(plan.fields()) * std::max(bytes(plan.input_layout(), problem.input_element_bytes()),
                                                       bytes(plan.output_layout(), problem.output_element_bytes()));
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
    least +=
        payload_between(instance.plan->input_layout(), instance.plan->output_layout(), mpi::rank_in(instances.comm()),
                        problem.element_bytes() * static_cast<std::size_t>(problem.fields));
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

}  // namespace

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

}  // namespace fourscore::bench
