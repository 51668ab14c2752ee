// How a message-driven plan runs.

#include "variants/overdecomposed/message_driven.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "mpi/error.hpp"

namespace fourscore {

void MessageDrivenPlan::reset() {
  transformed_ = released_ = emptied_ = 0;
  unfinished_ = tables_->tasks.size();
  for (std::size_t s = 0; s < states_.size(); ++s) {
    Progress& state = progress_[s];
    for (Queue* queue : {&state.ready, &state.parked, &state.landed, &state.copies, &state.delivered}) queue->clear();
    state.may_arrive = state.may_receive = state.may_leave = state.launched = false;
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

/// Unpacks what this rank's pencils sent each other, as far as its place is free. Returns whether there was any.
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

/// All pencils of one launch must be there.
bool MessageDrivenPlan::waits_for_the_rest(std::size_t state) const {
  return launches_[state] != nullptr && progress_[state].ready.pushed() < length(tables_->tasks_of_state[state]);
}

bool MessageDrivenPlan::next_ready(std::size_t& task) {
  for (const std::size_t s : order_) {
    if (progress_[s].ready.empty() || waits_for_the_rest(s)) continue;
    task = progress_[s].ready.pop();
    return true;
  }
  return false;
}

void MessageDrivenPlan::transform_alone(std::size_t task) const {
  if (fft_of_task_[task] != nullptr) fft_of_task_[task]->execute_at(tables_->tasks[task].in, tables_->tasks[task].out);
}

/// The first of a launch's pencils takes the others with it.
void MessageDrivenPlan::transform(std::size_t index) {
  const PencilTask& task = tables_->tasks[index];
  if (fft_of_task_[index] != nullptr) fft_of_task_[index]->run_at(task.in, task.out, *clock_);
  Progress& state = progress_[task.state];
  if (launches_[task.state] == nullptr || state.launched) return;
  state.launched = true;
  launches_[task.state]->run(*clock_);
}

void MessageDrivenPlan::run_task(std::size_t index) {
  const PencilTask& task = tables_->tasks[index];
  const Region region(*clock_, Phase::other, static_cast<std::int32_t>(index));
  transform(index);
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

/// Starts a state's receives into memory of their own (`copied`), or those into the pencils.
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

}  // namespace fourscore
