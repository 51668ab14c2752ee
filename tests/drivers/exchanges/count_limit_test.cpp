// Arrays whose counts MPI's int does not hold: refused with the count, or moved with datatypes that hold them. The
// buffers are addresses without memory, and a limit on this process's memory keeps whoever allocates first from harm.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <new>
#include <string>

#include "interfaces/exchange.hpp"
#include "mpi/handles.hpp"

namespace fourscore {
namespace {

using ::testing::HasSubstr;

/// Addresses to plan with, which fault when they are touched.
class Unbacked : public Buffer {
 public:
  explicit Unbacked(std::size_t bytes)
      : bytes_(bytes), data_(mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    if (data_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~Unbacked() override { munmap(data_, bytes_); }
  Unbacked(const Unbacked&) = delete;
  Unbacked& operator=(const Unbacked&) = delete;
  [[nodiscard]] void* data() const override { return data_; }
  [[nodiscard]] std::size_t bytes() const override { return bytes_; }

 private:
  std::size_t bytes_;
  void* data_;
};

/// A process that allocates more than it had and this fails with bad_alloc.
class MemoryLimit {
 public:
  explicit MemoryLimit(rlim_t bytes) {
    getrlimit(RLIMIT_DATA, &before_);
    rlimit now = before_;
    now.rlim_cur = bytes;
    setrlimit(RLIMIT_DATA, &now);
  }
  ~MemoryLimit() { setrlimit(RLIMIT_DATA, &before_); }
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

 private:
  rlimit before_{};
};

class CountLimit : public ::testing::TestWithParam<std::string> {};

/// 2^33 elements: on two ranks 2^32 a rank, of which 2^31, one more than an int holds, go to the other.
TEST_P(CountLimit, IsNamedOrHeldByDatatypes) {
  const int ranks = mpi::size_of(MPI_COMM_WORLD);
  const Index rows = Index{8192} * ranks / 2;
  const Extents shape{rows, 1024, 1024};
  const auto from = decompose(shape, {{ranks, 1, 1}});
  const auto to = decompose(shape, {{1, ranks, 1}});
  const Index local = from.max_volume();
  const Index block = local / ranks;
  Unbacked source(static_cast<std::size_t>(local) * 16);
  Unbacked spare(static_cast<std::size_t>(local) * 16);
  const MemoryLimit limit(rlim_t{4} << 30);
  const auto& method = ExchangeRegistry::instance().get(GetParam(), "exchange");
  try {
    const auto exchange = method.make({from, to, MPI_COMM_WORLD, 16, source, spare});
    const MessageVolume traffic = exchange->message_volume();
    EXPECT_EQ(traffic.bytes_sent + traffic.bytes_read_shared, (local - block) * 16);
    // Between nodes `shared` moves its blocks as datatypes too; `active` sends packets, of which none is so large.
    EXPECT_THAT(GetParam(), ::testing::AnyOf("active", "alltoallw", "shared"))
        << "only datatypes and packets hold this";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("exchange '" + GetParam() + "'"));
    EXPECT_THAT(error.what(), ::testing::AnyOf(HasSubstr(std::to_string(block)), HasSubstr(std::to_string(local))));
    EXPECT_THAT(error.what(), HasSubstr("int counts"));
  }
}

INSTANTIATE_TEST_SUITE_P(Exchanges, CountLimit, ::testing::ValuesIn(ExchangeRegistry::instance().names()),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           for (char& c : name)
                             if (c == '-') c = '_';
                           return name;
                         });

}  // namespace
}  // namespace fourscore
