#pragma once
// What libraries without a wisdom of their own have in common: their passes are split and timed at planning, and
// the decisions taken are what later plans are repeated from.

#include <memory>
#include <mutex>
#include <string>

#include "interfaces/local_fft.hpp"
#include "local/split_fft.hpp"

namespace fourscore::local {

/// A library's file adds card(), version() and planner_for().
class PlannedLibrary : public LocalFftLibrary {
 public:
  [[nodiscard]] std::unique_ptr<LocalFft> make(const LocalFftSpec& spec, void* in, void* out) const final;
  [[nodiscard]] std::unique_ptr<LocalFft> make_from_memory(const LocalFftSpec& spec, void* in, void* out) const final;
  void plan_together(const LocalFftSpec& spec, void* in, void* out, PlanningPeers& peers) const final;
  /// A line "plans of NAME", then one line "work = candidate" for each decision.
  void import_wisdom(const std::string& text, const std::string& origin) const final;
  [[nodiscard]] std::string export_wisdom() const final;

 protected:
  /// The library as it plans one spec of at least one element, which it does not refuse.
  [[nodiscard]] virtual std::unique_ptr<PassPlanner> planner_for(const LocalFftSpec& spec) const = 0;

 private:
  /// `peers` null: from memory.
  [[nodiscard]] std::unique_ptr<LocalFft> made(const LocalFftSpec& spec, void* in, void* out,
                                               PlanningPeers* peers) const;
  [[nodiscard]] std::string wisdom_header() const { return "plans of " + card().name; }

  mutable std::mutex mutex_;  ///< decisions are shared by the threads that plan
  mutable Decisions decisions_;
};

}  // namespace fourscore::local
