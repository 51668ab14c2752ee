#pragma once
// Which of several ways to do the same work is fastest, from rounds in which each runs once.

#include <cstddef>
#include <span>
#include <vector>

namespace fourscore::local {

/// Candidates found slower are eliminated, until one is left, those left tie, or there were most_rounds. A
/// candidate is found slower when the interval of its median lies more than `tie` above that of the candidate with the
/// lowest median: order statistics of at least 90 % (david2003), from least_rounds rounds on; before that, where so
/// early is allowed, when it lies beyond `far_slower` times that. Among candidates within `tie` of the lowest median
/// the first one wins, so that the same candidate does every time.
///
/// With several ranks each gives its view of the candidates, and all judge by the largest of each number: the median of
/// the slowest rank, and bounds of it.
class Contest {
 public:
  static constexpr std::size_t least_rounds = 5;
  static constexpr std::size_t most_rounds = 15;
  static constexpr double far_slower = 1.25;
  static constexpr double tie = 0.02;
  static constexpr std::size_t numbers = 3;  ///< in a view, for each candidate: median, lower and upper bound

  /// `first_to_leave`: rounds after which candidates may leave.
  explicit Contest(std::size_t candidates, std::size_t first_to_leave = 2);

  /// The candidates that run in the next round, in this order: forth in one round, back in the next.
  [[nodiscard]] std::vector<std::size_t> order() const;
  void add(std::size_t candidate, double time_s);  ///< on this rank
  [[nodiscard]] std::vector<double> view() const;
  /// Ends the round. `slowest`: the largest over the ranks of each number of their views. True when decided.
  bool judge(std::span<const double> slowest);
  [[nodiscard]] std::size_t rounds() const { return rounds_; }
  [[nodiscard]] std::size_t winner() const { return winner_; }  ///< as judged so far

 private:
  std::vector<std::vector<double>> times_;  ///< for each candidate, sorted
  std::vector<bool> in_;
  std::size_t first_to_leave_;
  std::size_t rounds_ = 0;
  std::size_t winner_ = 0;
};

/// Which sample, counted from 0 and from either end of the sorted samples, bounds their median with at least 90 %; the
/// outermost where no bound is as good.
[[nodiscard]] std::size_t bound_of_median(std::size_t samples);

}  // namespace fourscore::local
