#ifdef FOURSCORE_OPENMP

#include "variants/node/thread_team.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <stdexcept>

#include "core/problem.hpp"

namespace fourscore {

ThreadTeam::ThreadTeam(int threads, bool crowded)
    : threads_(threads), crowded_(crowded), errors_(static_cast<std::size_t>(threads)) {
  if (ThreadStandIn::at_hand() != nullptr) return;
  int given = 0;
#pragma omp parallel num_threads(threads)
#pragma omp master
  given = omp_get_num_threads();
  if (given != threads)
    throw InputError(fmt::format(
        "threads is {}, but OpenMP gives {} (OMP_THREAD_LIMIT and OMP_DYNAMIC bound it); expected at most {}", threads,
        given, given));
}

void ThreadTeam::run_on_all(void (*call)(const void* work, int thread), const void* work) const {
  if (const ThreadStandIn* const stand_in = ThreadStandIn::at_hand()) return stand_in->run(threads_, call, work);
  bool complete = true;
#pragma omp parallel num_threads(threads_)
  {
    if (omp_get_num_threads() == threads_) {
      call(work, omp_get_thread_num());
    } else {
#pragma omp master
      complete = false;
    }
  }
  if (!complete) throw std::runtime_error(fmt::format("OpenMP gave fewer threads than the {} planned", threads_));
}

void ThreadTeam::throw_first() {
  const auto first = *std::ranges::find_if(errors_, [](const std::exception_ptr& error) { return error != nullptr; });
  std::ranges::fill(errors_, nullptr);
  failed_ = false;
  std::rethrow_exception(first);
}

/// OpenMP's own busy-waits for milliseconds where each rank's threads have cores enough, but the node's together not.
/// Who sleeps instead gets its core back as soon as it is woken.
void ThreadTeam::barrier() const {
  if (const ThreadStandIn* const stand_in = ThreadStandIn::at_hand()) return stand_in->barrier();
  if (!crowded_) {
#pragma omp barrier
    return;
  }
  const unsigned passed = passed_.load(std::memory_order_acquire);
  if (waiting_.fetch_add(1, std::memory_order_acq_rel) + 1 < threads_) {
    passed_.wait(passed, std::memory_order_acquire);
    return;
  }
  waiting_.store(0, std::memory_order_relaxed);
  passed_.store(passed + 1, std::memory_order_release);
  passed_.notify_all();
}

}  // namespace fourscore

#endif
