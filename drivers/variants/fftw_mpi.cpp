// FFTW's own distributed transform, slabs along the first axis: the reference that others are compared with.

#ifdef FOURSCORE_FFTW_MPI
#include <fftw3-mpi.h>
#endif
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "core/transform_chain.hpp"
#ifdef FOURSCORE_FFTW_MPI
#include "local/fftw_api.hpp"
#endif
#include "mpi/error.hpp"

namespace fourscore {

namespace {

#ifdef FOURSCORE_FFTW_MPI

template <class Real>
struct MpiApi;

#define FOURSCORE_FFTW_MPI_API(real, prefix)                                     \
  template <>                                                                    \
  struct MpiApi<real> {                                                          \
    static constexpr auto init = &prefix##_mpi_init;                             \
    static constexpr auto local_size = &prefix##_mpi_local_size_many_transposed; \
    static constexpr auto plan = &prefix##_mpi_plan_many_dft;                    \
    static constexpr auto plan_r2c = &prefix##_mpi_plan_many_dft_r2c;            \
    static constexpr auto plan_c2r = &prefix##_mpi_plan_many_dft_c2r;            \
    static constexpr auto execute = &prefix##_mpi_execute_dft;                   \
    static constexpr auto execute_r2c = &prefix##_mpi_execute_dft_r2c;           \
    static constexpr auto execute_c2r = &prefix##_mpi_execute_dft_c2r;           \
  }

FOURSCORE_FFTW_MPI_API(double, fftw);
FOURSCORE_FFTW_MPI_API(float, fftwf);
#undef FOURSCORE_FFTW_MPI_API

/// How FFTW deals the array, gathered from all ranks: its blocks are ceil(n/P), so that the last ranks may have less
/// or nothing.
struct FftwLayout {
  Decomposition natural;
  Decomposition transposed;  ///< cut along the second axis, which is stored slowest
  Index allocation = 0;      ///< elements that FFTW wants on this rank
};

template <class Real>
FftwLayout layout_of(const Problem& problem, MPI_Comm comm) {
  const Extents shape = problem.complex_extents();
  const std::vector<std::ptrdiff_t> n(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(problem.shape.size()));
  std::array<std::ptrdiff_t, 4> mine{};  // extent and start in the first axis, then in the second
  FftwLayout layout;
  layout.allocation = MpiApi<Real>::local_size(static_cast<int>(n.size()), n.data(), 1, FFTW_MPI_DEFAULT_BLOCK,
                                               FFTW_MPI_DEFAULT_BLOCK, comm, &mine[0], &mine[1], &mine[2], &mine[3]);
  const auto ranks = static_cast<std::size_t>(mpi::size_of(comm));
  std::array<std::int64_t, 4> send{};
  std::ranges::copy(mine, send.begin());
  std::vector<std::int64_t> all(4 * ranks);
  FOURSCORE_MPI(MPI_Allgather(send.data(), 4, MPI_INT64_T, all.data(), 4, MPI_INT64_T, comm));
  layout.natural = {shape, {}, {0, 1, 2}, {}, fmt::format("x-slabs {} (FFTW's blocks)", ranks)};
  layout.transposed = {shape, {}, {1, 0, 2}, {}, fmt::format("y-slabs {} (FFTW's blocks, y stored slowest)", ranks)};
  for (std::size_t r = 0; r < ranks; ++r) {
    const std::int64_t* of = &all[4 * r];
    layout.natural.boxes.push_back({{of[1], 0, 0}, {of[1] + of[0], shape[1], shape[2]}});
    layout.transposed.boxes.push_back({{0, of[3], 0}, {shape[0], of[3] + of[2], shape[2]}});
  }
  return layout;
}

/// The transposition's payload by geometry; FFTW decides how it moves it, in as many messages as it likes.
Traffic transposition(const Decomposition& from, const Decomposition& to, int me, std::size_t element_bytes) {
  Traffic traffic;
  const auto bytes = static_cast<Index>(element_bytes);
  for (int rank = 0; rank < to.ranks(); ++rank) {
    const Box& kept = from.boxes[static_cast<std::size_t>(me)];
    const Index volume = intersect(kept, to.boxes[static_cast<std::size_t>(rank)]).volume();
    if (rank == me) {
      traffic.bytes_self += volume * bytes;
    } else if (volume > 0) {
      traffic.bytes_sent += volume * bytes;
      traffic.messages_sent += 1;
    }
  }
  return traffic;
}

template <class Real>
class FftwMpiPlan : public Plan {
 public:
  explicit FftwMpiPlan(const PlanContext& context)
      : comm_(mpi::duplicate(context.comm)), ranks_(mpi::size_of(context.comm)) {
    const Problem& problem = context.problem;
    local::start_fftw_threads();
    MpiApi<Real>::init();
    local::use_fftw_threads<Real>(problem.threads);
    const FftwLayout layout = layout_of<Real>(problem, comm_.get());
    const std::size_t bytes = static_cast<std::size_t>(layout.allocation) * problem.element_bytes();
    const bool in_place = problem.contract.buffers == Buffers::in_place;
    for (int i = 0; i < (in_place ? 1 : 2); ++i) buffers_.push_back(ordinary_buffer(bytes));
    make_handle(problem);

    const bool natural = problem.contract.layout == LayoutContract::natural;
    const bool forward = problem.direction == Direction::forward;
    input_layout_ = natural || forward ? layout.natural : layout.transposed;
    output_layout_ = natural || !forward ? layout.natural : layout.transposed;
    const int me = mpi::rank_in(comm_.get());
    if (natural || forward) traffic_ += transposition(layout.natural, layout.transposed, me, problem.element_bytes());
    if (natural || !forward) traffic_ += transposition(layout.transposed, layout.natural, me, problem.element_bytes());
    if (problem.kind == Kind::c2c) return;
    data_ = forward ? Data::r2c : Data::c2r;
    Decomposition& real = forward ? input_layout_ : output_layout_;
    real = real_in_place_of(real, problem.last_axis(), problem.shape.back());
  }

