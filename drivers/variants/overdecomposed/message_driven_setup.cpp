// How a message-driven plan is made: its memory, its local transforms, and what must wait for what.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <tuple>

#include "chain/transform_chain.hpp"
#include "core/memory.hpp"
#include "mpi/error.hpp"
#include "variants/overdecomposed/message_driven.hpp"

namespace fourscore {

namespace {

/// Plans of a library run at any place that is aligned like the one they were made for. No library is known to look
/// further than a cache line.
std::uintptr_t alignment_of(const std::byte* place) { return reinterpret_cast<std::uintptr_t>(place) % 64; }

void require_tags(int largest) {
  void* value = nullptr;
  int found = 0;
  FOURSCORE_MPI(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &found));
  constexpr int guaranteed = 32767;  // MPI 3.1, section 8.1.2
  const int most = found != 0 ? *static_cast<int*>(value) : guaranteed;
  if (largest > most)
    throw InputError(
        fmt::format("the decomposition needs {} messages from one rank to another, but MPI tells only {} apart; "
                    "expected fewer pencils",
                    static_cast<Index>(largest) + 1, static_cast<Index>(most) + 1));
}

/// Before they are made: a decomposition that is too fine must not take the machine's memory. Collective.
void require_memory_for_tables(MPI_Comm comm, double bytes_of_a_rank) {
  const mpi::Communicator node = mpi::split_by_node(comm);
  double available = std::numeric_limits<double>::max();
  for (const MemoryScope& scope : memory_scopes()) available = std::min(available, scope.available_bytes);
  FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, &available, 1, MPI_DOUBLE, MPI_MIN, node.get()));
  double spare = available - bytes_of_a_rank * mpi::size_of(node.get());
  FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, &spare, 1, MPI_DOUBLE, MPI_MIN, comm));
  if (spare >= 0) return;
  throw InputError(
      fmt::format("the tables of the pencils' messages take {:.3g} GB on each rank, which is {:.3g} GB more on a node "
                  "than the memory that it has; expected fewer pencils",
                  1e-9 * bytes_of_a_rank, -1e-9 * spare));
}

}  // namespace

MessageDrivenPlan::MessageDrivenPlan(const PlanContext& context, std::vector<PencilState> states,
                                     MessageDrivenOptions options, const OffloadingLibrary* together)
    : states_(std::move(states)),
      options_(std::move(options)),
      places_(places_of(states_, context.problem.contract.buffers)),
      comm_(mpi::duplicate(context.comm)),
      in_flight_(comm_.get(), mpi::element_type(context.problem.element_bytes())),
      element_bytes_(static_cast<Index>(context.problem.element_bytes())) {
  const int me = mpi::rank_in(comm_.get());
  require_memory_for_tables(context.comm, options_.table_bytes);
  declare_layouts(context.problem, states_.front().layout, states_.back().layout);
  declared().grid = options_.grid;
  Index volume = 0;
  for (const PencilState& state : states_) volume = std::max(volume, state.layout.volume(me));
  const bool both = std::ranges::any_of(
      places_, [](const StatePlaces& places) { return places.lands_in == 1 || places.leaves_in == 1; });
  allocate(context, static_cast<std::size_t>(volume * element_bytes_), both);
  tables_ = std::make_unique<PencilTables>(states_, places_, me, context.problem.element_bytes(),
                                           std::array{data(0), both ? data(1) : nullptr});
  require_tags(tables_->largest_tag);
  launches_.resize(states_.size());
  if (together != nullptr)
    make_launches(context, *together);
  else
    make_local_ffts(context);
  declared().workspace_bytes = context.local_fft.share_workspace();
  make_gates();
  make_queues();
  declare_work();
  if (options_.synchronisation == Synchronisation::none || mpi::size_of(context.comm) == 1) return;
  sync_comm_ = mpi::duplicate(context.comm);
  pencils_done_[0] = static_cast<Index>(length(tables_->tasks_of_state.back()));
  pencils_in_all_ = 0;
  FOURSCORE_MPI(MPI_Allreduce(pencils_done_.data(), &pencils_in_all_, 1, MPI_INT64_T, MPI_SUM, sync_comm_.get()));
}

