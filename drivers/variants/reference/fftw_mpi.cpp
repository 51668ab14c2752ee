// FFTW's own distributed transform, slabs along the first axis: the reference that others are compared with.

#ifdef FOURSCORE_FFTW_MPI
#include <fftw3-mpi.h>
#endif
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "chain/limits_and_cost.hpp"
#include "variants/reference/reference_plan.hpp"
#include "variants/reference/reference_variant.hpp"
#ifdef FOURSCORE_FFTW_MPI
#include "local/fftw_api.hpp"
#endif
#include "mpi/handles.hpp"

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
FftwLayout layout_of(const PlanContext& context) {
  const Problem& problem = context.problem;
  (void)local::linked_fftw();  // its threads before its MPI
  MpiApi<Real>::init();
  const Extents shape = problem.complex_extents();
  const std::vector<std::ptrdiff_t> n(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(problem.shape.size()));
  std::array<std::ptrdiff_t, 4> mine{};  // extent and start in the first axis, then in the second
  FftwLayout layout;
  layout.allocation =
      MpiApi<Real>::local_size(static_cast<int>(n.size()), n.data(), problem.fields, FFTW_MPI_DEFAULT_BLOCK,
                               FFTW_MPI_DEFAULT_BLOCK, context.comm, &mine[0], &mine[1], &mine[2], &mine[3]);
  const int ranks = mpi::size_of(context.comm);
  layout.natural = gathered_layout(context.comm, shape, {{mine[1], 0, 0}, {mine[1] + mine[0], shape[1], shape[2]}},
                                   {0, 1, 2}, fmt::format("x-slabs {} (FFTW's blocks)", ranks));
  layout.transposed = gathered_layout(context.comm, shape, {{0, mine[3], 0}, {shape[0], mine[3] + mine[2], shape[2]}},
                                      {1, 0, 2}, fmt::format("y-slabs {} (FFTW's blocks, y stored slowest)", ranks));
  return layout;
}

/// The layouts that a forward transform goes through. FFTW decides how the data move, in how many messages.
std::vector<Decomposition> route_of(const Problem& problem, const FftwLayout& layout) {
  std::vector<Decomposition> route{layout.natural, layout.transposed};
  if (problem.contract.layout == LayoutContract::natural) route.push_back(layout.natural);
  return route;
}

template <class Real>
class FftwMpiPlan : public ReferencePlan {
 public:
  explicit FftwMpiPlan(const PlanContext& context) : FftwMpiPlan(context, layout_of<Real>(context)) {}

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

 private:
  using Complex = typename local::FftwApi<Real>::Complex;
  enum class Data { complex, r2c, c2r };

  FftwMpiPlan(const PlanContext& context, const FftwLayout& layout)
      : ReferencePlan(context, route_of(context.problem, layout), std::vector{mpi::size_of(context.comm)},
                      static_cast<std::size_t>(layout.allocation) * context.problem.element_bytes()),
        comm_(mpi::duplicate(context.comm)) {
    const Problem& problem = context.problem;
    // Its element is a tuple, with a number of each field.
    declared().input_fields = declared().output_fields = {.fields = problem.fields};
    local::linked_fftw().use_threads<Real>(problem.threads);
    make_handle(problem);
    declare_library(handle_.describe());
    if (problem.kind == Kind::r2c) data_ = problem.real_input() ? Data::r2c : Data::c2r;
  }