  [[nodiscard]] const Decomposition& input_layout() const override { return input_layout_; }
  [[nodiscard]] const Decomposition& output_layout() const override { return output_layout_; }
  [[nodiscard]] void* input() const override { return buffers_.front()->data(); }
  [[nodiscard]] void* output() const override { return buffers_.back()->data(); }
  /// FFTW does not tell its phases apart.
  void execute(PhaseClock& /*clock*/) override {
    switch (data_) {
      case Data::complex:
        return MpiApi<Real>::execute(handle_.get(), static_cast<Complex*>(input()), static_cast<Complex*>(output()));
      case Data::r2c:
        return MpiApi<Real>::execute_r2c(handle_.get(), static_cast<Real*>(input()), static_cast<Complex*>(output()));
      case Data::c2r:
        return MpiApi<Real>::execute_c2r(handle_.get(), static_cast<Complex*>(input()), static_cast<Real*>(output()));
    }
  }
  [[nodiscard]] Traffic traffic() const override { return traffic_; }
  [[nodiscard]] std::size_t buffer_bytes() const override {
    std::size_t total = 0;
    for (const auto& buffer : buffers_) total += buffer->bytes();
    return total;
  }
  [[nodiscard]] std::vector<std::string> describe_local_ffts() const override { return {handle_.describe()}; }
  [[nodiscard]] std::vector<int> grid() const override { return {ranks_}; }

 private:
  using Complex = typename local::FftwApi<Real>::Complex;
  enum class Data { complex, r2c, c2r };

