// Every registered exchange, between decompositions that divide and that do not: each element is looked at.

#include "core/exchange.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <string>

#include "mpi/exchange_fixture.hpp"
#include "mpi/handles.hpp"

namespace fourscore {
namespace {

class EveryExchange : public ::testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] const ExchangeMethod& method() const {
    return ExchangeRegistry::instance().get(GetParam(), "exchange");
  }
};

TEST_P(EveryExchange, BringsEachElementToItsPlace) {
  const auto buffers = testing::allocate(method());
  for (const auto& movement : testing::movements())
    for (const std::size_t element_bytes : {8U, 16U})
      testing::run_and_check(method(), movement, element_bytes, buffers);
}

TEST_P(EveryExchange, WorksOnOrdinaryBuffersToo) {
  const auto buffers = testing::allocate(ExchangeRegistry::instance().get("alltoallv", "exchange"));
  const auto& all = testing::movements();
  for (std::size_t i = 0; i < all.size(); i += 3) testing::run_and_check(method(), all[i], 16, buffers);
}

TEST_P(EveryExchange, WorksWhereOnlySomeRanksShareMemory) {
  const auto buffers = testing::allocate_on_two_nodes();
  const auto& all = testing::movements();
  for (std::size_t i = 0; i < all.size(); i += 2)
    testing::run_and_check(method(), all[i], i % 4 == 0 ? 8 : 16, buffers);
}

TEST_P(EveryExchange, GivesBuffersAlignedToACacheLineAndReadableByPeers) {
  const auto buffer = method().allocate(MPI_COMM_WORLD, 1000);
  EXPECT_GE(buffer->bytes(), 1000U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer->data()) % 64, 0U);
  const int me = mpi::rank_in(MPI_COMM_WORLD);
  *static_cast<int*>(buffer->data()) = 100 + me;
  buffer->sync();
  MPI_Barrier(MPI_COMM_WORLD);
  buffer->sync();
  for (int rank = 0; rank < mpi::size_of(MPI_COMM_WORLD); ++rank) {
    if (const void* peer = buffer->peer(rank)) {
      EXPECT_EQ(*static_cast<const int*>(peer), 100 + rank);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST_P(EveryExchange, RefusesDecompositionsThatDoNotBelongTogether) {
  const int size = mpi::size_of(MPI_COMM_WORLD);
  const auto source = method().allocate(MPI_COMM_WORLD, 16 * 64);
  const auto spare = method().allocate(MPI_COMM_WORLD, 16 * 64);
  const auto make = [&](const Decomposition& from, const Decomposition& to) {
    return method().make({from, to, MPI_COMM_WORLD, 16, *source, *spare});
  };
  const Decomposition good = decompose({4, 4, 4}, {{size, 1, 1}});
  EXPECT_NO_THROW((void)make(good, good));
  EXPECT_THROW((void)make(good, decompose({4, 4, 4}, {{size + 1, 1, 1}})), std::invalid_argument);
  EXPECT_THROW((void)make(good, decompose({4, 4, 5}, {{size, 1, 1}})), std::invalid_argument);
  const Decomposition large = decompose({4 * size, 8, 8}, {{size, 1, 1}});
  EXPECT_THROW((void)make(large, large), std::invalid_argument);
}

/// Claims more memory than there is; exchanges are refused before any of it is touched.
class ClaimedBuffer : public Buffer {
 public:
  [[nodiscard]] void* data() const override { return nullptr; }
  [[nodiscard]] std::size_t bytes() const override { return std::size_t{1} << 62; }
};

TEST_P(EveryExchange, SaysThatACountOverflowsOrTakesIt) {
  const int size = mpi::size_of(MPI_COMM_WORLD);
  if (size == 1) GTEST_SKIP() << "one rank sends no message";
  const Index n = 1 << 18;
  const Extents shape{n, n, 8};
  const Decomposition from = decompose(shape, {{size, 1, 1}});
  const Decomposition to = decompose(shape, {{1, size, 1}});
  ClaimedBuffer source;
  ClaimedBuffer spare;
  try {
    (void)method().make({from, to, MPI_COMM_WORLD, 16, source, spare});
  } catch (const InputError& error) {
    const Index block = block_range(n, size, 0).size() * block_range(n, size, 1).size() * 8;
    EXPECT_NE(std::string(error.what()).find(std::to_string(block)), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find(GetParam()), std::string::npos) << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(Registered, EveryExchange, ::testing::ValuesIn(ExchangeRegistry::instance().names()),
                         [](const auto& instance) { return instance.param; });

TEST(Movements, AreManyAndSoAreTheExchanges) {
  EXPECT_GE(testing::movements().size(), 8U);
  EXPECT_GE(ExchangeRegistry::instance().names().size(), 5U);
}

}  // namespace
}  // namespace fourscore
