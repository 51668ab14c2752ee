#pragma once
// How a transform over several axes is split into passes over memory, for any library that gives batched plans.
// Which split is fastest depends on the machine and the size, so the candidates are timed when the plan is made, as
// FFTW times its own: in rounds, by all ranks that do the same work at once, because they share the machine's memory.

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "interfaces/local_fft.hpp"
#include "interfaces/planning_peers.hpp"
#include "local/passes.hpp"

namespace fourscore::local {

/// A transform over `axes` for each element of the `batch` loops, of data at `in` and `out`.
struct Work {
  std::vector<Loop> axes;
  std::vector<Loop> batch;
  std::byte* in = nullptr;
  std::byte* out = nullptr;
  bool any_alignment = false;  ///< will also run at places aligned unlike in and out
  Index real_length = 0;       ///< as in LocalFftSpec: above 0, axes.front() is the halved axis
  /// Where else the pass will run, one place after another. It is timed at all of them: at one alone it would find its
  /// data in the cache.
  struct Places {
    Index count = 1;
    Index in_stride_bytes = 0;
    Index out_stride_bytes = 0;
  };
  std::vector<Places> places{};
};

/// At all places; those of a scratch are one.
[[nodiscard]] Index elements_written(const Work& work);

/// What was to be planned from memory alone is not remembered.
struct NotRemembered {};

/// One way to do some work.
struct Candidate {
  std::string name;
  std::function<PassPtr()> plan;
  bool contests = true;  ///< or is taken only where it was decided for
};

/// The library underneath.
class PassPlanner {
 public:
  virtual ~PassPlanner() = default;
  /// One plan of the library. `limit_s` bounds the time for planning (negative: none).
  [[nodiscard]] virtual PassPtr plan(const Work& work, double limit_s) const = 0;
  /// Passes over one axis that contest with those made of plan(), best guess first.
  [[nodiscard]] virtual std::vector<Candidate> candidates(const Work& /*work*/) const { return {}; }
  /// After plans were made: all peers take those of the first, where the library's own planner may have found different
  /// ones. Collective. True where plans have to be made again on this rank, from what is known now.
  [[nodiscard]] virtual bool share(PlanningPeers& /*peers*/) const { return false; }
  /// Whether `place` and `place + bytes` are alike to plans of the library.
  [[nodiscard]] virtual bool same_alignment(std::byte* place, Index bytes) const = 0;
};

/// Decisions taken, by a text that names the work: with the same decisions the same passes are planned again.
using Decisions = std::map<std::string, std::string>;

/// Chooses and plans the passes of one LocalFftSpec whose loops all have in_stride == out_stride. Decisions found are
/// followed, those taken by timing are added, the same on all peers. Both buffers are then overwritten.
class SplitPlanner {
 public:
  /// Without peers nothing is timed: plan() throws NotRemembered where something would have to be.
  SplitPlanner(const LocalFftSpec& spec, const PassPlanner& library, Decisions& decisions, PlanningPeers* peers);
  [[nodiscard]] PassPtr plan(std::byte* in, std::byte* out);

 private:
  using Body = std::function<PassPtr(const Work&)>;

  [[nodiscard]] PassPtr choose(const Work& work);
  [[nodiscard]] std::vector<Candidate> candidates(const Work& work);
  [[nodiscard]] bool has_own_passes(const Work& work) const;
  [[nodiscard]] PassPtr plan_within(const Work& work) const;
  [[nodiscard]] PassPtr plan_beside(const Work& work);
  void add_buffered(std::vector<Candidate>& list, const Work& work);
  void add_splits(std::vector<Candidate>& list, const Work& work);
  void add_copies(std::vector<Candidate>& list, const Work& work);
  [[nodiscard]] PassPtr plan_buffered(const Work& work, Index width, bool streaming) const;
  [[nodiscard]] PassPtr plan_split(const Work& work, std::size_t leaves_at);
  /// All axes but the slowest, and that one, in the order in which they have to be done.
  [[nodiscard]] std::array<Work, 2> halves(const Work& work) const;
  [[nodiscard]] PassPtr plan_aside(const Work& plane);
  [[nodiscard]] PassPtr plan_copy(const Work& work);
  [[nodiscard]] PassPtr over_outermost(const Work& work, const Body& body) const;
  [[nodiscard]] PassPtr fastest(const Work& work, const std::string& name, const std::vector<Candidate>& list);
  [[nodiscard]] std::size_t winner(const Work& work, const std::string& name, const std::vector<PassPtr>& passes);
  [[nodiscard]] double remaining_s() const;
  [[nodiscard]] std::string key(const Work& work) const;

  const LocalFftSpec& spec_;
  const PassPlanner& library_;
  Decisions& decisions_;
  PlanningPeers* peers_;
  Index element_bytes_;
  std::chrono::steady_clock::time_point deadline_;
};

}  // namespace fourscore::local
