// What alltoall_bench times is right, or is seen to be wrong: in every group of a grid at once, for every exchange.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>

#include "components/exchange_work.hpp"
#include "components/messages.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace fourscore::component {
namespace {

constexpr std::array among_all{Among::row, Among::column, Among::world};

double over_ranks(double error) {
  double largest = error;
  FOURSCORE_MPI(MPI_Allreduce(&error, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
  return largest;
}

/// What Work::error() says, before and after it was run.
double errors_of(std::unique_ptr<Work> work) {
  const double before = over_ranks(work->error());
  work->run(3);
  return before + over_ranks(work->error());
}

std::vector<GroupExchange> groups(const Grid& grid, Among among) {
  const int me = mpi::rank_in(MPI_COMM_WORLD);
  return {even_exchange(grid, among, me, 8), even_exchange(grid, among, me, 808),
          pencil_exchange({9, 10, 11}, grid, among, me, 16), pencil_exchange({8, 8, 8}, grid, among, me, 8)};
}

TEST(ComponentExchange, EveryExchangeIsRightInEveryGroupOfEveryGrid) {
  int tried = 0;
  for (const Grid& grid : two_dimensional_grids(mpi::size_of(MPI_COMM_WORLD)))
    for (const Among among : among_all)
      for (const GroupExchange& group : groups(grid, among))
        for (const auto& name : ExchangeRegistry::instance().names()) {
          const ExchangeMethod& method = *ExchangeRegistry::instance().find(name);
          if (!method.unavailable().empty()) continue;
          for (const Parts parts : {Parts::whole, Parts::transport})
            EXPECT_EQ(errors_of(exchange_work(MPI_COMM_WORLD, method, {}, group, parts)), 0) << name;
          ++tried;
        }
  EXPECT_GE(tried, 3 * 4 * 10);
}

TEST(ComponentExchange, MpisOwnCollectivesAreRight) {
  for (const Grid& grid : two_dimensional_grids(mpi::size_of(MPI_COMM_WORLD)))
    for (const Among among : among_all)
      for (const GroupExchange& group : groups(grid, among))
        for (const auto& name : collective_names()) {
          if (wants_even(name) && !group.even()) continue;
          EXPECT_EQ(errors_of(collective_work(MPI_COMM_WORLD, name, group)), 0) << name;
        }
}

/// An exchange that is right but for one byte on the last rank.
class Faulty : public Exchange {
 public:
  Faulty(std::unique_ptr<Exchange> right, const ExchangeSpec& spec)
      : right_(std::move(right)), landed_(right_->lands_in_source() ? spec.source : spec.spare) {
    declared() = right_->facts();
    declared().unpacks = true;  // also where the right one has nothing to unpack
  }
  void pack() override { right_->pack(); }
  void start() override { right_->start(); }
  void finish() override { right_->finish(); }
  void unpack() override {
    right_->unpack();
    if (mpi::rank_in(MPI_COMM_WORLD) == mpi::size_of(MPI_COMM_WORLD) - 1)
      static_cast<std::byte*>(landed_.data())[landed_.bytes() - 1] ^= std::byte{1};
  }

 private:
  std::unique_ptr<Exchange> right_;
  Buffer& landed_;
};

class FaultyMethod : public ExchangeMethod {
 public:
  [[nodiscard]] Card card() const override { return {"faulty", "", ""}; }
  [[nodiscard]] std::unique_ptr<Exchange> make(const ExchangeSpec& spec) const override {
    return std::make_unique<Faulty>(ExchangeRegistry::instance().get("alltoallv", "exchange").make(spec), spec);
  }
};

TEST(ComponentExchange, OneWrongByteIsSeen) {
  const Grid grid = two_dimensional_grids(mpi::size_of(MPI_COMM_WORLD)).front();
  const GroupExchange group = even_exchange(grid, Among::world, mpi::rank_in(MPI_COMM_WORLD), 64);
  EXPECT_EQ(over_ranks(exchange_work(MPI_COMM_WORLD, FaultyMethod(), {}, group, Parts::whole)->error()), 1);
}

/// Which of its calls were made; what run() does differs from its parts by one byte of each rank.
struct Calls {
  int run = 0, pack = 0, start = 0, finish = 0, unpack = 0;
  bool operator==(const Calls&) const = default;
};

class Overlapping : public Exchange {
 public:
  Overlapping(std::unique_ptr<Exchange> parts, const ExchangeSpec& spec, Calls& calls)
      : parts_(std::move(parts)), landed_(parts_->lands_in_source() ? spec.source : spec.spare), calls_(calls) {
    declared() = parts_->facts();
  }
  void pack() override { parts_->pack(), ++calls_.pack; }
  void start() override { parts_->start(), ++calls_.start; }
  void finish() override { parts_->finish(), ++calls_.finish; }
  void unpack() override { parts_->unpack(), ++calls_.unpack; }
  void run(PhaseClock& clock) override {
    parts_->run(clock);
    static_cast<std::byte*>(landed_.data())[0] ^= std::byte{1};
    ++calls_.run;
  }

 private:
  std::unique_ptr<Exchange> parts_;
  Buffer& landed_;
  Calls& calls_;
};

class OverlappingMethod : public ExchangeMethod {
 public:
  explicit OverlappingMethod(Calls& calls) : calls_(calls) {}
  [[nodiscard]] Card card() const override { return {"overlapping", "", ""}; }
  [[nodiscard]] std::unique_ptr<Exchange> make(const ExchangeSpec& spec) const override {
    return std::make_unique<Overlapping>(ExchangeRegistry::instance().get("alltoallv", "exchange").make(spec), spec,
                                         calls_);
  }

 private:
  Calls& calls_;
};

TEST(ComponentExchange, WhatIsTimedIsWhatIsChecked) {
  const Grid grid = two_dimensional_grids(mpi::size_of(MPI_COMM_WORLD)).front();
  const GroupExchange group = even_exchange(grid, Among::world, mpi::rank_in(MPI_COMM_WORLD), 64);
  Calls calls;
  const OverlappingMethod method(calls);

  const auto whole = exchange_work(MPI_COMM_WORLD, method, {}, group, Parts::whole);
  EXPECT_EQ(over_ranks(whole->error()), 1) << "run() of the exchange is wrong";
  EXPECT_EQ(calls, (Calls{.run = 1}));
  whole->run(3);
  EXPECT_EQ(calls, (Calls{.run = 4}));

  calls = {};
  const auto transport = exchange_work(MPI_COMM_WORLD, method, {}, group, Parts::transport);
  EXPECT_EQ(over_ranks(transport->error()), 0) << "its parts are right";
  EXPECT_EQ(calls, (Calls{.pack = 1, .start = 1, .finish = 1, .unpack = 1}));
  transport->run(3);
  EXPECT_EQ(calls, (Calls{.pack = 1, .start = 4, .finish = 4, .unpack = 1})) << "only messages are timed";
}

TEST(ComponentExchange, GroupsAreTheRowsAndColumnsOfTheGrid) {
  const Grid grid{{2, 3, 1}};
  EXPECT_EQ(even_exchange(grid, Among::row, 4, 8).ranks, (std::vector{3, 4, 5}));
  EXPECT_EQ(even_exchange(grid, Among::column, 4, 8).ranks, (std::vector{1, 4}));
  EXPECT_EQ(even_exchange(grid, Among::world, 4, 8).ranks, (std::vector{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(group_size(grid, Among::row), 3);
  EXPECT_EQ(group_size(grid, Among::column), 2);
}

TEST(ComponentExchange, EveryElementOfAGroupGoesToOneMember) {
  const Grid grid{{2, 3, 1}};
  for (const Among among : among_all)
    for (int rank = 0; rank < grid.ranks(); ++rank) {
      const GroupExchange group = pencil_exchange({7, 9, 11}, grid, among, rank, 16);
      const int place = group.place_of(rank);
      Index sent = 0;
      Index received = 0;
      for (int other = 0; other < group.size(); ++other) {
        sent += group.bytes_between(place, other);
        received += group.bytes_between(other, place);
      }
      EXPECT_EQ(sent, 16 * group.from.box(place).volume());
      EXPECT_EQ(received, 16 * group.to.box(place).volume());
    }
  EXPECT_TRUE(pencil_exchange({8, 9, 12}, grid, Among::row, 0, 16).even());
  EXPECT_FALSE(pencil_exchange({8, 9, 11}, grid, Among::row, 0, 16).even());
}

TEST(ComponentExchange, AShapeThatLeavesRanksWithoutElementsIsNamed) {
  EXPECT_TRUE(too_small({8, 2, 8}, Grid{{2, 3, 1}}, Among::row).has_value());
  EXPECT_FALSE(too_small({2, 8, 3}, Grid{{2, 3, 1}}, Among::row).has_value());
  EXPECT_TRUE(too_small({5, 8, 8}, Grid{{2, 3, 1}}, Among::world).has_value());
}

TEST(ComponentMessages, AMessageIsKnownByItsPairAndLength) {
  for (const std::size_t bytes : {1U, 7U, 8U, 13U, 4096U}) {
    std::vector<std::byte> message(bytes);
    write_message(message, 3, 5);
    EXPECT_EQ(wrong_bytes(message, 3, 5), 0);
    message[bytes - 1] ^= std::byte{1};
    EXPECT_EQ(wrong_bytes(message, 3, 5), 1);
    spoil(message, 3, 5);
    EXPECT_EQ(wrong_bytes(message, 3, 5), static_cast<Index>(bytes));
  }
  std::vector<std::byte> message(4096);
  write_message(message, 3, 5);
  EXPECT_GT(wrong_bytes(message, 5, 3), 3000);
  EXPECT_GT(wrong_bytes(message, 3, 4), 3000);
}

TEST(ComponentMessages, SizesAreAListOrARangeByFours) {
  const std::vector<Parameter> known{{"sizes", "", "8..64MiB", {}, false}};
  const auto sizes = [&](const std::string& text) {
    return message_sizes(Parameters("p", known, {{"sizes", text}}), "sizes", 8);
  };
  EXPECT_EQ(sizes("8,4KiB,1MiB"), (std::vector<Index>{8, 4096, 1 << 20}));
  EXPECT_EQ(sizes("8..520"), (std::vector<Index>{8, 32, 128, 512, 520}));
  EXPECT_EQ(sizes("64KiB..64KiB"), (std::vector<Index>{1 << 16}));
  EXPECT_EQ(message_sizes(Parameters("p", known, {}), "sizes", 8).back(), Index{64} << 20);
  for (const char* bad : {"9", "8..", "..8", "64..8", "8..2GiB", "8,,16", "8..16..32", "0", "many"})
    EXPECT_THROW((void)sizes(bad), ParameterError) << bad;
}

}  // namespace
}  // namespace fourscore::component
