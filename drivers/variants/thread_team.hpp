#pragma once
// The OpenMP threads of one rank. Where the compiler has no OpenMP this is declared, but not there.

#include <exception>
#include <utility>
#include <vector>

namespace fourscore {

/// A fixed number of threads that do one piece of work together. An exception must not leave a thread while others
/// wait for it at a barrier: what may throw is done in step(), and run() throws the first that was caught.
class ThreadTeam {
 public:
  /// Throws InputError where OpenMP gives fewer threads.
  explicit ThreadTeam(int threads);

  [[nodiscard]] int threads() const { return threads_; }

  /// work(thread) once on each of threads 0, 1 ...; thread 0 is the caller. Allocates nothing.
  template <class Work>
  void run(const Work& work) {
    run_on_all([](const void* any, int thread) { (*static_cast<const Work*>(any))(thread); }, &work);
    for (std::exception_ptr& error : errors_)
      if (error) std::rethrow_exception(std::exchange(error, nullptr));
  }

  template <class Work>
  void step(int thread, const Work& work) {
    try {
      work();
    } catch (...) {
      std::exception_ptr& error = errors_[static_cast<std::size_t>(thread)];
      if (!error) error = std::current_exception();
    }
  }

  /// All threads of run() reach it the same number of times. Orders memory as well.
  static void barrier();

 private:
  void run_on_all(void (*call)(const void* work, int thread), const void* work) const;

  int threads_;
  std::vector<std::exception_ptr> errors_;  ///< by thread
};

}  // namespace fourscore
