#ifdef FOURSCORE_OPENMP

#include "variants/node/thread_team.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <stdexcept>

#include "core/problem.hpp"

namespace fourscore {

ThreadTeam::ThreadTeam(int threads) : threads_(threads), errors_(static_cast<std::size_t>(threads)) {
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

void ThreadTeam::barrier() {
#pragma omp barrier
}

}  // namespace fourscore

#endif
