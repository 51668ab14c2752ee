#ifdef FOURSCORE_OPENMP

#include "variants/node/node_plan.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <thread>

#include "mpi/error.hpp"

namespace fourscore {

namespace {

bool has(const Axes& axes, std::size_t axis) { return std::ranges::find(axes, axis) != axes.end(); }

/// The axis along which the lines of a pass are dealt to the threads: the slowest that is long enough, so that the
/// shares lie apart; else the longest.
std::size_t dealt_axis(const Axes& transformed, const Extents& extents, int threads) {
  std::optional<std::size_t> best;
  for (std::size_t a = 0; a < 3; ++a) {
    if (has(transformed, a)) continue;
    if (extents[a] >= threads) return a;
    if (!best || extents[a] > extents[*best]) best = a;
  }
  return *best;
}

/// Passes that leave an axis to be dealt: planes where there are enough of them, a plane at a time in the cache, or
/// else one axis after the other, the fastest first.
std::vector<Axes> passes_of(Axes axes, const Extents& extents, int threads) {
  std::ranges::sort(axes, std::greater<>());
  std::vector<Axes> passes;
  if (axes.size() == 3) {
    passes = passes_of({axes[0], axes[1]}, extents, threads);
    passes.push_back({axes[2]});
  } else if (axes.size() == 2 && extents[3 - axes[0] - axes[1]] < threads) {
    passes = {{axes[0]}, {axes[1]}};
  } else if (!axes.empty()) {
    passes = {axes};
  }
  return passes;
}

/// The spec of one thread's share.
LocalFftSpec spec_of(const Problem& problem, const Axes& transformed, const Extents& extents, const Extents& strides) {
  LocalFftSpec spec = local_fft_spec(problem, transformed, extents, strides);
  spec.threads = 1;
  return spec;
}

/// Whether the threads of the ranks on this node, or of this rank, are more than the cores that they may use.
/// Collective. A simulated machine has a core for each thread.
bool is_crowded(MPI_Comm comm, int threads) {
  const mpi::Communicator node = mpi::split_by_node(comm);
  Index all = threads;
  FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT64_T, MPI_SUM, node.get()));
  const auto online = static_cast<Index>(std::thread::hardware_concurrency());
  const auto usable = static_cast<Index>(omp_get_num_procs());
  return ThreadStandIn::at_hand() == nullptr && ((online > 0 && all > online) || threads > usable);
}

}  // namespace

NodePlan::NodePlan(const PlanContext& context, std::vector<ChainStage> stages, const NodeOptions& options)
    : options_(options),
      stages_(std::move(stages)),
      team_(context.problem.threads, is_crowded(context.comm, context.problem.threads)),
      comm_(mpi::duplicate(context.comm)),
      element_bytes_(static_cast<Index>(context.problem.element_bytes())) {
  if (options_.callers != MpiCallers::one && team_.threads() > 1)
    if (const auto missing = mpi::missing_thread_level(ThreadLevel::multiple, options_.callers == MpiCallers::any
                                                                                  ? "variant 'node' with style=charm"
                                                                                  : "variant 'node' with mpi=multiple"))
      throw InputError(*missing + "; expected mpi=funneled, or an MPI that provides it");
  declare_layouts(context.problem, stages_.front().layout, stages_.back().layout);
  declared().grid = options_.grid;
  place_stages(output_buffer(context.problem));
  const Index elements = largest_box(stages_, mpi::rank_in(comm_.get()));
  allocate(context, static_cast<std::size_t>(elements * element_bytes_), stages_.size() > 1);
  make_passes(context);
  make_exchanges(context);
  declared().workspace_bytes = context.local_fft.share_workspace();
  declare_work();
}

/// Each exchange leads to the other buffer. Where the result would then end in the wrong one, the last transform goes
/// out of place.
void NodePlan::place_stages(std::size_t output) {
  std::size_t last_transformed = 0;
  for (std::size_t s = 0; s < stages_.size(); ++s)
    if (!stages_[s].axes.empty()) last_transformed = s;
  const bool leaves = (stages_.size() - 1) % 2 != output;
  std::size_t place = 0;
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    const std::size_t lands_in = place;
    if (leaves && s == last_transformed) place = 1 - place;
    places_.push_back({lands_in, place});
    if (s + 1 < stages_.size()) place = 1 - place;
  }
}

