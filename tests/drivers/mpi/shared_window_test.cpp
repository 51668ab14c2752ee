// Memory of a node in huge pages and, where those cannot be had, in MPI's own window.

#include "mpi/shared_window.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

namespace fourscore {
namespace {

constexpr std::size_t large_bytes = 2 * mpi::huge_page_bytes + 100;
constexpr const char* no_processes = "/nonexistent";  // where no rank finds another's file

class SharedWindow : public testing::Test {
 protected:
  /// Each rank fills its own part and finds what the others filled theirs with.
  void expect_shared(const mpi::SharedWindow& window, const std::vector<std::size_t>& bytes) const {
    std::memset(window.segment(me_), me_ + 1, bytes[static_cast<std::size_t>(me_)]);
    window.sync();
    MPI_Barrier(node_.get());
    window.sync();
    for (int rank = 0; rank < ranks_; ++rank) {
      const std::span part(window.segment(rank), bytes[static_cast<std::size_t>(rank)]);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(part.data()) % 64, 0U);
      EXPECT_TRUE(std::ranges::all_of(part, [&](std::byte byte) { return byte == static_cast<std::byte>(rank + 1); }))
          << "rank " << rank;
    }
    MPI_Barrier(node_.get());
  }

  mpi::Communicator node_ = mpi::split_by_node(MPI_COMM_WORLD);
  int ranks_ = mpi::size_of(node_.get());
  int me_ = mpi::rank_in(node_.get());
};

TEST_F(SharedWindow, ShowsEveryRankTheSameMemory) {
  for (const std::size_t bytes : {std::size_t{100}, large_bytes})
    for (const std::string& processes : {std::string("/proc"), std::string(no_processes)})
      expect_shared({node_, bytes, processes}, std::vector(static_cast<std::size_t>(ranks_), bytes));
}

TEST_F(SharedWindow, HoldsPartsOfDifferentSizes) {
  std::vector<std::size_t> bytes(static_cast<std::size_t>(ranks_), large_bytes);
  bytes.front() = 0;
  expect_shared({node_, bytes[static_cast<std::size_t>(me_)]}, bytes);
}

TEST_F(SharedWindow, BeginsAsZeros) {
  const mpi::SharedWindow window(node_, large_bytes);
  const std::span part(window.segment(me_), large_bytes);
  EXPECT_TRUE(std::ranges::all_of(part, [](std::byte byte) { return byte == std::byte{0}; }));
}

TEST_F(SharedWindow, HasPagesOfItsOwnWhereItIsLarge) {
  EXPECT_FALSE(mpi::SharedPages::make(node_.get(), 2 * mpi::huge_page_bytes - 1).has_value());
  const auto pages = mpi::SharedPages::make(node_.get(), large_bytes);
  ASSERT_TRUE(pages.has_value());
  ASSERT_EQ(pages->segments().size(), static_cast<std::size_t>(ranks_));
  for (const std::byte* segment : pages->segments())
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(segment) % mpi::huge_page_bytes, 0U);
}

/// Ranks in containers of their own do not see each other's files.
TEST_F(SharedWindow, HasNoneWhereRanksDoNotFindEachOther) {
  EXPECT_EQ(mpi::SharedPages::make(node_.get(), large_bytes, no_processes).has_value(), ranks_ == 1);
}

/// When ranks go apart, one may release the memory while another still reads it.
TEST_F(SharedWindow, LivesAsLongAsOneRankHasIt) {
  auto pages = mpi::SharedPages::make(node_.get(), large_bytes);
  ASSERT_TRUE(pages.has_value());
  const std::vector<std::byte*> segments = pages->segments();
  std::memset(segments[static_cast<std::size_t>(me_)], me_ + 1, large_bytes);
  MPI_Barrier(node_.get());
  if (me_ == 0) pages.reset();
  MPI_Barrier(node_.get());
  if (me_ != 0) {
    EXPECT_EQ(segments[0][large_bytes - 1], std::byte{1});
  }
}

}  // namespace
}  // namespace fourscore
