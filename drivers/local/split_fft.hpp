#pragma once
// How a transform over several axes is split into passes over memory, for any library that gives batched plans.
// Which split is fastest depends on the machine and the size, so the candidates are timed when the plan is made, as
// FFTW times its own.

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "interfaces/local_fft.hpp"
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
};

/// The library underneath.
class PassPlanner {
 public:
  virtual ~PassPlanner() = default;
  /// One plan of the library. `limit_s` bounds the time for planning (negative: none).
  [[nodiscard]] virtual PassPtr plan(const Work& work, double limit_s) const = 0;
  /// Whether `place` and `place + bytes` are alike to plans of the library.
  [[nodiscard]] virtual bool same_alignment(std::byte* place, Index bytes) const = 0;
};

/// Decisions taken, by a text that names the work: with the same decisions the same passes are planned again.
using Decisions = std::map<std::string, std::string>;

/// Chooses and plans the passes of one LocalFftSpec whose loops all have in_stride == out_stride. Decisions found are
/// followed, those taken by timing are added. Both buffers are overwritten unless spec.effort is estimate.
class SplitPlanner {
 public:
  SplitPlanner(const LocalFftSpec& spec, const PassPlanner& library, Decisions& decisions);
  [[nodiscard]] PassPtr plan(std::byte* in, std::byte* out);

 private:
  struct Candidate {
    std::string name;
    std::function<PassPtr()> plan;
  };
  using Body = std::function<PassPtr(const Work&)>;

  [[nodiscard]] PassPtr choose(const Work& work);
  [[nodiscard]] std::vector<Candidate> candidates(const Work& work);
  [[nodiscard]] PassPtr plan_within(const Work& work) const;
  [[nodiscard]] PassPtr plan_beside(const Work& work);
  void add_buffered(std::vector<Candidate>& list, const Work& work);
  void add_splits(std::vector<Candidate>& list, const Work& work);
  void add_copies(std::vector<Candidate>& list, const Work& work);
  [[nodiscard]] PassPtr plan_buffered(const Work& work, Index width, bool streaming) const;
  [[nodiscard]] PassPtr plan_split(const Work& work, std::size_t leaves_at);
  [[nodiscard]] PassPtr plan_copy(const Work& work);
  [[nodiscard]] PassPtr over_outermost(const Work& work, const Body& body) const;
  [[nodiscard]] PassPtr fastest(const Work& work, std::vector<Candidate>& list, std::string& name) const;
  [[nodiscard]] double remaining_s() const;
  [[nodiscard]] std::string key(const Work& work) const;

  const LocalFftSpec& spec_;
  const PassPlanner& library_;
  Decisions& decisions_;
  Index element_bytes_;
  std::chrono::steady_clock::time_point deadline_;
};

}  // namespace fourscore::local