/// Planned by one thread after another: planners of FFT libraries are no place for several.
void NodePlan::make_passes(const PlanContext& context) {
  const int me = mpi::rank_in(comm_.get());
  const int threads = team_.threads();
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    if (options_.on_device) {
      make_launch(context, s);
      continue;
    }
    const Extents extents = stages_[s].layout.box(me).extents();
    const Extents strides = stages_[s].layout.strides(me);
    std::vector<Axes> list = passes_of(stages_[s].axes, extents, threads);
    // They begin with the halved axis when they start from reals, and end with it when they lead to reals.
    if (context.problem.real_output()) std::ranges::reverse(list);
    auto& passes = passes_.emplace_back();
    for (std::size_t p = 0; p < list.size(); ++p) {
      const std::size_t dealt = dealt_axis(list[p], extents, threads);
      Pass& pass = passes.emplace_back();
      for (int thread = 0; thread < threads; ++thread) {
        const Range share = block_range(extents[dealt], threads, thread);
        Extents of_share = extents;
        of_share[dealt] = share.size();
        const LocalFftSpec spec = spec_of(context.problem, list[p], of_share, strides);
        const Index offset = share.low * strides[dealt] * element_bytes_;
        const std::size_t out = p + 1 == list.size() ? places_[s].leaves_in : places_[s].lands_in;
        pass.of_thread.push_back(context.local_fft.make(spec, data(places_[s].lands_in) + offset, data(out) + offset));
        pass.bytes.push_back(2 * static_cast<Index>(list[p].size()) * of_share[0] * of_share[1] * of_share[2] *
                             element_bytes_);
      }
    }
  }
}

/// All axes of a stage at once.
void NodePlan::make_launch(const PlanContext& context, std::size_t stage) {
  const int me = mpi::rank_in(comm_.get());
  auto& passes = passes_.emplace_back();
  if (stages_[stage].axes.empty()) return;
  const Decomposition& layout = stages_[stage].layout;
  const LocalFftSpec spec = spec_of(context.problem, stages_[stage].axes, layout.box(me).extents(), layout.strides(me));
  passes.emplace_back().of_thread.push_back(
      context.local_fft.make(spec, data(places_[stage].lands_in), data(places_[stage].leaves_in)));
}

bool NodePlan::leaves_z(std::size_t stage) const { return stages_[stage].axes == Axes{2}; }

void NodePlan::make_exchanges(const PlanContext& context) {
  std::size_t workspace = 0;
  for (std::size_t s = 0; s + 1 < stages_.size(); ++s) {
    exchanges_.push_back(std::make_unique<NodeExchange>(
        NodeExchangeSpec{stages_[s].layout, stages_[s + 1].layout, comm_.get(), context.problem.element_bytes(),
                         data(places_[s].leaves_in), data(places_[s + 1].lands_in), team_, options_.callers,
                         options_.one_packs_z && leaves_z(s), options_.segments, options_.segment_bytes,
                         static_cast<int>(s) * static_cast<int>(options_.segments)}));
    workspace = std::max(workspace, exchanges_.back()->workspace_bytes());
  }
  workspace_ = ordinary_buffer(workspace);
  for (const auto& exchange : exchanges_) exchange->use_workspace(static_cast<std::byte*>(workspace_->data()));
}

void NodePlan::run_passes(std::size_t stage, int thread, PhaseClock& clock) {
  for (Pass& pass : passes_[stage]) {
    const auto own = static_cast<std::size_t>(thread);
    if (!options_.on_device) {
      const Region region(clock, Phase::fft);
      team_.works_on(Phase::fft, pass.bytes[own]);
      team_.step(thread, [&] { pass.of_thread[own]->execute(); });
      team_.barrier();
      continue;
    }
    team_.step(thread, [&] {
      if (own < pass.of_thread.size()) pass.of_thread[own]->run(clock);
    });
    team_.barrier();
  }
}

void NodePlan::run_stage(std::size_t stage, int thread, PhaseClock& clock) {
  if (stage == exchanges_.size()) {
    run_passes(stage, thread, clock);
    return;
  }
  NodeExchange& exchange = *exchanges_[stage];
  const auto post = [&] {
    const Region region(clock, Phase::exchange);
    team_.step(thread, [&] { exchange.post(thread); });
  };
  // The messages may come straight to their place in the other buffer, so that this must not be in use.
  const bool in_place = places_[stage].lands_in == places_[stage].leaves_in;
  if (in_place) post();
  run_passes(stage, thread, clock);
  if (!in_place) post();
  const Region region(clock, Phase::exchange);
  if (!in_place || passes_[stage].empty()) team_.barrier();
  team_.step(thread, [&] { exchange.move(thread, clock); });
  team_.barrier();
}

