#include "harness/row_threads.hpp"

namespace fourscore {

RowThreads::RowThreads(int threads) {
  for (int number = 1; number < threads; ++number) others_.emplace_back([this, number] { wait_for_work(number); });
}

RowThreads::~RowThreads() {
  {
    const std::scoped_lock lock(mutex_);
    ends_ = true;
  }
  begun_.notify_all();
  for (std::thread& other : others_) other.join();
}

void RowThreads::run_share(RunShare share, const void* work) {
  if (others_.empty()) return share(work, 0);
  {
    const std::scoped_lock lock(mutex_);
    share_ = share;
    work_ = work;
    working_ = static_cast<int>(others_.size());
    ++runs_;
  }
  begun_.notify_all();
  share(work, 0);
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [this] { return working_ == 0; });
}

void RowThreads::wait_for_work(int number) {
  std::unique_lock lock(mutex_);
  for (std::uint64_t seen = 0;;) {
    begun_.wait(lock, [&] { return ends_ || runs_ != seen; });
    if (ends_) return;
    seen = runs_;
    const RunShare share = share_;
    const void* const work = work_;
    lock.unlock();
    share(work, number);
    lock.lock();
    if (--working_ == 0) ended_.notify_one();
  }
}

}  // namespace fourscore
