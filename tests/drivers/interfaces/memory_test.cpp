// The memory that exchanges and plans say they hold is what they hold: the heap is weighed before and after.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <fstream>
#include <functional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "interfaces/exchange.hpp"
#include "interfaces/variant.hpp"
#include "mpi/handles.hpp"
#include "support/exchange_fixture.hpp"
#include "support/heap.hpp"
#include "support/variant_fixture.hpp"

namespace {

/// What MPI took from the heap in calls that make and free communicators: Open MPI 4.1 was seen to take 4 to 8 KiB for
/// each, more with more ranks, and a plan has two or more for each exchange. This program defines these calls itself
/// (MPI 3.1, chapter 14), weighs, and passes on to the profiling interface.
long long bytes_of_communicators = 0;
/// Committed and not freed. Types are counted and not weighed: one that lists every element must not go unnoticed.
std::set<MPI_Datatype> types;

template <class Call>
int weighed(const Call& call) {
  using fourscore::testing_support::heap_bytes;
  const auto before = static_cast<long long>(heap_bytes());
  const int error = call();
  bytes_of_communicators += static_cast<long long>(heap_bytes()) - before;
  return error;
}

}  // namespace

extern "C" {
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) {
  return weighed([&] { return PMPI_Comm_dup(comm, made); });
}
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
  return weighed([&] { return PMPI_Comm_split(comm, color, key, made); });
}
int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made) {
  return weighed([&] { return PMPI_Comm_split_type(comm, type, key, info, made); });
}
int MPI_Comm_free(MPI_Comm* comm) {
  return weighed([&] { return PMPI_Comm_free(comm); });
}
int MPI_Type_commit(MPI_Datatype* type) {
  types.insert(*type);
  return PMPI_Type_commit(type);
}
int MPI_Type_free(MPI_Datatype* type) {
  types.erase(*type);
  return PMPI_Type_free(type);
}
}

namespace fourscore {
namespace {

using testing_support::heap_bytes;

/// Too small for padding to huge pages, and much larger than what MPI and plans keep for their own book-keeping.
const std::vector<Index> weighed_shape{48, 50, 52};

/// Memory that several processes map. A window is mapped whole in each of them, so that this is an upper bound.
std::size_t shared_bytes() {
  std::ifstream maps("/proc/self/maps");
  std::size_t total = 0;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::string range;
    std::string rights;
    words >> range >> rights;
    const auto dash = range.find('-');
    if (rights.size() == 4 && rights[3] == 's')
      total += std::stoull(range.substr(dash + 1), nullptr, 16) - std::stoull(range.substr(0, dash), nullptr, 16);
  }
  return total;
}

/// What the process holds more than at construction, but for MPI's communicators.
class Scales {
 public:
  [[nodiscard]] long long heap() const { return static_cast<long long>(heap_bytes()) - bytes_of_communicators - heap_; }
  [[nodiscard]] long long heap_and_shared() const { return heap() + static_cast<long long>(shared_bytes()) - shared_; }

