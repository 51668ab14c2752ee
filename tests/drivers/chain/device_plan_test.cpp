// Plans on the stand-in for a device: right in every staging, with every exchange and kind of host memory, and their
// times told apart in phases that add up. Where the device is there, FOURSCORE_TEST_DEVICE=cuda runs the same on it.

#include "chain/device_plan.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "mpi/handles.hpp"
#include "offload/phased_work.hpp"
#include "support/message_of.hpp"
#include "support/on_device.hpp"
#include "support/variant_fixture.hpp"

namespace fourscore {
namespace {

using test::on_device;
using testing::HasSubstr;

const std::vector<std::string> variants{"serial-gpu", "slab-gpu", "pencil-gpu"};

const Variant& variant(const std::string& name) { return VariantRegistry::instance().get(name, "variant"); }

const std::vector<std::map<std::string, std::string>> stagings{
    {{"staging", "copy"}, {"host-memory", "pageable"}},
    {{"staging", "copy"}, {"host-memory", "managed"}},
    {{"staging", "resident"}},
    {{"staging", "resident"}, {"merge-stages", "no"}},
    {{"staging", "resident"}, {"messages", "device"}},
    {{"staging", "resident"}, {"messages", "ipc"}},
    {{"staging", "streamed"}},
    {{"staging", "streamed"}, {"pieces", "3"}, {"host-memory", "managed"}},
};

class DevicePlans : public testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override {
    const DeviceRequest request = device_request(with_staging({}));
    if (request.path == MessagePath::device && !request.backend->mpi_takes_its_memory())
      GTEST_SKIP() << "this MPI does not take addresses of the device";
    if (request.path == MessagePath::neighbours && !request.backend->shares_memory())
      GTEST_SKIP() << "no other process can open this device's memory";
  }
  using Exchanges = std::vector<const ExchangeMethod*>;
  /// Each exchange that goes with the parameters; of all of them one in FOURSCORE_TEST_ONE_IN, where that is set.
  template <class Check>
  int for_each_case(const Variant& one, const Problem& problem, const Exchanges& exchanges, const Check& check) {
    if (one.supports(problem, ranks_)) return 0;
    int cases = 0;
    for (const ExchangeMethod* exchange : exchanges) {
      if (exchange != nullptr && one.refuses(*exchange, problem)) continue;
      if (!is_its_turn()) continue;
      SCOPED_TRACE(one.card().name + " " + test::text_of(problem, exchange));
      check(*test::make_plan(one, problem, exchange));
      ++cases;
    }
    checked_ += cases;
    return cases;
  }
  /// Other cases for each staging, or the same.
  bool is_its_turn(bool others = true) {
    return turn_++ % one_in_ == (others ? static_cast<int>(GetParam()) % std::min(one_in_, 4) : 0);
  }
  void TearDown() override { EXPECT_TRUE(turn_ == 0 || checked_ > 0) << turn_ << " cases, none of them checked"; }
  [[nodiscard]] Problem with_staging(Problem problem) const {
    problem.parameters = on_device(stagings[GetParam()]);
    return problem;
  }
  const int ranks_ = mpi::size_of(MPI_COMM_WORLD);
  const int me_ = mpi::rank_in(MPI_COMM_WORLD);
  const int one_in_ = test::one_in();
  int checked_ = 0;

