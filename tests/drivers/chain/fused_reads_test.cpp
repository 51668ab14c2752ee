// Plans whose transform after an exchange reads its input in the memory of several ranks.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "mpi/handles.hpp"
#include "support/pretended_nodes.hpp"
#include "support/variant_fixture.hpp"

namespace fourscore {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

/// FFTW's, each a millisecond late on the last rank.
class LateFft : public LocalFft {
 public:
  explicit LateFft(std::unique_ptr<LocalFft> fft) : fft_(std::move(fft)) {}
  void execute() override {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    fft_->execute();
  }
  void execute_at(void* in, void* out) override { fft_->execute_at(in, out); }
  [[nodiscard]] std::string describe() const override { return fft_->describe(); }
  [[nodiscard]] double credited_flops() const override { return fft_->credited_flops(); }

 private:
  std::unique_ptr<LocalFft> fft_;
};

class LateOnTheLastRank : public LocalFftLibrary {
 public:
  [[nodiscard]] Card card() const override { return fftw_.card(); }
  [[nodiscard]] std::string version() const override { return fftw_.version(); }
  [[nodiscard]] std::unique_ptr<LocalFft> make(const LocalFftSpec& spec, void* in, void* out) const override {
    auto fft = fftw_.make(spec, in, out);
    if (mpi::rank_in(MPI_COMM_WORLD) == mpi::size_of(MPI_COMM_WORLD) - 1)
      fft = std::make_unique<LateFft>(std::move(fft));
    return fft;
  }
  void import_wisdom(const std::string& text, const std::string& origin) const override {
    fftw_.import_wisdom(text, origin);
  }
  [[nodiscard]] std::string export_wisdom() const override { return fftw_.export_wisdom(); }

 private:
  const LocalFftLibrary& fftw_ = LocalFftRegistry::instance().get("fftw", "local FFT");
};

class FusedReads : public testing::TestWithParam<std::string> {
 protected:
  /// The plan of 24 x 20 x 18 by this exchange, run and compared.
  std::unique_ptr<Plan> checked_plan(const std::string& exchange, const char* reads, Buffers buffers,
                                     LayoutContract layout, const std::string& library = "fftw") const {
    Problem problem = test::problem_of({24, 20, 18});
    problem.contract = {layout, buffers, Effort::estimate};
    if (reads != nullptr) problem.parameters = {{"reads", reads}};
    auto plan = VariantRegistry::instance()
                    .get(GetParam(), "variant")
                    .make_plan({problem, MPI_COMM_WORLD, &ExchangeRegistry::instance().get(exchange, "exchange"),
                                LocalFftRegistry::instance().get(library, "local FFT")});
    PhaseClock clock(true);
    for (int run = 0; run < 3; ++run) test::run_on_random_field(*plan, problem, clock);
    const test::Field& expected = test::transformed_field({24, 20, 18}, Direction::forward);
    EXPECT_LT(test::error_of(expected, 1, plan->output_layout(), mpi::rank_in(MPI_COMM_WORLD), problem.precision,
                             plan->output()),
              30);
    EXPECT_EQ(plan->output() == plan->input(), buffers == Buffers::in_place);
    return plan;
  }

  int ranks_ = mpi::size_of(MPI_COMM_WORLD);
};

TEST_P(FusedReads, GoWithTheTransformAfterAnExchangeOfNeighbours) {
  if (ranks_ == 1) GTEST_SKIP() << "one rank exchanges nothing";
  const auto gathers = Contains(HasSubstr(fmt::format("gathered from {} blocks", ranks_)));
  for (const auto buffers : {Buffers::in_place, Buffers::out_of_place})
    for (const auto layout : {LayoutContract::transposed, LayoutContract::natural}) {
      const auto fused = checked_plan("shared", "fused", buffers, layout);
      EXPECT_THAT(fused->facts().local_ffts, gathers);
      const auto separate = checked_plan("shared", "separate", buffers, layout);
      EXPECT_THAT(separate->facts().local_ffts, Not(gathers));
      EXPECT_EQ(fused->message_volume().bytes_read_shared, separate->message_volume().bytes_read_shared);
      EXPECT_GT(fused->facts().workspace_bytes, separate->facts().workspace_bytes);
      EXPECT_THAT(checked_plan("shared", "auto", buffers, layout)->facts().local_ffts, Not(gathers))
          << "24 x 20 x 18 is in the caches";
      EXPECT_THAT(checked_plan("p2p", nullptr, buffers, layout)->facts().local_ffts, Not(gathers));
    }
}

TEST_P(FusedReads, AreTakenInTheCachesTooWhereNothingIsGathered) {
  if (ranks_ == 1) GTEST_SKIP() << "one rank exchanges nothing";
  if (!LocalFftRegistry::instance().get("tiled", "local FFT").unavailable().empty()) return;
  for (const char* reads : {"auto", "separate"}) {
    const auto plan = checked_plan("shared", reads, Buffers::in_place, LayoutContract::transposed, "tiled");
    const bool fused = std::ranges::any_of(
        plan->facts().local_ffts, [](const std::string& text) { return text.find("read from") != std::string::npos; });
    EXPECT_EQ(fused, reads == std::string("auto"));
  }
}

/// The caller may write the input as soon as its own rank is done.
TEST_P(FusedReads, EndOnARankOnlyWhenItsNeighboursHaveReadItsArray) {
  if (ranks_ == 1) GTEST_SKIP() << "one rank exchanges nothing";
  const LateOnTheLastRank library;
  Problem problem = test::problem_of({24, 20, 18}, {{"reads", "fused"}});
  problem.contract = {LayoutContract::transposed, Buffers::out_of_place, Effort::estimate};
  const auto plan =
      VariantRegistry::instance()
          .get(GetParam(), "variant")
          .make_plan({problem, MPI_COMM_WORLD, &ExchangeRegistry::instance().get("shared", "exchange"), library});
  ASSERT_THAT(plan->facts().local_ffts, Contains(HasSubstr("gathered")));
  PhaseClock clock(true);
  test::run_on_random_field(*plan, problem, clock);
  const int me = mpi::rank_in(MPI_COMM_WORLD);
  std::memset(plan->input(), 0xff, static_cast<std::size_t>(plan->input_layout().volume(me)) * problem.element_bytes());
  EXPECT_LT(test::error_of(test::transformed_field({24, 20, 18}, Direction::forward), 1, plan->output_layout(), me,
                           problem.precision, plan->output()),
            30);
}

TEST_P(FusedReads, AreNoneWhereBlocksComeInMessages) {
  if (ranks_ == 1) GTEST_SKIP() << "one rank exchanges nothing";
  const test::EachRankIsANode nodes;
  EXPECT_THAT(checked_plan("shared", "fused", Buffers::in_place, LayoutContract::transposed)->facts().local_ffts,
              Not(Contains(HasSubstr("gathered"))));
}

INSTANTIATE_TEST_SUITE_P(Chains, FusedReads, testing::Values("slab", "pencil"),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace fourscore