void NodePlan::execute(PhaseClock& clock) {
  team_.run([&](int thread) {
    for (std::size_t stage = 0; stage < stages_.size(); ++stage)
      run_stage(stage, thread, clock.lane(static_cast<std::size_t>(thread)));
  });
}

void NodePlan::run_step(std::size_t stage, int thread, PhaseClock& clock) {
  if (stage > 0) {
    const Region region(clock, Phase::exchange);
    team_.step(thread, [&] { exchanges_[stage - 1]->finish(thread, clock); });
    team_.barrier();
  }
  run_passes(stage, thread, clock);
  if (stage == exchanges_.size()) return;
  const Region region(clock, Phase::exchange);
  team_.step(thread, [&] { exchanges_[stage]->post(thread); });
  team_.barrier();
  team_.step(thread, [&] { exchanges_[stage]->start(thread, clock); });
}

/// The end of the parallel region is the barrier between the halves of an exchange.
Advance NodePlan::advance(PhaseClock& clock) {
  team_.run([&](int thread) { run_step(next_, thread, clock.lane(static_cast<std::size_t>(thread))); });
  next_ = (next_ + 1) % stages_.size();
  return next_ == 0 ? Advance::complete : Advance::worked;
}

void NodePlan::add_components_of_redistribution(std::size_t redistribution, std::vector<Component>& list) {
  NodeExchange* exchange = exchanges_[redistribution].get();
  const auto add = [&](const char* name, Phase phase, Index min_bytes, auto part) {
    list.push_back({fmt::format("{}-{}", name, redistribution + 1), phase,
                    [this, part] { team_.run([&](int thread) { team_.step(thread, [&] { part(thread); }); }); },
                    min_bytes});
  };
  add("pack", Phase::pack, 2 * exchange->bytes_packed(), [exchange](int thread) { exchange->pack(thread); });
  list.push_back({fmt::format("exchange-{}", redistribution + 1), Phase::exchange,
                  [this, exchange] {
                    team_.run([&](int thread) {
                      team_.step(thread, [&] { exchange->post(thread); });
                      team_.barrier();
                      team_.step(thread, [&] { exchange->send_and_wait(thread); });
                    });
                  },
                  exchange->message_volume().bytes_sent + exchange->bytes_received()});
  add("unpack", Phase::unpack, 2 * exchange->bytes_unpacked(), [exchange](int thread) { exchange->unpack(thread); });
}

/// On a device the copies apart.
void NodePlan::add_transform(std::size_t stage, int number, std::vector<Component>& list) {
  const Index bytes = stages_[stage].layout.box(mpi::rank_in(comm_.get())).volume() * element_bytes_;
  const Index min_bytes = 2 * static_cast<Index>(stages_[stage].axes.size()) * bytes;
  if (options_.on_device)
    return fourscore::add_transform(list, *passes_[stage].front().of_thread.front(), number, min_bytes);
  list.push_back({fmt::format("fft-{}", number), Phase::fft,
                  [this, stage] {
                    PhaseClock silent(false);
                    team_.run(
                        [&](int thread) { run_passes(stage, thread, silent.lane(static_cast<std::size_t>(thread))); });
                  },
                  min_bytes});
}

std::vector<Component> NodePlan::components() {
  std::vector<Component> list;
  int fft = 0;
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    if (!stages_[s].axes.empty()) add_transform(s, ++fft, list);
    if (s < exchanges_.size()) add_components_of_redistribution(s, list);
  }
  return list;
}

void NodePlan::declare_work() {
  PlanFacts& facts = declared();
  facts.workspace_bytes += workspace_->bytes() + options_.device_bytes;
  for (const auto& exchange : exchanges_) facts.message_volume += exchange->message_volume();
  for (const auto& passes : passes_)
    for (const Pass& pass : passes)
      for (const auto& fft : pass.of_thread) {
        facts.device_work += fft->device_work();
        facts.local_ffts.push_back(fft->describe());
      }
}

}  // namespace fourscore

#endif
