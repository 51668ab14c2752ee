#pragma once
// Where the threads of a rank only seem to run: what stands in for them.

#include <cstdint>

#include "core/phase.hpp"

namespace fourscore {

/// Its functions are called by the threads of a rank.
struct ThreadStandIn {
  /// Calls work(context, thread) once on each of threads 0, 1 ... Thread 0 is the caller, which returns after the last.
  void (*run)(int threads, void (*work)(const void* context, int thread), const void* context);
  /// All threads of run() reach it the same number of times.
  void (*barrier)();
  /// Between two looks at something that another thread, or MPI, has to do.
  void (*pause)();
  /// The same where all threads that wait look at the same.
  void (*pause_together)();
  /// Takes what another thread has handed over.
  void (*take_over)();
  /// The calling thread begins a part of the work of a phase, which moves so many bytes.
  void (*works_on)(Phase phase, std::int64_t bytes);

  /// Null where threads are real.
  [[nodiscard]] static const ThreadStandIn* at_hand() { return at_hand_; }
  /// `stand_in` must outlive all threads. Before the first rank starts.
  static void use(const ThreadStandIn* stand_in) { at_hand_ = stand_in; }

 private:
  static inline const ThreadStandIn* at_hand_ = nullptr;
};

}  // namespace fourscore
