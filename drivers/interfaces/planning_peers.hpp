#pragma once
// Ranks that plan the same local transform at the same time, and decide as one.

#include <cstddef>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>

namespace fourscore {

/// Thrown on ranks whose planning ended because it failed on another one, which tells why.
struct PlanningStopped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Each call is collective over the peers, who all make the same calls in the same order.
class PlanningPeers {
 public:
  static constexpr std::size_t most_values = 96;

  virtual ~PlanningPeers() = default;
  /// Does the work, which may itself make such calls. When it is done everywhere, `values`, as the work left them, are
  /// the largest over the peers, each at its place; at most most_values of them. What the work throws on one rank is
  /// thrown there, and PlanningStopped on the others. `step` is the same everywhere: std::logic_error where it is not.
  virtual void agree(const std::string& step, const std::function<void()>& work, std::span<double> values) = 0;
  /// The text of the first of the peers.
  [[nodiscard]] virtual std::string of_first(const std::string& text) = 0;
  [[nodiscard]] virtual bool is_first() const = 0;
  [[nodiscard]] virtual bool alone() const = 0;
};

/// One who plans alone.
class NoPeers : public PlanningPeers {
 public:
  void agree(const std::string& /*step*/, const std::function<void()>& work, std::span<double> /*values*/) override {
    work();
  }
  [[nodiscard]] std::string of_first(const std::string& text) override { return text; }
  [[nodiscard]] bool is_first() const override { return true; }
  [[nodiscard]] bool alone() const override { return true; }
};

}  // namespace fourscore
