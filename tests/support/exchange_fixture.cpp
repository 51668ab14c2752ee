#include "support/exchange_fixture.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstring>

#include "mpi/handles.hpp"
#include "redistribution/shared_buffer.hpp"
#include "support/elements.hpp"

namespace fourscore::test {

namespace {

/// The boxes of the ranks in this rank's row: those that share all coordinates but the one along `axis`.
Decomposition row_of(const Decomposition& whole, const std::vector<int>& world_ranks) {
  std::vector<Box> boxes;
  for (const int rank : world_ranks) boxes.push_back(whole.box(rank));
  return Decomposition::of_boxes(whole.shape, std::move(boxes), whole.name);
}

/// From z-pencils P1 x P2 (cut along x and y) to y-pencils (cut along x and z), in rows of equal first coordinate.
Movement pencil_movement(const Extents& shape, const Grid& grid, const std::array<int, 3>& from_order,
                         const std::array<int, 3>& to_order, MPI_Comm row, const std::vector<int>& row_ranks) {
  Movement movement;
  movement.comm = row;
  movement.from = row_of(decompose(shape, grid), row_ranks);
  movement.to = row_of(decompose(shape, {{grid.extents[0], 1, grid.extents[1]}}), row_ranks);
  movement.from.order = from_order;
  movement.to.order = to_order;
  return movement;
}

std::string text(const Extents& shape) {
  return std::to_string(shape[0]) + "x" + std::to_string(shape[1]) + "x" + std::to_string(shape[2]);
}

constexpr std::array<int, 3> xyz{0, 1, 2};

/// Slabs across `from` become slabs across `to`.
struct SlabKind {
  const char* name;
  std::size_t from;
  std::size_t to;
  std::array<int, 3> from_order = xyz;
  std::array<int, 3> to_order = xyz;
};

const std::vector<SlabKind> slab_kinds{
    {"x-slabs to y-slabs", 0, 1},
    {"y-slabs to x-slabs", 1, 0},
    {"y-slabs to z-slabs", 1, 2},
    {"x-slabs to y-slabs stored yxz", 0, 1, xyz, {1, 0, 2}},
    {"y-slabs stored yxz to x-slabs", 1, 0, {1, 0, 2}, xyz},
    {"x-slabs to z-slabs stored zyx", 0, 2, xyz, {2, 1, 0}},
    {"z-slabs stored yzx to y-slabs stored zxy", 2, 1, {1, 2, 0}, {2, 0, 1}},
    {"nothing moves", 0, 0},
    {"x-slabs stored xzy", 0, 0, xyz, {0, 2, 1}},
};

Movement slab_movement(const SlabKind& kind, const Extents& shape) {
  const int size = mpi::size_of(MPI_COMM_WORLD);
  const std::array<Grid, 3> grids{{{{size, 1, 1}}, {{1, size, 1}}, {{1, 1, size}}}};
  Movement movement{fmt::format("{} {}", kind.name, text(shape)), decompose(shape, grids[kind.from]),
                    decompose(shape, grids[kind.to]), MPI_COMM_WORLD};
  movement.from.order = kind.from_order;
  movement.to.order = kind.to_order;
  return movement;
}

/// Movements within the rows of a process grid, over communicators that live to the end of the program.
class Rows {
 public:
  explicit Rows(const Grid& grid) : grid_(grid) {
    const int me = mpi::rank_in(MPI_COMM_WORLD);
    const int row = grid.coordinates(me)[0];
    static std::vector<mpi::Communicator> kept;
    comm_ = kept.emplace_back(mpi::split(MPI_COMM_WORLD, row, me)).get();
    for (int column = 0; column < grid.extents[1]; ++column) ranks_.push_back(grid.rank_of({row, column, 0}));
  }
  [[nodiscard]] Movement there(const Extents& shape, const std::array<int, 3>& to_order) const {
    Movement movement = pencil_movement(shape, grid_, xyz, to_order, comm_, ranks_);
    movement.name = "pencils " + std::to_string(grid_.extents[0]) + "x" + std::to_string(grid_.extents[1]) + " " +
                    text(shape) + " order " + std::to_string(to_order[0]) + std::to_string(to_order[1]);
    return movement;
  }
  [[nodiscard]] Movement back(const Extents& shape, const std::array<int, 3>& to_order) const {
    Movement movement = there(shape, to_order);
    std::swap(movement.from, movement.to);
    movement.name += " back";
    return movement;
  }

