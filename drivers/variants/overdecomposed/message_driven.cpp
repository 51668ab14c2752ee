#include "variants/overdecomposed/message_driven.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <tuple>

#include "core/memory.hpp"
#include "mpi/error.hpp"

namespace fourscore {

namespace {

unsigned bit(std::size_t state) { return 1U << state; }

std::size_t length(TableRange range) { return range.last - range.first; }

/// Plans of a library run at any place that is aligned like the one they were made for. No library is known to look
/// further than a cache line.
std::uintptr_t alignment_of(const std::byte* place) { return reinterpret_cast<std::uintptr_t>(place) % 64; }

LocalFftSpec spec_of(const Problem& problem, const Extents& extents, const Extents& strides, std::size_t axis) {
  LocalFftSpec spec;
  for (std::size_t a = 0; a < 3; ++a)
    (a == axis ? spec.axes : spec.batch).push_back({extents[a], strides[a], strides[a]});
  spec.precision = problem.precision;
  spec.direction = problem.direction;
  spec.effort = problem.contract.effort;
  spec.threads = problem.threads;
  return spec;
}

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
                                     MessageDrivenOptions options)
    : states_(std::move(states)),
      options_(std::move(options)),
      places_(places_of(states_, context.problem.contract.buffers)),
      comm_(mpi::duplicate(context.comm)),
      in_flight_(comm_.get(), mpi::element_type(context.problem.element_bytes())),
      element_bytes_(static_cast<Index>(context.problem.element_bytes())) {
  const int me = mpi::rank_in(comm_.get());
  require_memory_for_tables(context.comm, options_.table_bytes);
  Index volume = 0;
  bool both = false;
  for (std::size_t s = 0; s < states_.size(); ++s) {
    volume = std::max(volume, states_[s].layout.volume(me));
    both = both || places_[s].lands_in == 1 || places_[s].leaves_in == 1;
  }
  const std::size_t element_bytes = context.problem.element_bytes();
  for (int i = 0; i < (both ? 2 : 1); ++i)
    buffers_.push_back(ordinary_buffer(static_cast<std::size_t>(volume) * element_bytes));
  tables_ = std::make_unique<PencilTables>(states_, places_, me, element_bytes,
                                           std::array{static_cast<std::byte*>(buffers_[0]->data()),
                                                      both ? static_cast<std::byte*>(buffers_[1]->data()) : nullptr});
  require_tags(tables_->largest_tag);
  make_local_ffts(context);
  make_gates();
  make_queues();
  if (options_.synchronisation == Synchronisation::none || mpi::size_of(context.comm) == 1) return;
  sync_comm_ = mpi::duplicate(context.comm);
  pencils_done_[0] = static_cast<Index>(length(tables_->tasks_of_state.back()));
  pencils_in_all_ = 0;
  FOURSCORE_MPI(MPI_Allreduce(pencils_done_.data(), &pencils_in_all_, 1, MPI_INT64_T, MPI_SUM, sync_comm_.get()));
}

/// Of all pencils of one shape in one state, one is planned for.
void MessageDrivenPlan::make_local_ffts(const PlanContext& context) {
  std::map<std::tuple<std::size_t, Extents, std::uintptr_t, std::uintptr_t>, LocalFft*> known;
  for (const PencilTask& task : tables_->tasks) {
    LocalFft* fft = nullptr;
    if (const auto axis = states_[task.state].axis) {
      LocalFft*& slot = known[{task.state, task.extents, alignment_of(task.in), alignment_of(task.out)}];
      if (slot == nullptr) {
        ffts_.push_back(
            context.local_fft.make(spec_of(context.problem, task.extents, task.strides, *axis), task.in, task.out));
        slot = ffts_.back().get();
      }
      fft = slot;
    }
    fft_of_task_.push_back(fft);
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

void MessageDrivenPlan::reset() {
  transformed_ = released_ = emptied_ = 0;
  unfinished_ = tables_->tasks.size();
  for (std::size_t s = 0; s < states_.size(); ++s) {
    Progress& state = progress_[s];
    for (Queue* queue : {&state.ready, &state.parked, &state.landed, &state.copies, &state.delivered}) queue->clear();
    state.may_arrive = state.may_receive = state.may_leave = false;
    state.untransformed = state.unreleased = state.unemptied = length(tables_->tasks_of_state[s]);
    if (state.untransformed == 0) transformed_ |= bit(s);
  }
  for (std::size_t t = 0; t < tables_->tasks.size(); ++t) {
    const PencilTask& task = tables_->tasks[t];
    missing_[t] = task.expected;
    progress_[task.state].unreleased += length(task.copies);
    progress_[task.state].unemptied += length(task.locals);
    for (std::size_t i = task.sends.first; i < task.sends.last; ++i)
      ++(tables_->sends[i].copied ? progress_[task.state].unemptied : progress_[task.state].unreleased);
  }
  for (std::size_t s = 0; s < states_.size(); ++s) {
    if (progress_[s].unreleased == 0) released_ |= bit(s);
    if (progress_[s].unemptied == 0) emptied_ |= bit(s);
  }
}

void MessageDrivenPlan::start_pencils() {
  open_gates();
  const TableRange first = tables_->tasks_of_state.front();
  for (std::size_t t = first.first; t < first.last; ++t) ++missing_[t];
  for (std::size_t t = first.first; t < first.last; ++t) arrive(t);
}

void MessageDrivenPlan::begin(PhaseClock& clock) {
  clock_ = &clock;
  reset();
  part_ = sync_comm_.get() == MPI_COMM_NULL ? Part::runs : Part::starts;
  if (part_ == Part::runs)
    start_pencils();
  else
    start_synchronisation(false);
}

void MessageDrivenPlan::execute(PhaseClock& clock) {
  begin(clock);
  while (go_on(clock, true) != Advance::complete) {
  }
}

/// One pencil and what came in meanwhile, or the next part of the run. With `wait` something was done at the end.
Advance MessageDrivenPlan::go_on(PhaseClock& clock, bool wait) {
  clock_ = &clock;
  switch (part_) {
    case Part::starts:
      if (!synchronised(wait)) return Advance::idle;
      part_ = Part::runs;
      start_pencils();
      return Advance::worked;
    case Part::runs:
      if (unfinished_ > 0 || !in_flight_.empty()) return run_pencils(wait) ? Advance::worked : Advance::idle;
      if (sync_comm_.get() == MPI_COMM_NULL) break;
      part_ = Part::ends;
      start_synchronisation(true);
      return Advance::worked;
    case Part::ends:
      if (!synchronised(wait)) return Advance::idle;
      check_reduction();
      break;
    case Part::rests:
      break;
  }
  part_ = Part::rests;
  clock_ = &silent_;
  return Advance::complete;
}

/// Whether anything was done.
bool MessageDrivenPlan::run_pencils(bool wait) {
  std::size_t task = 0;
  const bool ran = next_ready(task);
  if (ran) run_task(task);
  const bool unpacked = unpack_locals();
  return progress(wait && !ran && !unpacked) || ran || unpacked;
}

/// lee2018, section 2.1: the start is broadcast from PE 0, and a reduction says that all output is there.
void MessageDrivenPlan::start_synchronisation(bool ends) {
  const Region region(*clock_, Phase::exchange);
  if (ends) {
    pencils_done_ = {static_cast<Index>(length(tables_->tasks_of_state.back())), 0};
    FOURSCORE_MPI(MPI_Ireduce(pencils_done_.data(), pencils_done_.data() + 1, 1, MPI_INT64_T, MPI_SUM, 0,
                              sync_comm_.get(), &sync_));
  } else {
    start_word_ = 1;
    FOURSCORE_MPI(MPI_Ibcast(&start_word_, 1, MPI_INT, 0, sync_comm_.get(), &sync_));
  }
}

bool MessageDrivenPlan::synchronised(bool wait) {
  const Region region(*clock_, Phase::exchange);
  int done = 1;
  if (wait)
    FOURSCORE_MPI(MPI_Wait(&sync_, MPI_STATUS_IGNORE));
  else
    FOURSCORE_MPI(MPI_Test(&sync_, &done, MPI_STATUS_IGNORE));
  return done != 0;
}

void MessageDrivenPlan::check_reduction() const {
  if (mpi::rank_in(sync_comm_.get()) == 0 && pencils_done_[1] != pencils_in_all_)
    throw std::logic_error(
        fmt::format("{} pencils of the last state are through, not {}", pencils_done_[1], pencils_in_all_));
}

/// Of what this rank's pencils sent each other, all that may be put in its place. Whether there was anything.
bool MessageDrivenPlan::unpack_locals() {
  bool any = false;
  for (Progress& state : progress_) {
    while (state.may_receive && !state.delivered.empty()) {
      const LocalMessage& message = tables_->locals[state.delivered.pop()];
      {
        const Region region(*clock_, Phase::unpack, static_cast<std::int32_t>(message.to_task));
        message.unpack.run(message.at, message.to);
      }
      any = true;
      arrive(message.to_task);
      empty(tables_->tasks[message.from_task].state);
    }
  }
  return any;
}

bool MessageDrivenPlan::next_ready(std::size_t& task) {
  for (const std::size_t s : order_) {
    if (progress_[s].ready.empty()) continue;
    task = progress_[s].ready.pop();
    return true;
  }
  return false;
}

void MessageDrivenPlan::transform(std::size_t task) const {
  if (fft_of_task_[task] != nullptr) fft_of_task_[task]->execute_at(tables_->tasks[task].in, tables_->tasks[task].out);
}

void MessageDrivenPlan::run_task(std::size_t index) {
  const PencilTask& task = tables_->tasks[index];
  const Region region(*clock_, Phase::other, static_cast<std::int32_t>(index));
  if (fft_of_task_[index] != nullptr) {
    const Region fft(*clock_, Phase::fft);
    transform(index);
  }
  if (--progress_[task.state].untransformed == 0) {
    transformed_ |= bit(task.state);
    open_gates();
  }
  send_from(task);
  copy_from(task);
  for (std::size_t i = task.signals.first; i < task.signals.last; ++i) arrive(tables_->signals[i]);
  --unfinished_;
  release(task.state);
  empty(task.state);
}

void MessageDrivenPlan::send_from(const PencilTask& task) {
  if (length(task.sends) + length(task.locals) == 0) return;
  {
    const Region region(*clock_, Phase::pack);
    for (std::size_t i = task.sends.first; i < task.sends.last; ++i)
      if (const PencilMessage& message = tables_->sends[i]; message.copied)
        message.copy.run(message.pencil, message.at);
    for (std::size_t i = task.locals.first; i < task.locals.last; ++i) {
      const LocalMessage& message = tables_->locals[i];
      message.pack.run(message.from, message.at);
      progress_[task.state + 1].delivered.push(i);
    }
  }
  if (length(task.sends) == 0) return;
  const Region region(*clock_, Phase::exchange);
  for (std::size_t i = task.sends.first; i < task.sends.last; ++i) start_send(i);
}

void MessageDrivenPlan::copy_from(const PencilTask& task) {
  Progress& next = progress_[task.state + 1];
  for (std::size_t i = task.copies.first; i < task.copies.last; ++i) {
    if (next.may_receive)
      run_copy(i);
    else
      next.copies.push(i);
  }
}

void MessageDrivenPlan::run_copy(std::size_t index) {
  const PencilCopy& copy = tables_->copies[index];
  {
    const Region region(*clock_, Phase::pack, static_cast<std::int32_t>(copy.from_task));
    copy.copy.run(copy.from, copy.to);
  }
  arrive(copy.to_task);
  release(tables_->tasks[copy.from_task].state);
}

/// Whether anything came in or went out.
bool MessageDrivenPlan::progress(bool wait) {
  if (in_flight_.empty()) {
    if (wait && unfinished_ > 0) throw std::logic_error("a pencil waits for a message that is not on its way");
    return false;
  }
  const auto completed = [&] {
    const Region region(*clock_, Phase::exchange);
    return in_flight_.complete_some(wait);
  }();
  const std::size_t receives = tables_->receives.size();
  for (const std::size_t id : completed) {
    if (id < receives) {
      land(id);
      continue;
    }
    const PencilMessage& sent = tables_->sends[id - receives];
    const std::size_t state = tables_->tasks[sent.task].state;
    if (sent.copied)
      empty(state);
    else
      release(state);
  }
  return !completed.empty();
}

void MessageDrivenPlan::land(std::size_t index) {
  const PencilMessage& message = tables_->receives[index];
  Progress& state = progress_[tables_->tasks[message.task].state];
  if (message.copied && !state.may_receive) {
    state.landed.push(index);
    return;
  }
  if (message.copied) {
    const Region region(*clock_, Phase::unpack, static_cast<std::int32_t>(message.task));
    message.copy.run(message.at, message.pencil);
  }
  arrive(message.task);
}

void MessageDrivenPlan::arrive(std::size_t index) {
  if (--missing_[index] > 0) return;
  Progress& state = progress_[tables_->tasks[index].state];
  (state.may_leave ? state.ready : state.parked).push(index);
}

void MessageDrivenPlan::release(std::size_t state) {
  if (--progress_[state].unreleased > 0) return;
  released_ |= bit(state);
  open_gates();
}

void MessageDrivenPlan::empty(std::size_t state) {
  if (--progress_[state].unemptied > 0) return;
  emptied_ |= bit(state);
  open_gates();
}

bool MessageDrivenPlan::is_open(const Gate& gate) const {
  return (gate.transformed & ~transformed_) == 0 && (gate.released & ~released_) == 0 &&
         (gate.emptied & ~emptied_) == 0;
}

void MessageDrivenPlan::open_gates() {
  for (std::size_t s = 0; s < states_.size(); ++s) {
    Progress& state = progress_[s];
    if (!state.may_leave && is_open(leaving_gates_[s])) {
      state.may_leave = true;
      while (!state.parked.empty()) state.ready.push(state.parked.pop());
    }
    if (!state.may_arrive && is_open(arrival_gates_[s])) {
      state.may_arrive = true;
      start_receives(s, true);
    }
    if (!state.may_receive && is_open(receive_gates_[s])) {
      state.may_receive = true;
      open_receive(s);
    }
  }
}

void MessageDrivenPlan::open_receive(std::size_t s) {
  start_receives(s, false);
  Progress& state = progress_[s];
  while (!state.copies.empty()) run_copy(state.copies.pop());
  while (!state.landed.empty()) land(state.landed.pop());
}

/// Of a state, those into memory of their own, or those into the pencils.
void MessageDrivenPlan::start_receives(std::size_t s, bool copied) {
  const TableRange receives = tables_->receives_of_state[s];
  if (length(receives) == 0) return;
  const Region region(*clock_, Phase::exchange);
  for (std::size_t i = receives.first; i < receives.last; ++i)
    if (tables_->receives[i].copied == copied) start_receive(i);
}

void MessageDrivenPlan::start_receive(std::size_t index) {
  const PencilMessage& message = tables_->receives[index];
  in_flight_.receive(index, message.at, message.count, message.rank, message.tag);
}

void MessageDrivenPlan::start_send(std::size_t index) {
  const PencilMessage& message = tables_->sends[index];
  in_flight_.send(tables_->receives.size() + index, message.at, message.count, message.rank, message.tag);
}

std::size_t MessageDrivenPlan::buffer_bytes() const {
  std::size_t total = 0;
  for (const auto& buffer : buffers_) total += buffer->bytes();
  return total;
}

std::vector<std::string> MessageDrivenPlan::describe_local_ffts() const {
  std::vector<std::string> texts;
  for (const auto& fft : ffts_) texts.push_back(fft->describe());
  return texts;
}

}  // namespace fourscore
