// What a plan keeps once it is made: the same bits for the same input, no allocation in execute(), and the memory it
// declared.

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include "interfaces/variant.hpp"
#include "mpi/handles.hpp"
#include "support/heap.hpp"
#include "support/variant_fixture.hpp"

namespace {

std::atomic<long> allocations{0};

void* counted(std::size_t bytes, std::size_t alignment) {
  ++allocations;
  // aligned_alloc wants a multiple of the alignment.
  const std::size_t rounded = (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  if (void* place = std::aligned_alloc(alignment, rounded)) return place;
  throw std::bad_alloc();
}

/// Not inlined: where g++ inlines only one of the two operators it takes them for a mismatched pair.
[[gnu::noinline]] void released(void* place) noexcept { std::free(place); }

}  // namespace

// The program's own, in place of the library's: all of fourscore allocates through them.
void* operator new(std::size_t bytes) { return counted(bytes, alignof(std::max_align_t)); }
void* operator new[](std::size_t bytes) { return counted(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept try {
  return counted(bytes, alignof(std::max_align_t));
} catch (const std::bad_alloc&) {
  return nullptr;
}
void* operator new[](std::size_t bytes, const std::nothrow_t& tag) noexcept { return ::operator new(bytes, tag); }
void operator delete(void* place) noexcept { released(place); }
void operator delete[](void* place) noexcept { released(place); }
void operator delete(void* place, std::size_t) noexcept { released(place); }
void operator delete[](void* place, std::size_t) noexcept { released(place); }
void operator delete(void* place, std::align_val_t) noexcept { released(place); }
void operator delete[](void* place, std::align_val_t) noexcept { released(place); }
void operator delete(void* place, std::size_t, std::align_val_t) noexcept { released(place); }
void operator delete[](void* place, std::size_t, std::align_val_t) noexcept { released(place); }

namespace fourscore {
namespace {

using testing_support::heap_bytes;
using testing_support::heap_is_seen;

class PlanOf : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!variant().unavailable().empty()) GTEST_SKIP() << GetParam() << ": " << variant().unavailable();
    if (problems_on({15, 14, 13}).empty()) GTEST_SKIP() << GetParam() << " takes no such problem on this many ranks";
  }
  [[nodiscard]] static const Variant& variant() { return *VariantRegistry::instance().find(GetParam()); }

  /// All contracts that the variant takes, and for pencils all grids.
  [[nodiscard]] std::vector<Problem> problems_on(const std::vector<Index>& shape) const {
    std::vector<Problem> list;
    for (Problem problem : test::contracts(test::shape_for(variant(), shape))) {
      if (variant().supports(problem, ranks_)) continue;
      list.push_back(problem);
      if (GetParam() != "pencil") continue;
      for (const auto& grid : all_grids(ranks_, 2)) list.emplace_back(problem).grid = grid;
    }
    return list;
  }

  const int ranks_ = mpi::size_of(MPI_COMM_WORLD);
  const int me_ = mpi::rank_in(MPI_COMM_WORLD);
};

TEST_P(PlanOf, GivesTheSameBitsEveryTime) {
  test::Turns turns;
  for (const Problem& problem : problems_on({15, 14, 13}))
    for (const ExchangeMethod* exchange : test::exchanges_in_turn(variant(), problem)) {
      if (!turns.is_next()) continue;
      SCOPED_TRACE(test::text_of(problem, exchange));
      const auto plan = test::make_plan(variant(), problem, exchange);
      const auto bytes = static_cast<std::size_t>(plan->output_layout().volume(me_)) * problem.element_bytes();
      ASSERT_GT(bytes, 0U);
      PhaseClock clock;
      test::run_on_random_field(*plan, problem, clock);
      const auto* output = static_cast<const std::byte*>(plan->output());
      const std::vector<std::byte> first(output, output + bytes);
      for (int run = 0; run < 3; ++run) {
        test::run_on_random_field(*plan, problem, clock);
        EXPECT_EQ(plan->output(), output);
        EXPECT_EQ(std::memcmp(first.data(), output, bytes), 0) << "run " << run;
      }
    }
}

TEST_P(PlanOf, ExecutesWithoutAllocating) {
  const bool sees_heap = heap_is_seen();
  {
    const long before = allocations;
    ::operator delete(::operator new(1));
    ASSERT_EQ(allocations - before, 1) << "allocations are not counted";
  }
  // Where the heap is not seen, with a sanitizer, the size of arrays tells nothing.
  const std::vector<Index> shape = sees_heap ? std::vector<Index>{40, 42, 44} : std::vector<Index>{15, 14, 13};
  const auto* const first = test::exchanges_of(variant()).front();
  test::Turns turns;
  for (const Problem& problem : problems_on(shape))
    for (const ExchangeMethod* exchange : test::exchanges_in_turn(variant(), problem)) {
      if (!turns.is_next()) continue;
      if (ranks_ == 1 && exchange != first) continue;  // none of them does anything
      const auto plan = test::make_plan(variant(), problem, exchange);
      PhaseClock clock;
      const auto run = [&] {
        clock.start();
        plan->execute(clock);
        clock.stop();
      };
      test::run_on_random_field(*plan, problem, clock);  // MPI connects and caches
      run();
      const long allocations_before = allocations;
      const std::size_t heap_before = heap_bytes();
      for (int again = 0; again < 3; ++again) run();
      const std::size_t heap_after = heap_bytes();
      EXPECT_EQ(allocations - allocations_before, 0) << test::text_of(problem, exchange);
      // MPI and FFTW may take what they give back, keep a few requests, or a message that came before it was expected;
      // no array of the plan's size.
      const auto local_bytes =
          static_cast<std::size_t>(problem.elements()) * problem.element_bytes() / static_cast<std::size_t>(ranks_);
      if (sees_heap) {
        EXPECT_LT(heap_after, heap_before + local_bytes / 2) << test::text_of(problem, exchange);
      }
    }
}

/// The slots of `active` for this rank's partners, in at most four exchanges, do not grow with the data.
std::size_t windows_of(const ExchangeMethod* exchange) {
  if (exchange == nullptr || exchange->card().name != "active") return 0;
  std::size_t bytes = 4 * static_cast<std::size_t>(mpi::size_of(MPI_COMM_WORLD) - 1);
  for (const Parameter& parameter : exchange->parameters()) bytes *= std::stoull(parameter.fallback);
  return bytes;
}

TEST_P(PlanOf, StaysUnderThreeOrFourTimesTheLocalData) {
  test::Turns turns;
  for (const auto& shape : std::vector<std::vector<Index>>{{32, 32, 32}, {30, 31, 33}})
    for (const Problem& problem : problems_on(shape))
      for (const ExchangeMethod* exchange : test::exchanges_in_turn(variant(), problem)) {
        if (!turns.is_next()) continue;
        SCOPED_TRACE(test::text_of(problem, exchange));
        const auto plan = test::make_plan(variant(), problem, exchange);
        const auto bytes_of = [&](Index volume) { return static_cast<std::size_t>(volume) * problem.element_bytes(); };
        const std::size_t local_bytes =
            bytes_of(std::max(plan->input_layout().max_volume(), plan->output_layout().max_volume()));
        EXPECT_GE(plan->facts().buffer_bytes,
                  bytes_of(std::max(plan->input_layout().volume(me_), plan->output_layout().volume(me_))));
        // Two buffers, and at most the data once more on its way; of messages that come and go in any order twice, and
        // once more on a device. The scratch of transpose is a quarter of data as little as this.
        const bool has_more =
            GetParam() == "overdecomposed" || GetParam() == "transpose" || GetParam().ends_with("-gpu");
        const std::size_t most = has_more ? 4 : 3;
        EXPECT_LT(plan->facts().buffer_bytes + plan->facts().workspace_bytes,
                  most * local_bytes + windows_of(exchange));
      }
}

/// By arithmetic, what the exchanges then declare.
TEST_P(PlanOf, SendsWhatItsRedistributionsSayWithoutMpi) {
  for (const auto& shape : std::vector<std::vector<Index>>{{15, 14, 13}, {3, 2, 7}})
    for (const Problem& problem : problems_on(shape)) {
      const auto groups = variant().redistributions(problem, ranks_, me_);
      if (groups.empty()) continue;
      Index bytes = 0;
      for (const RedistributionGroup& group : groups)
        for (const Box& held : group.from.boxes(group.member))
          for (const Overlap& part : group.to.overlaps(held))
            if (part.rank != group.member) bytes += part.box.volume() * static_cast<Index>(problem.element_bytes());
      const auto* exchange = variant().takes_exchange() ? ExchangeRegistry::instance().find("p2p") : nullptr;
      const auto plan = test::make_plan(variant(), problem, exchange);
      EXPECT_EQ(plan->message_volume().bytes_sent, bytes) << test::text_of(problem, exchange);
    }
}

INSTANTIATE_TEST_SUITE_P(Registered, PlanOf, testing::ValuesIn(VariantRegistry::instance().names()),
                         [](const auto& instance) { return test::as_test_name(instance.param); });

}  // namespace
}  // namespace fourscore