  void make_handle(const Problem& problem) {
    const bool forward = problem.direction == Direction::forward;
    unsigned flags = local::fftw_flag(problem.contract.effort);
    if (problem.contract.buffers == Buffers::out_of_place) flags |= FFTW_DESTROY_INPUT;
    if (problem.contract.layout == LayoutContract::transposed)
      flags |= forward ? static_cast<unsigned>(FFTW_MPI_TRANSPOSED_OUT) : static_cast<unsigned>(FFTW_MPI_TRANSPOSED_IN);
    const std::vector<std::ptrdiff_t> n(problem.shape.begin(), problem.shape.end());
    const auto rank = static_cast<int>(n.size());
    const auto fields = static_cast<std::ptrdiff_t>(problem.fields);
    constexpr auto block = FFTW_MPI_DEFAULT_BLOCK;
    using Api = MpiApi<Real>;
    const auto owned = [](auto handle) { return Handle(handle, local::linked_fftw().of<Real>()); };
    if (problem.real_input())
      handle_ = owned(Api::plan_r2c(rank, n.data(), fields, block, block, static_cast<Real*>(input()),
                                    static_cast<Complex*>(output()), comm_.get(), flags));
    else if (problem.real_output())
      handle_ = owned(Api::plan_c2r(rank, n.data(), fields, block, block, static_cast<Complex*>(input()),
                                    static_cast<Real*>(output()), comm_.get(), flags));
    else
      handle_ =
          owned(Api::plan(rank, n.data(), fields, block, block, static_cast<Complex*>(input()),
                          static_cast<Complex*>(output()), comm_.get(), forward ? FFTW_FORWARD : FFTW_BACKWARD, flags));
    if (!handle_) throw std::runtime_error(fmt::format("FFTW-MPI refused to plan shape {}", shape_text(problem.shape)));
  }

  using Handle = local::FftwHandle<Real>;
  mpi::Communicator comm_;
  Handle handle_;
  Data data_ = Data::complex;
};

#endif

class FftwMpi : public SlabReference {
 public:
  FftwMpi() : SlabReference("FFTW-MPI", FOURSCORE_FFTW_MPI_MISSING) {}

  [[nodiscard]] Card card() const override {
    return {"fftw-mpi", "FFTW's own slabs; transposed: second axis cut and stored slowest", "https://www.fftw.org"};
  }
  [[nodiscard]] VariantFacts facts() const override { return {.kinds = {Kind::c2c, Kind::r2c}, .exchange = "none"}; }

  /// Together: FFTW's howmany.
  [[nodiscard]] Reason refuses_fields(const Problem& problem) const override {
    return problem.field_order == FieldOrder::together ? std::nullopt : whole_fields(problem, *this);
  }

  void register_solvers() const override {
#ifdef FOURSCORE_FFTW_MPI
    (void)local::linked_fftw();  // its threads before its MPI
    MpiApi<double>::init();
    MpiApi<float>::init();
#endif
  }

 private:
  [[nodiscard]] Reason limit(const Problem& problem, int ranks) const override {
    // Found by the tests: FFTW 3.3.10 drops extents of 1, and without any left it writes before its own arrays.
    if (problem.elements() == 1) return "FFTW-MPI cannot plan a shape of a single element";
    const Extents n = problem.complex_extents();
    // And it has no plan for shape 7x1 on several ranks, and one for 8x1x6 that writes beyond its arrays.
    if (ranks > 1 && n[0] > 1 && n[1] == 1)
      return fmt::format("FFTW-MPI's transforms on several ranks go wrong where the second extent is 1 (shape {})",
                         shape_text(problem.shape));
    // Found by the tests too: it then plans a transform that leaves elements out.
    if (problem.contract.layout == LayoutContract::transposed && std::min(n[0], n[1]) == 1)
      return fmt::format(
          "FFTW-MPI's transposed transforms are wrong where one of the first two extents is 1 (shape {})",
          shape_text(problem.shape));
#ifndef FOURSCORE_FFTW_THREADS
    if (problem.threads > 1)
      return fmt::format("{} threads, but this program was built without FFTW's threads", problem.threads);
#endif
    return std::nullopt;
  }

#ifdef FOURSCORE_FFTW_MPI
  [[nodiscard]] std::unique_ptr<Plan> plan_of(const PlanContext& context) const override {
    if (context.problem.precision == Precision::double_precision) return std::make_unique<FftwMpiPlan<double>>(context);
    return std::make_unique<FftwMpiPlan<float>>(context);
  }
#endif
};

FOURSCORE_REGISTER_VARIANT(FftwMpi);

}  // namespace

}  // namespace fourscore