/// Plans for one of all pencils of one shape in one state.
void MessageDrivenPlan::make_local_ffts(const PlanContext& context) {
  std::map<std::tuple<std::size_t, Extents, std::uintptr_t, std::uintptr_t>, LocalFft*> known;
  for (const PencilTask& task : tables_->tasks) {
    LocalFft* fft = nullptr;
    if (const auto axis = states_[task.state].axis) {
      LocalFft*& slot = known[{task.state, task.extents, alignment_of(task.in), alignment_of(task.out)}];
      if (slot == nullptr) {
        ffts_.push_back(context.local_fft.make(local_fft_spec(context.problem, {*axis}, task.extents, task.strides),
                                               task.in, task.out));
        slot = ffts_.back().get();
      }
      fft = slot;
    }
    fft_of_task_.push_back(fft);
  }
}

/// A rank's memory of a state has its boxes one after another, each dense.
void MessageDrivenPlan::make_launches(const PlanContext& context, const OffloadingLibrary& library) {
  fft_of_task_.assign(tables_->tasks.size(), nullptr);
  for (std::size_t s = 0; s < states_.size(); ++s) {
    const Decomposition& layout = states_[s].layout;
    std::vector<PlacedFft> together;
    Index offset = 0;
    for (const Box& box : layout.boxes(mpi::rank_in(comm_.get()))) {
      if (states_[s].axis)
        together.push_back(
            {local_fft_spec(context.problem, {*states_[s].axis}, box.extents(), layout.strides_within(box)),
             static_cast<std::size_t>(offset * element_bytes_)});
      offset += box.volume();
    }
    if (together.empty()) continue;
    launches_[s] = library.make_together(together, data(static_cast<std::size_t>(places_[s].lands_in)),
                                         data(static_cast<std::size_t>(places_[s].leaves_in)));
  }
}

/// What must be over before something of `state` may be written to `buffer`.
MessageDrivenPlan::Gate MessageDrivenPlan::gate_for(std::size_t state, int buffer) const {
  Gate gate;
  for (std::size_t earlier = 0; earlier < state; ++earlier) {
    if (places_[earlier].leaves_in == buffer)
      gate.released |= bit(earlier);
    else if (places_[earlier].lands_in == buffer)
      gate.transformed |= bit(earlier);
  }
  return gate;
}

void MessageDrivenPlan::make_gates() {
  for (std::size_t s = 0; s < states_.size(); ++s) {
    const StatePlaces& places = places_[s];
    const unsigned same_memory = s >= 2 ? bit(s - 2) : 0;
    arrival_gates_.push_back({0, 0, same_memory});
    receive_gates_.push_back(arrives_by_messages(states_, s) ? gate_for(s, places.lands_in) : Gate{});
    leaving_gates_.push_back(places.leaves_in != places.lands_in ? gate_for(s, places.leaves_in) : Gate{});
    // A pencil to which nothing was sent may run before any of the memory in which it packs was received in.
    leaving_gates_.back().emptied = same_memory;
  }
}

void MessageDrivenPlan::make_queues() {
  // Earlier states first, so that others get their messages early; but where nothing is moved between two states, the
  // later one first, while its elements are still in the cache.
  for (std::size_t first = 0; first < states_.size();) {
    std::size_t last = first + 1;
    while (last < states_.size() && !arrives_by_messages(states_, last)) ++last;
    for (std::size_t s = last; s-- > first;) order_.push_back(s);
    first = last;
  }
  progress_.resize(states_.size());
  for (std::size_t s = 0; s < states_.size(); ++s) {
    progress_[s].ready.reserve(length(tables_->tasks_of_state[s]));
    progress_[s].parked.reserve(length(tables_->tasks_of_state[s]));
    progress_[s].landed.reserve(length(tables_->receives_of_state[s]));
    const auto into_this = [&](const auto& moved) { return tables_->tasks[moved.to_task].state == s; };
    progress_[s].copies.reserve(static_cast<std::size_t>(std::ranges::count_if(tables_->copies, into_this)));
    progress_[s].delivered.reserve(static_cast<std::size_t>(std::ranges::count_if(tables_->locals, into_this)));
  }
  missing_.resize(tables_->tasks.size());
  in_flight_.reserve(tables_->receives.size() + tables_->sends.size());
}

void MessageDrivenPlan::declare_work() {
  PlanFacts& facts = declared();
  facts.message_volume = tables_->traffic;
  facts.workspace_bytes += tables_->workspace_bytes() + options_.device_bytes;
  for (const LocalFft* fft : fft_of_task_)
    if (fft != nullptr) facts.device_work += fft->device_work();
  for (const auto& launch : launches_) {
    if (!launch) continue;
    facts.device_work += launch->device_work();
    facts.local_ffts.push_back(launch->describe());
  }
  for (const auto& fft : ffts_) facts.local_ffts.push_back(fft->describe());
}

}  // namespace fourscore