 private:
  int turn_ = 0;
};

TEST_P(DevicePlans, AreTheTransformByItsDefinition) {
  int cases = 0;
  for (const auto& name : variants)
    for (const std::vector<Index>& shape : {std::vector<Index>{15, 14, 13}, {8, 12, 8}})
      for (const Problem& contract : test::contracts(shape)) {
        const Problem problem = with_staging(contract);
        cases +=
            for_each_case(variant(name), problem, test::exchanges_in_turn(variant(name), problem), [&](Plan& plan) {
              for (int run = 0; run < 2; ++run) EXPECT_LT(test::error_of_run(plan, problem), 20) << run;
            });
      }
  EXPECT_GT(cases, 12 / one_in_);
}

TEST_P(DevicePlans, TransformRealData) {
  int cases = 0;
  for (const auto& name : variants)
    for (const std::vector<Index>& shape : {std::vector<Index>{9, 10, 7}, {8, 6, 8}})
      for (const Problem& contract : test::contracts(shape)) {
        Problem problem = with_staging(contract);
        problem.kind = Kind::r2c;
        cases += for_each_case(variant(name), problem, test::exchanges_in_turn(variant(name), problem),
                               [&](Plan& plan) { EXPECT_LT(test::error_of_real_run(plan, problem), 20); });
      }
  EXPECT_GT(cases, 12 / one_in_);
}

/// What a measurement does: the input is placed once, and every run begins where the last one's data lies.
TEST_P(DevicePlans, ComputeOnPlacedDataAlone) {
  Problem contract = test::problem_of({12, 10, 8});
  contract.contract = {LayoutContract::transposed, Buffers::out_of_place, Effort::estimate};
  const Problem problem = with_staging(contract);
  const bool resident = problem.parameters.at("staging") == "resident";
  const auto& field = test::random_field(problem.extents());
  for (const auto& name : variants)
    for_each_case(variant(name), problem, test::exchanges_of(variant(name)), [&](Plan& plan) {
      PhaseClock clock(false);
      DeviceData* const on_device = plan.device_data();
      ASSERT_EQ(on_device != nullptr, resident);
      if (resident) on_device->keep_in_place(true);
      test::write(field, plan.input_layout(), me_, problem.precision, plan.input());
      if (resident) on_device->place_input();
      const auto volume = static_cast<std::size_t>(plan.output_layout().volume(me_));
      std::memset(plan.output(), 0xff, volume * problem.element_bytes());
      plan.execute(clock);
      const auto error = [&] {
        return test::error_of(test::transformed_field(problem.extents(), Direction::forward), 1, plan.output_layout(),
                              me_, problem.precision, plan.output());
      };
      if (resident && volume > 0) {
        EXPECT_GT(error(), 1e3) << "something was copied back";
      }
      if (resident) on_device->fetch_output();
      EXPECT_LT(error(), 20);
    });
}

std::set<Phase> phases_of(Plan& plan, const Problem& problem) {
  PhaseClock clock;
  clock.start();
  test::run_on_random_field(plan, problem, clock);
  clock.stop();
  std::set<Phase> phases;
  for (std::size_t p = 0; p < phase_count; ++p)
    if (clock.seconds(static_cast<Phase>(p)) > 0) phases.insert(static_cast<Phase>(p));
  return phases;
}

TEST_P(DevicePlans, TellCopiesFromTransforms) {
  const Problem problem = with_staging(test::problem_of({24, 24, 24}));
  for (const auto& name : variants)
    for_each_case(variant(name), problem, test::exchanges_of(variant(name)), [&](Plan& plan) {
      EXPECT_THAT(phases_of(plan, problem), testing::IsSupersetOf({Phase::fft, Phase::h2d, Phase::d2h}));
      std::set<std::string> components;
      for (const Component& component : plan.components()) components.insert(component.name);
      const std::string& staging = problem.parameters.at("staging");
      if (staging == "copy") {
        EXPECT_THAT(components, testing::IsSupersetOf({"h2d-1", "fft-1", "d2h-1"}));
      } else if (staging == "resident" && !problem.parameters.contains("messages") && ranks_ > 1) {
        EXPECT_THAT(components, testing::IsSupersetOf({"d2h-exchange-1", "exchange-1", "h2d-exchange-1"}));
      }
    });
}

/// On the pretended CUDA, which knows what is allocated: arrays, and one work area for all transforms of a stream.
TEST_P(DevicePlans, HoldTheMemoryOfTheDeviceThatTheyDeclare) {
  const auto used = reinterpret_cast<double (*)()>(dlsym(RTLD_DEFAULT, "pretended_cuda_used"));
  if (used == nullptr || ranks_ > 1) GTEST_SKIP() << "for one rank and a device that tells what it holds";
  for (const auto& name : variants)
    for (const Problem& contract : test::contracts({12, 10, 8})) {
      const Problem problem = with_staging(contract);
      const double before = used();
      const auto plan = test::make_plan(variant(name), problem, nullptr);
      EXPECT_EQ(used() - before, static_cast<double>(plan->facts().workspace_bytes)) << name;
      EXPECT_GE(plan->facts().workspace_bytes, 2 * 12 * 10 * 8 * problem.element_bytes())
          << name << ": array, work area";
    }
}

/// Within 2 % of the host's clock, at least in the quietest of several runs, in both kinds and precisions.
TEST_P(DevicePlans, HavePhasesThatAddUpToTheHostsClock) {
  const Problem contract = test::problem_of({60, 50, 40});
  for (const auto& name : variants)
    for (const Kind kind : {Kind::c2c, Kind::r2c})
      for (const Precision precision : {Precision::double_precision, Precision::single_precision}) {
        Problem problem = with_staging(contract);
        problem.kind = kind;
        problem.precision = precision;
        if (variant(name).supports(problem, ranks_)) continue;
        const ExchangeMethod* exchange = nullptr;
        if (variant(name).takes_exchange()) {
          const bool reads = device_request(problem).path == MessagePath::neighbours;
          exchange = &ExchangeRegistry::instance().get(reads ? "shared" : "p2p", "exchange");
          ASSERT_FALSE(variant(name).refuses(*exchange, problem));
        }
        if (!is_its_turn(false)) continue;
        ++checked_;
        const auto plan = test::make_plan(variant(name), problem, exchange);
        EXPECT_LT(test::smallest_gap(*plan), 0.02) << name;
      }
}

INSTANTIATE_TEST_SUITE_P(Stagings, DevicePlans, testing::Range(std::size_t{0}, stagings.size()));

/// Operation n from now on fails, and on a pretended CUDA all after it where asked. False where neither is the device.
bool fail_at(int n, bool and_after) {
  Problem problem;
  problem.parameters = on_device({});
  if (device_request(problem).backend->card().name == "host") {
    setenv("FOURSCORE_STAND_IN", ("fail-at=" + std::to_string(n)).c_str(), 1);
    return true;
  }
  const auto ask = reinterpret_cast<void (*)(long, bool)>(dlsym(RTLD_DEFAULT, "pretended_cuda_fail_at"));
  if (ask != nullptr) ask(n, and_after);
  return ask != nullptr;
}

/// The error of making and running a plan.
std::string failure_of(const Problem& problem) {
  return test::message_of<std::runtime_error>([&] {
    PhaseClock clock(false);
    test::make_plan(variant("serial-gpu"), problem, nullptr)->execute(clock);
  });
}

TEST(Devices, FailWithTheirOwnTextAtAnyCall) {
  if (mpi::size_of(MPI_COMM_WORLD) > 1) GTEST_SKIP() << "for one rank";
  if (!fail_at(0, false)) GTEST_SKIP() << "a real device fails when it likes";
  for (const auto& staging : stagings)
    for (const bool and_after : {false, true}) {
      Problem problem = test::problem_of({8, 6, 8}, on_device(staging));
      int failures = 0;
      int taken = 0;  // in a row: a call that only asks for the number of devices, and at last those that release
      for (int n = 1; taken < 5; ++n) {
        fail_at(n, and_after);
        const std::string failure = failure_of(problem);
        fail_at(0, false);
        taken = failure == "no error" ? taken + 1 : 0;
        if (taken > 0) continue;
        EXPECT_THAT(failure, testing::AnyOf(HasSubstr("the stand-in failed at a"), HasSubstr("cudaErrorLaunchFailure"),
                                            HasSubstr("CUFFT_")))
            << n;
        ++failures;
      }
      EXPECT_GE(failures, 3);
      EXPECT_EQ(failure_of(problem), "no error") << "something was left behind";
    }
  unsetenv("FOURSCORE_STAND_IN");
}

/// Rows of a box within a larger array, cut along each of its axes.
TEST(RowCopies, ReachEachElementOfABoxOnce) {
  for (const Extents& box :
       {Extents{3, 4, 5}, Extents{3, 4, 2}, Extents{3, 2, 5}, Extents{2, 4, 5}, Extents{1, 1, 1}}) {
    const Extents strides{20, 5, 1};
    std::vector<CopyPlan::Loop> loops;
    for (std::size_t a = 0; a < 3; ++a) loops.push_back({box[a], strides[a] * 8, strides[a] * 8});
    std::vector<int> reached(60, 0);
    for (const RowCopy& rows : rows_of(loops, 8))
      for (Index row = 0; row < rows.rows; ++row)
        for (std::size_t byte = 0; byte < rows.row_bytes; byte += 8)
          ++reached.at(
              (reinterpret_cast<std::uintptr_t>(rows.to) + static_cast<std::size_t>(row) * rows.to_pitch + byte) / 8);
    for (Index i = 0; i < 3; ++i)
      for (Index j = 0; j < 4; ++j)
        for (Index k = 0; k < 5; ++k)
          EXPECT_EQ(reached[static_cast<std::size_t>(20 * i + 5 * j + k)],
                    i < box[0] && j < box[1] && k < box[2] ? 1 : 0);
  }
  EXPECT_TRUE(rows_of({{0, 8, 8}}, 8).empty());
}

/// What no stretch covers, as the launch of the first, stays with the phase that runs.
TEST(PhaseClocks, TakeADevicesStretchesForTheWait) {
  PhaseClock clock;
  clock.start();
  {
    const Region region(clock, Phase::combine);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const std::vector<PhaseEvent> stretches{{0, 1000, no_piece, Phase::h2d}, {1000, 4000, no_piece, Phase::pack}};
    clock.share_wait(stretches);
  }
  clock.stop();
  EXPECT_DOUBLE_EQ(clock.seconds(Phase::h2d), 1e-6);
  EXPECT_DOUBLE_EQ(clock.seconds(Phase::pack), 3e-6);
  EXPECT_GT(clock.seconds(Phase::combine), 0.9e-3);
}

/// What the device did before this thread began to wait counts for nothing.
TEST(PhaseClocks, ShareAWaitOutNoLongerThanItWas) {
  PhaseClock clock;
  clock.start();
  {
    const Region region(clock, Phase::fft);
    const std::vector<PhaseEvent> stretches{{0, 1'000'000'000'000, no_piece, Phase::d2h}};
    clock.share_wait(stretches);
  }
  clock.stop();
  EXPECT_LT(clock.seconds(Phase::d2h), 60);
}

}  // namespace
}  // namespace fourscore
