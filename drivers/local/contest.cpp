#include "local/contest.hpp"

#include <algorithm>
#include <cmath>

namespace fourscore::local {

namespace {

constexpr double confidence = 0.9;

double median_of(const std::vector<double>& sorted) {
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : 0.5 * (sorted[half - 1] + sorted[half]);
}

}  // namespace

/// The median lies outside samples k and n - 1 - k with 2 P(B <= k), where B of n throws of a coin is binomial.
std::size_t bound_of_median(std::size_t samples) {
  const auto n = static_cast<double>(samples);
  double at_most = 0;
  double exactly = std::pow(0.5, n);
  std::size_t bound = 0;
  for (std::size_t k = 0; 2 * k + 1 < samples; ++k) {
    at_most += exactly;
    if (1 - 2 * at_most < confidence) break;
    bound = k;
    const auto thrown = static_cast<double>(k);
    exactly *= (n - thrown) / (thrown + 1);
  }
  return bound;
}

Contest::Contest(std::size_t candidates, std::size_t first_to_leave)
    : times_(candidates), in_(candidates, true), first_to_leave_(first_to_leave) {}

std::vector<std::size_t> Contest::order() const {
  std::vector<std::size_t> list;
  for (std::size_t candidate = 0; candidate < in_.size(); ++candidate)
    if (in_[candidate]) list.push_back(candidate);
  if (rounds_ % 2 == 1) std::ranges::reverse(list);
  return list;
}

void Contest::add(std::size_t candidate, double time_s) {
  std::vector<double>& times = times_[candidate];
  times.insert(std::ranges::upper_bound(times, time_s), time_s);
}

std::vector<double> Contest::view() const {
  std::vector<double> view;
  for (const std::vector<double>& times : times_) {
    if (times.empty()) {
      view.insert(view.end(), numbers, 0.0);
      continue;
    }
    const std::size_t bound = bound_of_median(times.size());
    view.insert(view.end(), {median_of(times), times[bound], times[times.size() - 1 - bound]});
  }
  return view;
}

bool Contest::judge(std::span<const double> slowest) {
  ++rounds_;
  const auto median = [&](std::size_t candidate) { return slowest[numbers * candidate]; };
  const auto low = [&](std::size_t candidate) { return slowest[numbers * candidate + 1]; };
  const auto high = [&](std::size_t candidate) { return slowest[numbers * candidate + 2]; };
  std::vector<std::size_t> left;
  for (std::size_t candidate = 0; candidate < in_.size(); ++candidate)
    if (in_[candidate]) left.push_back(candidate);
  const std::size_t best = *std::ranges::min_element(left, {}, median);
  const double bar = (rounds_ >= least_rounds ? 1 + tie : far_slower) * high(best);
  if (rounds_ >= first_to_leave_)
    for (const std::size_t candidate : left)
      if (candidate != best && low(candidate) > bar) in_[candidate] = false;
  std::erase_if(left, [&](std::size_t candidate) { return !in_[candidate]; });
  const auto ties = [&](std::size_t candidate) { return median(candidate) <= (1 + tie) * median(best); };
  winner_ = *std::ranges::find_if(left, ties);
  if (left.size() == 1 || rounds_ == most_rounds) return true;
  return rounds_ >= least_rounds && std::ranges::all_of(left, ties);
}

}  // namespace fourscore::local
