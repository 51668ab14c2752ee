#include "kernels/first_touch.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

namespace fourscore {
namespace {

/// Memory that nobody has touched yet.
class Untouched {
 public:
  explicit Untouched(std::size_t bytes)
      : bytes_(bytes), data_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  ~Untouched() { ::munmap(data_, bytes_); }
  Untouched(const Untouched&) = delete;
  Untouched& operator=(const Untouched&) = delete;
  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] std::size_t resident_pages() const {
    std::vector<unsigned char> pages((bytes_ + page() - 1) / page());
    if (::mincore(data_, bytes_, pages.data()) != 0) return 0;
    return static_cast<std::size_t>(std::ranges::count_if(pages, [](unsigned char state) { return (state & 1) != 0; }));
  }
  static std::size_t page() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

 private:
  std::size_t bytes_;
  void* data_;
};

TEST(FirstTouch, TouchesEveryPageWhateverTheThreads) {
  for (const int threads : {1, 2, 3, 7}) {
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{100'000}, (std::size_t{9} << 20) + 5}) {
      const Untouched memory(bytes);
      ASSERT_EQ(memory.resident_pages(), 0U);
      first_touch(memory.data(), bytes, threads);
      EXPECT_EQ(memory.resident_pages(), (bytes + Untouched::page() - 1) / Untouched::page()) << threads << " threads";
    }
  }
}

TEST(FirstTouch, WritesZerosAndNothingBeyond) {
  std::vector<char> bytes((std::size_t{5} << 20) + 3, 'x');
  first_touch(bytes.data(), bytes.size() - 1, 3);
  EXPECT_EQ(std::ranges::count(bytes, '\0'), std::ssize(bytes) - 1);
  EXPECT_EQ(bytes.back(), 'x');
}

TEST(FirstTouch, LeavesTheCallingThreadWhereItMayRun) {
  cpu_set_t before, after;
  ::sched_getaffinity(0, sizeof before, &before);
  std::vector<char> bytes(std::size_t{5} << 20);
  first_touch(bytes.data(), bytes.size(), 4);
  ::sched_getaffinity(0, sizeof after, &after);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST(FirstTouch, TheNumberOfThreadsHoldsForAScope) {
  EXPECT_EQ(FirstTouchThreads::current(), 1);
  {
    const FirstTouchThreads four(4);
    EXPECT_EQ(FirstTouchThreads::current(), 4);
  }
  EXPECT_EQ(FirstTouchThreads::current(), 1);
}

}  // namespace
}  // namespace fourscore
