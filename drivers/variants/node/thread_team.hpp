#pragma once
// The OpenMP threads of one rank, or on a simulated machine what stands in for them. Where the compiler has no OpenMP
// this is declared, but not there.

#include <atomic>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

#include "core/thread_stand_in.hpp"

namespace fourscore {

/// A fixed number of threads that do one piece of work together. An exception must not leave a thread while others
/// wait for it at a barrier: what may throw is done in step(), and run() throws the first that was caught. After it no
/// further step is begun, and a step that waits for another thread must look at failed(): the rank then tells its error
/// instead of waiting for messages of ranks that wait for its own.
class ThreadTeam {
 public:
  /// Throws InputError where OpenMP gives fewer threads. `crowded`: more threads wait than there are cores, so that who
  /// waits gives way instead of keeping another from its core.
  explicit ThreadTeam(int threads, bool crowded = false);

  [[nodiscard]] int threads() const { return threads_; }

  /// work(thread) once on each of threads 0, 1 ...; thread 0 is the caller. Allocates nothing.
  template <class Work>
  void run(const Work& work) {
    run_on_all([](const void* any, int thread) { (*static_cast<const Work*>(any))(thread); }, &work);
    if (failed()) throw_first();
  }

  template <class Work>
  void step(int thread, const Work& work) {
    if (failed()) return;
    try {
      work();
    } catch (...) {
      std::exception_ptr& error = errors_[static_cast<std::size_t>(thread)];
      if (!error) error = std::current_exception();
      failed_.store(true, std::memory_order_release);
    }
  }

  /// A step of this run threw, on some thread.
  [[nodiscard]] bool failed() const { return failed_.load(std::memory_order_acquire); }

  /// All threads of run() reach it the same number of times. Orders memory as well.
  void barrier() const;
  /// Between two looks at something that another thread, or MPI, has to do: gives way.
  static void pause() {
    if (const ThreadStandIn* const stand_in = ThreadStandIn::at_hand())
      stand_in->pause();
    else
      std::this_thread::yield();
  }
  /// The same where all threads that wait look at the same.
  static void pause_together() {
    if (const ThreadStandIn* const stand_in = ThreadStandIn::at_hand())
      stand_in->pause_together();
    else
      std::this_thread::yield();
  }
  /// What another thread has done is taken over, or a part of a phase's work begun: on simulated machines that takes
  /// time.
  static void take_over() {
    if (const ThreadStandIn* const stand_in = ThreadStandIn::at_hand()) stand_in->take_over();
  }
  static void works_on(Phase phase, std::int64_t bytes) {
    if (const ThreadStandIn* const stand_in = ThreadStandIn::at_hand()) stand_in->works_on(phase, bytes);
  }
  [[nodiscard]] bool crowded() const { return crowded_; }

 private:
  [[noreturn]] void throw_first();
  void run_on_all(void (*call)(const void* work, int thread), const void* work) const;

  int threads_;
  bool crowded_;
  std::vector<std::exception_ptr> errors_;  ///< by thread
  std::atomic<bool> failed_{false};
  alignas(64) mutable std::atomic<int> waiting_{0};  ///< at the barrier of crowded threads
  mutable std::atomic<unsigned> passed_{0};          ///< how often all were there
};

}  // namespace fourscore