  void make_handle(const Problem& problem) {
    const bool forward = problem.direction == Direction::forward;
    unsigned flags = local::fftw_flag(problem.contract.effort);
    if (problem.contract.buffers == Buffers::out_of_place) flags |= FFTW_DESTROY_INPUT;
    if (problem.contract.layout == LayoutContract::transposed)
      flags |= forward ? static_cast<unsigned>(FFTW_MPI_TRANSPOSED_OUT) : static_cast<unsigned>(FFTW_MPI_TRANSPOSED_IN);
    const std::vector<std::ptrdiff_t> n(problem.shape.begin(), problem.shape.end());
    const auto rank = static_cast<int>(n.size());
    constexpr auto block = FFTW_MPI_DEFAULT_BLOCK;
    using Api = MpiApi<Real>;
    if (problem.real_input())
      handle_ = Handle(Api::plan_r2c(rank, n.data(), 1, block, block, static_cast<Real*>(input()),
                                     static_cast<Complex*>(output()), comm_.get(), flags));
    else if (problem.real_output())
      handle_ = Handle(Api::plan_c2r(rank, n.data(), 1, block, block, static_cast<Complex*>(input()),
                                     static_cast<Real*>(output()), comm_.get(), flags));
    else
      handle_ = Handle(Api::plan(rank, n.data(), 1, block, block, static_cast<Complex*>(input()),
                                 static_cast<Complex*>(output()), comm_.get(), forward ? FFTW_FORWARD : FFTW_BACKWARD,
                                 flags));
    if (!handle_) throw std::runtime_error(fmt::format("FFTW-MPI refused to plan shape {}", shape_text(problem.shape)));
  }

  using Handle = local::FftwHandle<Real>;
  mpi::Communicator comm_;
  int ranks_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  Handle handle_;
  Data data_ = Data::complex;
  Decomposition input_layout_;
  Decomposition output_layout_;
  Traffic traffic_;
};

#endif

class FftwMpi : public Variant {
 public:
  [[nodiscard]] Card card() const override {
    return {"fftw-mpi", "FFTW's own slabs; transposed: second axis cut and stored slowest", "https://www.fftw.org"};
  }
  [[nodiscard]] bool takes_exchange() const override { return false; }
  [[nodiscard]] std::vector<Kind> kinds() const override { return {Kind::c2c, Kind::r2c}; }
  [[nodiscard]] std::string unavailable() const override {
#ifdef FOURSCORE_FFTW_MPI
    return {};
#else
    return FOURSCORE_FFTW_MPI_MISSING;
#endif
  }

  [[nodiscard]] std::optional<std::string> supports(const Problem& problem, int ranks) const override {
    if (auto reason = chain_limits(problem, 2, 3)) return reason;
    require_grid(problem, ranks, 1);
    const Extents n = problem.complex_extents();
    const Index most = std::min(n[0], n[1]);
    if (ranks > most)
      return fmt::format(
          "{} ranks are more than fftw-mpi can use: {} for shape {}, the smaller of its first two extents", ranks, most,
          shape_text(problem.shape));
    // Found by the tests: FFTW 3.3.10 drops extents of 1, and without any left it writes before its own arrays.
    if (problem.elements() == 1) return "FFTW-MPI cannot plan a shape of a single element";
    // Found by the tests too: it then plans a transform that leaves elements out.
    if (problem.contract.layout == LayoutContract::transposed && most == 1)
      return fmt::format(
          "FFTW-MPI's transposed transforms are wrong where one of the first two extents is 1 (shape {})",
          shape_text(problem.shape));
#ifndef FOURSCORE_FFTW_THREADS
    if (problem.threads > 1)
      return fmt::format("{} threads, but this program was built without FFTW's threads", problem.threads);
#endif
    return std::nullopt;
  }

  [[nodiscard]] std::unique_ptr<Plan> make_plan([[maybe_unused]] const PlanContext& context) const override {
#ifdef FOURSCORE_FFTW_MPI
    require_grid(context.problem, mpi::size_of(context.comm), 1);
    if (context.problem.precision == Precision::double_precision) return std::make_unique<FftwMpiPlan<double>>(context);
    return std::make_unique<FftwMpiPlan<float>>(context);
#else
    throw InputError("variant 'fftw-mpi' cannot run here: " + unavailable());
#endif
  }

  /// As any slab: one exchange of N/P elements a rank, of which 1/P stay; the way back is another.
  [[nodiscard]] Cost cost(const Problem& problem, int ranks) const override {
    const Cost exchange = even_exchange_cost(problem, ranks, ranks);
    const int exchanges = problem.contract.layout == LayoutContract::natural ? 2 : 1;
    return {problem.credited_flops(), exchanges * exchange.bytes_per_rank, exchanges * exchange.messages_per_rank};
  }
};

FOURSCORE_REGISTER_VARIANT(FftwMpi);

}  // namespace

}  // namespace fourscore
