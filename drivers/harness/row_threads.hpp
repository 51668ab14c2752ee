#pragma once
// Threads that share out the rows of a product, and wait between two of them.

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace fourscore {

/// The threads live as long as this. They call no MPI.
class RowThreads {
 public:
  /// One thread is the caller of run() alone.
  explicit RowThreads(int threads);
  ~RowThreads();
  RowThreads(const RowThreads&) = delete;
  RowThreads& operator=(const RowThreads&) = delete;

  [[nodiscard]] int count() const { return static_cast<int>(others_.size()) + 1; }
  /// share(number) once for each of 0 to count() - 1, number 0 on the calling thread. Returns after the last.
  template <class Share>
  void run(const Share& share) {
    run_share([](const void* work, int number) { (*static_cast<const Share*>(work))(number); }, &share);
  }

 private:
  using RunShare = void (*)(const void* work, int number);
  void run_share(RunShare share, const void* work);
  void wait_for_work(int number);

  std::mutex mutex_;
  std::condition_variable begun_;
  std::condition_variable ended_;
  RunShare share_ = nullptr;
  const void* work_ = nullptr;
  std::uint64_t runs_ = 0;  ///< begun so far
  int working_ = 0;         ///< others that are not through with it
  bool ends_ = false;
  std::vector<std::thread> others_;
};

}  // namespace fourscore
