// The parts of a message-driven plan that run alone: all pencils of a state at once.

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>

#include "variants/overdecomposed/message_driven.hpp"

namespace fourscore {

/// What the pencils of one state hand to the next, each kind of step at once.
void MessageDrivenPlan::add_components_of_redistribution(std::size_t to_state, int number,
                                                         std::vector<Component>& list) {
  const TableRange tasks = tables_->tasks_of_state[to_state - 1];
  const auto of_tasks = [this, tasks](TableRange PencilTask::*range) -> TableRange {
    if (tasks.first == tasks.last) return {};
    return {(tables_->tasks[tasks.first].*range).first, (tables_->tasks[tasks.last - 1].*range).last};
  };
  const TableRange sends = of_tasks(&PencilTask::sends);
  const TableRange copies = of_tasks(&PencilTask::copies);
  const TableRange locals = of_tasks(&PencilTask::locals);
  const TableRange receives = tables_->receives_of_state[to_state];
  Index packed = 0, moved = 0, unpacked = 0;
  for (std::size_t i = sends.first; i < sends.last; ++i) {
    if (tables_->sends[i].copied) packed += tables_->sends[i].copy.bytes();
    moved += tables_->sends[i].count * element_bytes_;
  }
  for (std::size_t i = copies.first; i < copies.last; ++i) packed += tables_->copies[i].copy.bytes();
  for (std::size_t i = locals.first; i < locals.last; ++i) {
    packed += tables_->locals[i].pack.bytes();
    unpacked += tables_->locals[i].unpack.bytes();
  }
  for (std::size_t i = receives.first; i < receives.last; ++i) {
    if (tables_->receives[i].copied) unpacked += tables_->receives[i].copy.bytes();
    moved += tables_->receives[i].count * element_bytes_;
  }
  list.push_back({fmt::format("pack-{}", number), Phase::pack,
                  [this, sends, copies, locals] {
                    for (std::size_t i = sends.first; i < sends.last; ++i)
                      if (const PencilMessage& sent = tables_->sends[i]; sent.copied)
                        sent.copy.run(sent.pencil, sent.at);
                    for (std::size_t i = copies.first; i < copies.last; ++i)
                      tables_->copies[i].copy.run(tables_->copies[i].from, tables_->copies[i].to);
                    for (std::size_t i = locals.first; i < locals.last; ++i)
                      tables_->locals[i].pack.run(tables_->locals[i].from, tables_->locals[i].at);
                  },
                  2 * packed});
  list.push_back({fmt::format("exchange-{}", number), Phase::exchange,
                  [this, sends, receives] {
                    for (std::size_t i = receives.first; i < receives.last; ++i) start_receive(i);
                    for (std::size_t i = sends.first; i < sends.last; ++i) start_send(i);
                    in_flight_.wait_all();
                  },
                  moved});
  list.push_back({fmt::format("unpack-{}", number), Phase::unpack,
                  [this, receives, locals] {
                    for (std::size_t i = receives.first; i < receives.last; ++i)
                      if (const PencilMessage& got = tables_->receives[i]; got.copied) got.copy.run(got.at, got.pencil);
                    for (std::size_t i = locals.first; i < locals.last; ++i)
                      tables_->locals[i].unpack.run(tables_->locals[i].at, tables_->locals[i].to);
                  },
                  2 * unpacked});
}

/// The transforms of a state; on a device they and the copies apart, on every rank, also where one has no pencils.
void MessageDrivenPlan::add_transforms(std::size_t state, int number, std::vector<Component>& list) {
  const TableRange tasks = tables_->tasks_of_state[state];
  if (!options_.on_device) {
    Index bytes = 0;
    for (std::size_t t = tasks.first; t < tasks.last; ++t) {
      const Extents& extents = tables_->tasks[t].extents;
      bytes += extents[0] * extents[1] * extents[2] * element_bytes_;
    }
    list.push_back({fmt::format("fft-{}", number), Phase::fft,
                    [this, tasks] {
                      for (std::size_t t = tasks.first; t < tasks.last; ++t) transform_alone(t);
                    },
                    2 * bytes});
    return;
  }
  std::vector<WorkPart> parts;
  if (launches_[state]) parts = launches_[state]->parts();
  for (std::size_t t = tasks.first; t < tasks.last; ++t)
    if (fft_of_task_[t] != nullptr)
      std::ranges::move(fft_of_task_[t]->parts_at(tables_->tasks[t].in, tables_->tasks[t].out),
                        std::back_inserter(parts));
  for (const Phase phase : {Phase::h2d, Phase::fft, Phase::d2h}) {
    std::vector<std::function<void()>> of_phase;
    Index bytes = 0;
    for (const WorkPart& part : parts) {
      if (part.phase != phase) continue;
      of_phase.push_back(part.run);
      bytes += part.min_bytes;
    }
    const std::string name(phase_names[static_cast<std::size_t>(phase)]);
    list.push_back({fmt::format("{}-{}", name, number), phase,
                    [of_phase = std::move(of_phase)] {
                      for (const auto& run : of_phase) run();
                    },
                    bytes});
  }
}

std::vector<Component> MessageDrivenPlan::components() {
  std::vector<Component> list;
  int fft = 0;
  int redistribution = 0;
  for (std::size_t s = 0; s < states_.size(); ++s) {
    if (arrives_by_messages(states_, s)) add_components_of_redistribution(s, ++redistribution, list);
    if (!states_[s].axis) continue;
    add_transforms(s, ++fft, list);
  }
  return list;
}

}  // namespace fourscore
