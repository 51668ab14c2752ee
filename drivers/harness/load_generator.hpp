#pragma once
// Work that is no part of a transform, beside transforms (core/other_work.hpp): so many units of it, and not so much
// time by a clock.

#include <mpi.h>

#include <cstddef>
#include <string_view>
#include <vector>

#include "core/other_work.hpp"
#include "core/phase.hpp"
#include "interfaces/plan.hpp"

namespace fourscore {

/// One rank's other work. How many units fill the time that was asked for is found out once, before anything is timed:
/// by the best of several trials, in which all ranks work at once. On a simulated machine work takes its time by the
/// machine's speed.
class LoadGenerator {
 public:
  /// Collective; allocates and calibrates.
  LoadGenerator(MPI_Comm comm, const WorkBeside& asked);

  /// Begins a run, with all of the work ahead and as many parts as the run before turned out to have.
  void begin_run();
  /// A transform of the rank is complete.
  void after_transform(PhaseClock& clock);
  /// A plan was advanced: a slice of the work where it waits for messages; where it never says so, an equal part
  /// between any two of its parts. Whether there was one.
  bool after_part(PhaseClock& clock, Advance result);
  /// Ends a run: what is left of the work is done now.
  void end_run(PhaseClock& clock);
  /// All of it.
  void work_alone() { work(units_); }

  [[nodiscard]] bool is_during() const { return asked_.place == WorkPlace::during; }
  [[nodiscard]] std::string_view unit() const;  ///< "multiply-adds" or "bytes"
  [[nodiscard]] double units() const { return units_; }
  [[nodiscard]] std::size_t array_bytes() const {
    return array_.size() * sizeof(double);
  }  ///< that load memory streams over
  /// In how many parts or slices the work of the run before was done, without what was left at its end.
  [[nodiscard]] int parts() const { return parts_before_; }

 private:
  bool do_part(PhaseClock& clock, double units);
  void work(double units);
  void compute(double units);
  void stream(double units);
  void calibrate(MPI_Comm comm);

  WorkBeside asked_;
  double units_ = 0;
  double left_ = 0;  ///< in the run in hand
  int idles_ = 0, idles_before_ = 0;
  int boundaries_ = 0, boundaries_before_ = 0;
  int parts_ = 0, parts_before_ = 0;
  std::vector<double> array_;
  std::size_t next_ = 0;  ///< element of the array with which the next stream begins
  double sum_ = 0;
};

}  // namespace fourscore
