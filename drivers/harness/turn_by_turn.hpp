#pragma once
// Several plans part by part: what one waits for, another's work fills.

#include <cstddef>
#include <functional>
#include <span>
#include <thread>
#include <vector>

#include "interfaces/plan.hpp"

namespace fourscore {

/// Runs plans in the same order on every rank, a part of each (Plan::advance) after another. What a plan does stands in
/// a Region of its number.
class TurnByTurn {
 public:
  struct Entry {
    Plan* plan = nullptr;
    int number = 0;
  };
  explicit TurnByTurn(std::vector<Entry> entries) : entries_(std::move(entries)), is_complete_(entries_.size()) {}

  void begin(PhaseClock& clock) {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const Region region(clock, Phase::other, entries_[i].number);
      entries_[i].plan->begin(clock);
      is_complete_[i] = false;
    }
    running_ = entries_.size();
  }

  /// What a rank does beside its plans: nothing.
  struct Nothing {
    bool operator()(PhaseClock& /*clock*/, Advance /*result*/) const { return false; }
  };

  /// One part of each that is not complete. Calls done(i) when number i of them is, and beside(clock, result) after
  /// each part: whether that did something.
  template <class Done, class Beside = Nothing>
  Advance advance(PhaseClock& clock, const Done& done, const Beside& beside = {}) {
    bool worked = false;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (is_complete_[i]) continue;
      const Region region(clock, Phase::other, entries_[i].number);
      const Advance result = entries_[i].plan->advance(clock);
      worked = worked || result != Advance::idle;
      worked = beside(clock, result) || worked;
      if (result != Advance::complete) continue;
      is_complete_[i] = true;
      --running_;
      done(i);
    }
    return running_ == 0 ? Advance::complete : worked ? Advance::worked : Advance::idle;
  }

  /// All of it. A plan alone runs as a whole, unless it is to run in parts.
  template <class Done, class Beside = Nothing>
  void execute(PhaseClock& clock, const Done& done, const Beside& beside = {}, bool in_parts = false) {
    if (entries_.size() == 1 && !in_parts) {
      const Region region(clock, Phase::other, entries_.front().number);
      entries_.front().plan->execute(clock);
      return done(0);
    }
    begin(clock);
    for (Advance result = Advance::worked; result != Advance::complete;) {
      result = advance(clock, done, beside);
      if (result != Advance::idle) continue;
      const Region region(clock, Phase::exchange);
      std::this_thread::yield();
    }
  }

 private:
  std::vector<Entry> entries_;
  std::vector<bool> is_complete_;  ///< in the run in hand
  std::size_t running_ = 0;
};

}  // namespace fourscore
