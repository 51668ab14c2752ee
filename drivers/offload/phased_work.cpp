#include "offload/phased_work.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace fourscore {

namespace {

constexpr std::array precedence{Phase::fft, Phase::pack, Phase::unpack, Phase::h2d, Phase::d2h};

}  // namespace

PhasedWork::PhasedWork(Device& device, std::size_t most) {
  for (std::size_t i = 0; i < most; ++i) spans_.push_back({device.make_mark(), device.make_mark()});
  edges_.reserve(2 * most);
  stretches_.reserve(2 * most);
}

PhasedWork::Span& PhasedWork::next(Phase phase) {
  if (used_ == spans_.size()) throw std::logic_error("more spans of a device's work than were announced");
  spans_[used_].phase = phase;
  return spans_[used_++];
}

void PhasedWork::wait() {
  for (std::size_t i = 0; i < used_; ++i) spans_[i].end->synchronise();
}

void PhasedWork::settle() {
  wait();
  used_ = 0;
}

void PhasedWork::settle(PhaseClock& clock) {
  wait();
  if (clock.enabled()) {
    find_stretches();
    clock.share_wait(stretches_);
  }
  used_ = 0;
}

bool PhasedWork::is_done() {
  for (std::size_t i = 0; i < used_; ++i)
    if (!spans_[i].end->has_passed()) return false;
  return true;
}

void PhasedWork::find_stretches() {
  edges_.clear();
  stretches_.clear();
  if (used_ == 0) return;
  const Mark& origin = *spans_.front().begin;
  for (std::size_t i = 0; i < used_; ++i) {
    edges_.push_back({spans_[i].begin->ns_since(origin), 1, spans_[i].phase});
    edges_.push_back({spans_[i].end->ns_since(origin), -1, spans_[i].phase});
  }
  std::ranges::sort(edges_, {}, &Edge::at_ns);
  std::array<int, phase_count> running{};
  for (std::size_t i = 0; i < edges_.size(); ++i) {
    running[static_cast<std::size_t>(edges_[i].phase)] += edges_[i].step;
    if (i + 1 == edges_.size() || edges_[i + 1].at_ns == edges_[i].at_ns) continue;
    const auto* const first =
        std::ranges::find_if(precedence, [&](Phase phase) { return running[static_cast<std::size_t>(phase)] > 0; });
    if (first != precedence.end()) stretches_.push_back({edges_[i].at_ns, edges_[i + 1].at_ns, no_piece, *first});
  }
}

}  // namespace fourscore
