#include "variants/overdecomposed/pencil_objects.hpp"

#include <algorithm>

#include "redistribution/exchange_blocks.hpp"

namespace fourscore {

namespace {

/// Messages begin on cache lines of their own, so that two of them are never written through one line.
constexpr std::size_t message_alignment = 64;

std::size_t padded_bytes(int count, std::size_t element_bytes) {
  const std::size_t bytes = static_cast<std::size_t>(count) * element_bytes;
  return (bytes + message_alignment - 1) / message_alignment * message_alignment;
}

/// The bytes that it needs in memory of its own.
std::size_t staged_bytes(const PencilMessage& message, std::size_t element_bytes) {
  return message.copied ? padded_bytes(message.count, element_bytes) : 0;
}

}  // namespace

double table_bytes(double pencils, double messages) {
  return pencils * static_cast<double>(sizeof(PencilTask)) +
         messages * static_cast<double>(std::max(sizeof(PencilMessage), sizeof(LocalMessage)));
}

bool arrives_by_messages(const std::vector<PencilState>& states, std::size_t state) {
  return state > 0 && (states[state].local_messages || !states[state].layout.same_boxes(states[state - 1].layout));
}

std::vector<StatePlaces> places_of(const std::vector<PencilState>& states, Buffers buffers) {
  int ends_in = 0;
  std::size_t last_transformed = 0;
  for (std::size_t s = 0; s < states.size(); ++s) {
    if (arrives_by_messages(states, s)) ends_in = 1 - ends_in;
    if (states[s].axis) last_transformed = s;
  }
  const int wanted = buffers == Buffers::in_place ? 0 : 1;
  std::vector<StatePlaces> places;
  int place = 0;
  for (std::size_t s = 0; s < states.size(); ++s) {
    if (arrives_by_messages(states, s)) place = 1 - place;
    const int lands_in = place;
    if (ends_in != wanted && s == last_transformed) place = 1 - place;
    places.push_back({lands_in, place});
  }
  return places;
}

/// The redistribution from one state to the next.
struct PencilTables::Redistribution {
  std::size_t from_state;
  std::size_t to_state;
  bool by_messages;
  Stores unpack_stores;
};

PencilTables::PencilTables(const std::vector<PencilState>& states, const std::vector<StatePlaces>& places, int me,
                           std::size_t element_bytes, const std::array<std::byte*, 2>& buffers)
    : states_(states), places_(places), me_(me), element_bytes_(element_bytes), buffers_(buffers) {
  for (std::size_t s = 0; s < states.size(); ++s) add_tasks(s);
  receives_of_state.push_back({0, 0});
  for (std::size_t s = 0; s + 1 < states.size(); ++s) connect(s);
  place_messages();
}

void PencilTables::add_tasks(std::size_t state) {
  const PencilState& all = states_[state];
  const std::size_t first = tasks.size();
  auto& own = own_pencils_.emplace_back();
  Index offset = 0;
  for (const Box& held : all.layout.boxes(me_)) {
    for (const Overlap& pencil : all.pencils.overlaps(held)) {
      homes_.push_back({held, all.layout.strides_within(held), offset});
      own.push_back(pencil.rank);
      PencilTask task;
      task.state = state;
      task.extents = pencil.box.extents();
      task.strides = homes_.back().strides;
      task.in = address(tasks.size(), places_[state].lands_in, pencil.box);
      task.out = address(tasks.size(), places_[state].leaves_in, pencil.box);
      tasks.push_back(task);
    }
    offset += held.volume();
  }
  tasks_of_state.push_back({first, tasks.size()});
}

std::size_t PencilTables::task_of(std::size_t state, int pencil) const {
  const auto& own = own_pencils_[state];
  return tasks_of_state[state].first + static_cast<std::size_t>(std::ranges::lower_bound(own, pencil) - own.begin());
}

std::byte* PencilTables::address(std::size_t task, int buffer, const Box& part) const {
  const auto& [box, strides, begin] = homes_[task];
  Index offset = begin;
  for (std::size_t a = 0; a < 3; ++a) offset += (part.low[a] - box.low[a]) * strides[a];
  return buffers_[static_cast<std::size_t>(buffer)] + offset * static_cast<Index>(element_bytes_);
}

/// Both sides of a message walk the pairs of pencils in the same order, and so give it the same tag.
void PencilTables::connect(std::size_t from_state) {
  const std::size_t to_state = from_state + 1;
  const auto box_bytes = static_cast<std::size_t>(states_[to_state].layout.volume(me_)) * element_bytes_;
  const Redistribution redistribution{from_state, to_state, arrives_by_messages(states_, to_state),
                                      stores_for(box_bytes)};
  const std::size_t first_receive = receives.size();
  for (std::size_t task = tasks_of_state[from_state].first; task < tasks_of_state[from_state].last; ++task)
    add_sends(redistribution, task);
  add_receives(redistribution);
  receives_of_state.push_back({first_receive, receives.size()});
}

void PencilTables::add_sends(const Redistribution& redistribution, std::size_t source) {
  const PencilState& from = states_[redistribution.from_state];
  const PencilState& to = states_[redistribution.to_state];
  const auto size = static_cast<Index>(element_bytes_);
  const int pencil = own_pencils_[redistribution.from_state][source - tasks_of_state[redistribution.from_state].first];
  const TableRange before{sends.size(), 0};
  const TableRange copies_before{copies.size(), 0};
  const TableRange locals_before{locals.size(), 0};
  const TableRange signals_before{signals.size(), 0};
  for (const Overlap& part : to.pencils.overlaps(from.pencils.box(pencil))) {
    if (const int owner = to.owner(part.rank); owner != me_) {
      sends.push_back(message(redistribution, part.box, owner, source, true));
      traffic.bytes_sent += part.box.volume() * size;
      traffic.messages_sent += 1;
      continue;
    }
    const std::size_t target = task_of(redistribution.to_state, part.rank);
    ++tasks[target].expected;
    if (!redistribution.by_messages) {
      signals.push_back(target);
      continue;
    }
    traffic.bytes_self += part.box.volume() * size;
    if (to.local_messages) {
      add_local(redistribution, source, target, part.box);
      continue;
    }
    copies.push_back({source, target,
                      CopyPlan(part.box.extents(), homes_[source].strides, homes_[target].strides, element_bytes_,
                               redistribution.unpack_stores),
                      address(source, places_[redistribution.from_state].leaves_in, part.box),
                      address(target, places_[redistribution.to_state].lands_in, part.box)});
  }
  PencilTask& task = tasks[source];
  task.sends = {before.first, sends.size()};
  task.copies = {copies_before.first, copies.size()};
  task.locals = {locals_before.first, locals.size()};
  task.signals = {signals_before.first, signals.size()};
  begin_with_the_next_rank(task.sends, from.layout.ranks());
}

void PencilTables::add_local(const Redistribution& redistribution, std::size_t source, std::size_t target,
                             const Box& common) {
  require_int_count(common.volume(), "a message between two pencils", "overdecomposed");
  const Extents extents = common.extents();
  const Extents dense = dense_strides(extents, {0, 1, 2});
  const auto bytes = static_cast<std::size_t>(common.volume()) * element_bytes_;
  LocalMessage local;
  local.from_task = source;
  local.to_task = target;
  local.count = static_cast<int>(common.volume());
  local.pack = CopyPlan(extents, homes_[source].strides, dense, element_bytes_, stores_for(bytes));
  local.unpack = CopyPlan(extents, dense, homes_[target].strides, element_bytes_, redistribution.unpack_stores);
  local.from = address(source, places_[redistribution.from_state].leaves_in, common);
  local.to = address(target, places_[redistribution.to_state].lands_in, common);
  locals.push_back(local);
}

void PencilTables::add_receives(const Redistribution& redistribution) {
  const PencilState& from = states_[redistribution.from_state];
  const PencilState& to = states_[redistribution.to_state];
  struct Arrival {
    int from_pencil;
    int to_pencil;
    Box box;
  };
  std::vector<Arrival> arrivals;
  for (const int pencil : own_pencils_[redistribution.to_state])
    for (const Overlap& part : from.pencils.overlaps(to.pencils.box(pencil)))
      arrivals.push_back({part.rank, pencil, part.box});
  std::ranges::sort(arrivals, {},
                    [](const Arrival& arrival) { return std::pair(arrival.from_pencil, arrival.to_pencil); });
  for (const Arrival& arrival : arrivals) {
    const int owner = from.owner(arrival.from_pencil);
    if (owner == me_) continue;
    const std::size_t task = task_of(redistribution.to_state, arrival.to_pencil);
    receives.push_back(message(redistribution, arrival.box, owner, task, false));
    ++tasks[task].expected;
  }
}

PencilMessage PencilTables::message(const Redistribution& redistribution, const Box& common, int other,
                                    std::size_t task, bool outgoing) {
  require_int_count(common.volume(), "a message between two pencils", "overdecomposed");
  const Extents extents = common.extents();
  const std::size_t state = outgoing ? redistribution.from_state : redistribution.to_state;
  const Extents strides = homes_[task].strides;
  const Extents dense = dense_strides(extents, {0, 1, 2});
  PencilMessage result;
  result.task = task;
  result.rank = other;
  result.tag = (outgoing ? tags_out_ : tags_in_)[other]++;
  largest_tag = std::max(largest_tag, result.tag);
  result.count = static_cast<int>(common.volume());
  const int buffer = outgoing ? places_[state].leaves_in : places_[state].lands_in;
  result.pencil = address(task, buffer, common);
  const auto bytes = static_cast<std::size_t>(common.volume()) * element_bytes_;
  result.copy = outgoing ? CopyPlan(extents, strides, dense, element_bytes_, stores_for(bytes))
                         : CopyPlan(extents, dense, strides, element_bytes_, redistribution.unpack_stores);
  result.copied = !result.copy.is_one_run();
  return result;
}

/// So that not all ranks send to rank 0 first.
void PencilTables::begin_with_the_next_rank(TableRange range, int ranks) {
  std::stable_sort(sends.begin() + static_cast<std::ptrdiff_t>(range.first),
                   sends.begin() + static_cast<std::ptrdiff_t>(range.last),
                   [&](const PencilMessage& a, const PencilMessage& b) {
                     return (a.rank - me_ + ranks) % ranks < (b.rank - me_ + ranks) % ranks;
                   });
}

void PencilTables::place_messages() {
  std::vector<std::size_t> incoming(tasks.size(), 0);
  std::vector<std::size_t> outgoing(tasks.size(), 0);
  for (const PencilMessage& message : receives) incoming[message.task] += staged_bytes(message, element_bytes_);
  for (const PencilMessage& message : sends) outgoing[message.task] += staged_bytes(message, element_bytes_);
  for (const LocalMessage& message : locals) outgoing[message.from_task] += padded_bytes(message.count, element_bytes_);
  std::vector<std::size_t> places(tasks.size(), 0);
  std::array<std::size_t, 2> bytes{0, 0};
  for (std::size_t state = 0; state < tasks_of_state.size(); ++state) {
    std::size_t end = 0;
    for (std::size_t t = tasks_of_state[state].first; t < tasks_of_state[state].last; ++t) {
      places[t] = end;
      end += std::max(incoming[t], outgoing[t]);
    }
    bytes[state % 2] = std::max(bytes[state % 2], end);
  }
  for (std::size_t i = 0; i < 2; ++i) spaces_[i] = ordinary_buffer(bytes[i]);
  const auto space_of = [&](std::size_t task) {
    return static_cast<std::byte*>(spaces_[tasks[task].state % 2]->data());
  };
  for (auto* messages : {&receives, &sends}) {
    std::vector<std::size_t> next = places;
    for (PencilMessage& message : *messages) {
      message.at = message.copied ? space_of(message.task) + next[message.task] : message.pencil;
      next[message.task] += staged_bytes(message, element_bytes_);
    }
    if (messages == &receives) continue;
    for (LocalMessage& message : locals) {
      message.at = space_of(message.from_task) + next[message.from_task];
      next[message.from_task] += padded_bytes(message.count, element_bytes_);
    }
  }
  // A fine decomposition has tens of thousands of them.
  sends.shrink_to_fit();
  receives.shrink_to_fit();
  copies.shrink_to_fit();
  locals.shrink_to_fit();
  signals.shrink_to_fit();
}

std::size_t PencilTables::workspace_bytes() const {
  return spaces_[0]->bytes() + spaces_[1]->bytes() + (sends.size() + receives.size()) * sizeof(PencilMessage) +
         copies.size() * sizeof(PencilCopy) + locals.size() * sizeof(LocalMessage);
}

}  // namespace fourscore