 private:
  long long heap_ = static_cast<long long>(heap_bytes()) - bytes_of_communicators;
  long long shared_ = static_cast<long long>(shared_bytes());
};

std::size_t local_bytes(const Decomposition& layout, std::size_t element_bytes) {
  return static_cast<std::size_t>(layout.max_volume()) * element_bytes;
}

/// Lists of blocks, plans of columns, types and communicators are no workspace: they do not grow with the data. 62 KB
/// were seen for a plan on four ranks, an eighth of the data of a rank.
constexpr std::size_t book_keeping_share = 6;
/// In one dimension a library's own tables of roots of unity grow with the data; FFTW's were seen at 1.5 of it.
std::size_t allowed_bytes(const std::vector<Index>& shape, std::size_t local) {
  return shape.size() == 1 ? 2 * local : local / book_keeping_share;
}

/// What MPI keeps of the datatypes that live: Open MPI 4.1 was seen to take 3 KiB for that of a box, of any size.
std::size_t type_bytes() { return types.size() * (std::size_t{4} << 10); }

/// What MPI keeps of the windows of a plan: Open MPI was seen to take 70 KiB for the two of a plan there and back.
std::size_t window_bytes(const ExchangeMethod* exchange) {
  const std::set<std::string> one_sided{"active", "rma"};
  return exchange != nullptr && one_sided.contains(exchange->card().name) ? std::size_t{96} << 10 : 0;
}

class MemoryOf : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!testing_support::heap_is_seen()) GTEST_SKIP() << "the heap is not the C library's";
  }
  /// `declared` must be held by this process, and all but `allowed` of what it holds must be declared.
  void check_declared(std::size_t declared, const Scales& scales, std::size_t allowed) {
    const auto slack = static_cast<long long>(allowed + type_bytes());
    if (scales.heap() > static_cast<long long>(declared) + slack)
      complaint_ += fmt::format("{} bytes are held, {} declared, {} allowed beyond; ", scales.heap(), declared, slack);
    if (scales.heap_and_shared() < static_cast<long long>(declared) - slack)
      complaint_ += fmt::format("{} bytes are declared, {} held; ", declared, scales.heap_and_shared());
  }
  void check_released(const Scales& scales, std::size_t allowed) {
    if (scales.heap() > static_cast<long long>(allowed))
      complaint_ += fmt::format("{} bytes outlive it; ", scales.heap());
  }
  /// Collective. Every now and then MPI's own pools grow, on one rank or another; memory of ours is there every time.
  void expect_once(const std::function<void()>& weigh) {
    int complaints = 1;
    for (int attempt = 0; attempt < 4 && complaints > 0; ++attempt) {
      complaint_.clear();
      weigh();
      complaints = complaint_.empty() ? 0 : 1;
      MPI_Allreduce(MPI_IN_PLACE, &complaints, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    EXPECT_EQ(complaint_, "");
  }
  const int ranks_ = mpi::size_of(MPI_COMM_WORLD);

 private:
  std::string complaint_;
};

class MemoryOfExchange : public MemoryOf {};

TEST_P(MemoryOfExchange, IsTheWorkspaceItDeclares) {
  const ExchangeMethod& method = *ExchangeRegistry::instance().find(GetParam());
  if (!method.unavailable().empty()) GTEST_SKIP() << method.unavailable();
  const Extents shape{weighed_shape[0], weighed_shape[1], weighed_shape[2]};
  struct Move {
    Grid from;
    Grid to;
    std::array<int, 3> to_order;
  };
  for (const Move& move :
       {Move{{{ranks_, 1, 1}}, {{1, ranks_, 1}}, {0, 1, 2}}, Move{{{ranks_, 1, 1}}, {{1, 1, ranks_}}, {2, 1, 0}}}) {
    const Decomposition from = decompose(shape, move.from);
    Decomposition to = decompose(shape, move.to);
    to.order = move.to_order;
    const std::size_t local = std::max(local_bytes(from, 16), local_bytes(to, 16));
    const auto source = method.allocate(MPI_COMM_WORLD, local, BufferUse::array);
    const auto spare = method.allocate(MPI_COMM_WORLD, local, BufferUse::array);
    const auto make = [&] { return method.make({from, to, MPI_COMM_WORLD, 16, *source, *spare}); };
    PhaseClock clock(false);
    {
      const auto first = make();  // MPI connects and fills its pools
      for (int i = 0; i < 2; ++i) first->run(clock);
    }
    expect_once([&] {
      const Scales scales;
      {
        const auto exchange = make();
        check_declared(exchange->facts().workspace_bytes, scales, local / book_keeping_share);
        exchange->run(clock);
        check_declared(exchange->facts().workspace_bytes, scales, local / book_keeping_share);
      }
      check_released(scales, local / book_keeping_share);
    });
  }
}

class MemoryOfPlan : public MemoryOf {};

TEST_P(MemoryOfPlan, IsTheBuffersAndTheWorkspaceItDeclares) {
  const Variant& variant = *VariantRegistry::instance().find(GetParam());
  if (!variant.unavailable().empty()) GTEST_SKIP() << variant.unavailable();
  const auto exchanges = test::exchanges_of(variant);
  int cases = 0;
  for (const auto& shape : {weighed_shape, std::vector<Index>{64, 64, 32}, std::vector<Index>{1 << 17}})
    for (const Problem& problem : test::contracts(shape)) {
      if (problem.precision != Precision::double_precision || problem.direction != Direction::forward) continue;
      if (variant.supports(problem, ranks_)) continue;
      ++cases;
      for (std::size_t e = 0; e < exchanges.size(); ++e) {
        // On several ranks each exchange has one layout and placement of a shape, and the opposite of the next.
        const std::size_t turn = shape == weighed_shape ? e % 4 : 3 - e % 4;
        if (ranks_ > 1 && exchanges.size() > 1 && shape.size() == 3 && test::quarter_of(problem) != turn) continue;
        const ExchangeMethod* const exchange = exchanges[e];
        SCOPED_TRACE(test::text_of(problem, exchange));
        const auto execute = [](Plan& plan) {
          PhaseClock clock;
          clock.start();
          plan.execute(clock);
          clock.stop();
        };
        execute(*test::make_plan(variant, problem, exchange));  // MPI connects and fills its pools
        expect_once([&] {
          const Scales scales;
          std::size_t local = 0;
          {
            const auto plan = test::make_plan(variant, problem, exchange);
            local = std::max(local_bytes(plan->input_layout(), 16), local_bytes(plan->output_layout(), 16));
            const std::size_t declared = plan->facts().buffer_bytes + plan->facts().workspace_bytes;
            // A plan of the local library, with its scratch, for each shape that a pencil has.
            const std::size_t allowed =
                allowed_bytes(shape, local) * (GetParam() == "overdecomposed" ? 2 : 1) + window_bytes(exchange);
            check_declared(declared, scales, allowed);
            execute(*plan);
            check_declared(declared, scales, allowed);
          }
          check_released(scales, local / book_keeping_share);
        });
      }
    }
  if (cases == 0) GTEST_SKIP() << "no shape that it takes";
}

INSTANTIATE_TEST_SUITE_P(Registered, MemoryOfExchange, ::testing::ValuesIn(ExchangeRegistry::instance().names()),
                         [](const auto& instance) { return test::as_test_name(instance.param); });
INSTANTIATE_TEST_SUITE_P(Registered, MemoryOfPlan, ::testing::ValuesIn(VariantRegistry::instance().names()),
                         [](const auto& instance) { return test::as_test_name(instance.param); });

}  // namespace
}  // namespace fourscore