 private:
  Grid grid_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  std::vector<int> ranks_;
};

constexpr Extents divides_by_none{15, 14, 13};
constexpr Extents prime{5, 7, 11};
constexpr Extents fewer_than_ranks{2, 3, 64};

std::vector<Movement> every_movement() {
  std::vector<Movement> result;
  const std::vector<Extents> shapes{divides_by_none, prime, fewer_than_ranks, {7, 1, 9}, {8, 8, 8}, {3, 2, 1}};
  for (const Extents& shape : shapes)
    for (const SlabKind& kind : slab_kinds) result.push_back(slab_movement(kind, shape));
  for (const Grid& grid : two_dimensional_grids(mpi::size_of(MPI_COMM_WORLD))) {
    const Rows rows(grid);
    for (const Extents& shape : shapes)
      for (const auto& to_order : {xyz, std::array<int, 3>{0, 2, 1}, std::array<int, 3>{2, 0, 1}}) {
        result.push_back(rows.there(shape, to_order));
        result.push_back(rows.back(shape, to_order));
      }
  }
  return result;
}

/// More ranks than most machines that run tests have cores: each kind of slab once, each grid with each kind of shape.
std::vector<Movement> chosen_movements() {
  std::vector<Movement> result;
  const std::array<Extents, 3> shapes{divides_by_none, prime, fewer_than_ranks};
  for (std::size_t i = 0; i < slab_kinds.size(); ++i)
    result.push_back(slab_movement(slab_kinds[i], shapes[i % shapes.size()]));
  for (const Grid& grid : two_dimensional_grids(mpi::size_of(MPI_COMM_WORLD))) {
    const Rows rows(grid);
    result.push_back(rows.there(divides_by_none, {2, 0, 1}));
    result.push_back(rows.back(prime, xyz));
    result.push_back(rows.there(fewer_than_ranks, {0, 2, 1}));
  }
  return result;
}

/// This rank's largest box over all movements, in bytes of the larger element.
std::size_t largest_bytes() {
  Index volume = 0;
  for (const Movement& movement : movements())
    volume = std::max({volume, movement.from.max_volume(), movement.to.max_volume()});
  return static_cast<std::size_t>(volume) * 16;
}

/// A value that no other element has, and a different one in each run.
double value_at(const Extents& index, int run) {
  return static_cast<double>(run * 1000003 + ((index[0] * 128 + index[1]) * 128 + index[2])) + 1;
}

template <class Real>
void fill(std::complex<Real>* data, const Decomposition& layout, int rank, int run) {
  test::for_each_element(layout, rank, [&](Index i, const Extents& index) {
    const double value = value_at(index, run);
    data[i] = {static_cast<Real>(value), static_cast<Real>(-value)};
  });
}

template <class Real>
Index wrong_elements(const std::complex<Real>* data, const Decomposition& layout, int rank, int run) {
  Index wrong = 0;
  test::for_each_element(layout, rank, [&](Index i, const Extents& index) {
    const double value = value_at(index, run);
    if (data[i] != std::complex<Real>{static_cast<Real>(value), static_cast<Real>(-value)}) ++wrong;
  });
  return wrong;
}

template <class Real>
MessageVolume run_and_check_as(const ExchangeMethod& method, const Movement& movement, const ExchangeBuffers& buffers,
                               const std::function<void(const std::function<void()>&)>& around,
                               const Problem& problem) {
  using Complex = std::complex<Real>;
  const int me = mpi::rank_in(movement.comm);
  const auto exchange = method.make({movement.from, movement.to, movement.comm, sizeof(Complex), *buffers.source,
                                     *buffers.spare, MPI_COMM_WORLD, &problem});

  int lands[2] = {exchange->lands_in_source() ? 1 : 0, exchange->lands_in_source() ? -1 : 0};
  MPI_Allreduce(MPI_IN_PLACE, lands, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  EXPECT_EQ(lands[0], -lands[1]) << "lands_in_source() differs between ranks: " << movement.name;

  // The parts one after another, as components run them, and then as a transform does.
  PhaseClock clock;
  int repetition = 0;
  const auto run = [&] {
    if (repetition > 0) return exchange->run(clock);
    exchange->pack();
    exchange->start();
    exchange->finish();
    exchange->unpack();
  };
  for (; repetition < 3; ++repetition) {
    fill(static_cast<Complex*>(buffers.source->data()), movement.from, me, repetition);
    std::memset(buffers.spare->data(), 0, buffers.spare->bytes());
    if (around)
      around(run);
    else
      run();
    const Buffer& result = exchange->lands_in_source() ? *buffers.source : *buffers.spare;
    EXPECT_EQ(wrong_elements(static_cast<const Complex*>(result.data()), movement.to, me, repetition), 0)
        << method.card().name << ", " << movement.name << ", run " << repetition << ", element of " << sizeof(Complex)
        << " bytes";
  }
  return exchange->message_volume();
}

}  // namespace

ExchangeBuffers allocate(const ExchangeMethod& method) {
  const std::size_t bytes = largest_bytes();
  ExchangeBuffers buffers;
  buffers.source = method.allocate(MPI_COMM_WORLD, bytes, BufferUse::array);
  buffers.spare = method.allocate(MPI_COMM_WORLD, bytes, BufferUse::array);
  return buffers;
}

ExchangeBuffers allocate_on_two_nodes() {
  const int me = mpi::rank_in(MPI_COMM_WORLD);
  const auto one = [me] {
    return std::make_unique<SharedBuffer>(MPI_COMM_WORLD, mpi::split(MPI_COMM_WORLD, me % 2, me), largest_bytes());
  };
  ExchangeBuffers buffers;
  buffers.source = one();
  buffers.spare = one();
  return buffers;
}

const std::vector<Movement>& movements() {
  static const std::vector<Movement> all =
      mpi::size_of(MPI_COMM_WORLD) <= most_ranks_with_every_movement ? every_movement() : chosen_movements();
  return all;
}

MessageVolume run_and_check(const ExchangeMethod& method, const Movement& movement, std::size_t element_bytes,
                            const ExchangeBuffers& buffers,
                            const std::function<void(const std::function<void()>&)>& around, const Problem& problem) {
  if (element_bytes == 16) return run_and_check_as<double>(method, movement, buffers, around, problem);
  return run_and_check_as<float>(method, movement, buffers, around, problem);
}

}  // namespace fourscore::test
