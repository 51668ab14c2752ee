// MKL's own distributed transform, slabs along the first axis, as a reference.

#ifdef FOURSCORE_MKL_CDFT
#include <mkl_cdft.h>
#endif
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "chain/limits_and_cost.hpp"
#include "local/mkl_library.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"
#include "variants/reference/reference_plan.hpp"
#include "variants/reference/reference_variant.hpp"

namespace fourscore {

namespace {

#ifdef FOURSCORE_MKL_CDFT

/// The functions in MKL's libraries, which are opened when one is used, and with them what reaches MPI.
struct Cdft {
  Cdft() {
    local::open_mkl_library("mkl_blacs_openmpi_lp64");
    create = local::mkl_function<decltype(DftiCreateDescriptorDM)>("DftiCreateDescriptorDM");
    set_value = local::mkl_function<decltype(DftiSetValueDM)>("DftiSetValueDM");
    get_value = local::mkl_function<decltype(DftiGetValueDM)>("DftiGetValueDM");
    commit = local::mkl_function<decltype(DftiCommitDescriptorDM)>("DftiCommitDescriptorDM");
    forward = local::mkl_function<decltype(DftiComputeForwardDM)>("DftiComputeForwardDM");
    backward = local::mkl_function<decltype(DftiComputeBackwardDM)>("DftiComputeBackwardDM");
    free = local::mkl_function<decltype(DftiFreeDescriptorDM)>("DftiFreeDescriptorDM");
    message = local::mkl_function<decltype(DftiErrorMessage)>("DftiErrorMessage");
    set_threads = local::mkl_function<void(int)>("MKL_Set_Num_Threads");
  }
  decltype(&DftiCreateDescriptorDM) create;
  decltype(&DftiSetValueDM) set_value;
  decltype(&DftiGetValueDM) get_value;
  decltype(&DftiCommitDescriptorDM) commit;
  decltype(&DftiComputeForwardDM) forward;
  decltype(&DftiComputeBackwardDM) backward;
  decltype(&DftiFreeDescriptorDM) free;
  decltype(&DftiErrorMessage) message;
  void (*set_threads)(int);
};

const Cdft& cdft() {
  static const Cdft functions;
  return functions;
}

void check(MKL_LONG status, const char* call) {
  if (status == DFTI_NO_ERROR) return;
  const char* const text = status == CDFT_MPI_ERROR      ? "an MPI call failed"
                           : status == CDFT_SPREAD_ERROR ? "it cannot deal this shape to these ranks"
                                                         : cdft().message(status);
  throw std::runtime_error(fmt::format("MKL's {}: {}", call, text));
}

class Descriptor {
 public:
  /// Collective.
  Descriptor(MPI_Comm comm, const Problem& problem) {
    const auto precision = problem.precision == Precision::double_precision ? DFTI_DOUBLE : DFTI_SINGLE;
    const std::vector<MKL_LONG> lengths(problem.shape.begin(), problem.shape.end());
    cdft().set_threads(problem.threads);
    DFTI_DESCRIPTOR_DM_HANDLE made = nullptr;
    check(cdft().create(comm, &made, precision, DFTI_COMPLEX, static_cast<MKL_LONG>(lengths.size()), lengths.data()),
          "DftiCreateDescriptorDM");
    handle_.reset(made);
    if (problem.contract.buffers == Buffers::out_of_place) set(DFTI_PLACEMENT, DFTI_NOT_INPLACE);
    if (problem.contract.layout == LayoutContract::transposed) set(DFTI_TRANSPOSE, DFTI_ALLOW);
    check(cdft().commit(made), "DftiCommitDescriptorDM");
  }
  [[nodiscard]] MKL_LONG value(int parameter) const {
    MKL_LONG result = 0;
    check(cdft().get_value(handle_.get(), parameter, &result), "DftiGetValueDM");
    return result;
  }
  [[nodiscard]] DFTI_DESCRIPTOR_DM_HANDLE get() const { return handle_.get(); }

 private:
  template <class Value>
  void set(int parameter, Value value) {
    check(cdft().set_value(handle_.get(), parameter, value), "DftiSetValueDM");
  }
  struct Free {
    void operator()(DFTI_DESCRIPTOR_DM_HANDLE handle) const {
      if (mpi::may_call_collectives()) cdft().free(&handle);
    }
  };
  std::unique_ptr<std::remove_pointer_t<DFTI_DESCRIPTOR_DM_HANDLE>, Free> handle_;
};

/// The layouts through which a forward transform goes, as MKL deals them.
std::vector<Decomposition> route_of(const PlanContext& context, const Descriptor& descriptor) {
  const Extents n = context.problem.extents();
  const Index start = descriptor.value(CDFT_LOCAL_X_START);
  const Index end = start + descriptor.value(CDFT_LOCAL_NX);
  const int ranks = mpi::size_of(context.comm);
  std::vector<Decomposition> route{gathered_layout(context.comm, n, {{start, 0, 0}, {end, n[1], n[2]}}, {0, 1, 2},
                                                   fmt::format("x-slabs {} (MKL's blocks)", ranks))};
  if (context.problem.contract.layout == LayoutContract::transposed) {
    const Index out_start = descriptor.value(CDFT_LOCAL_OUT_X_START);
    const Index out_end = out_start + descriptor.value(CDFT_LOCAL_OUT_NX);
    route.push_back(gathered_layout(context.comm, n, {{0, out_start, 0}, {n[0], out_end, n[2]}}, {1, 2, 0},
                                    fmt::format("y-slabs {} (MKL's blocks, y stored slowest, x fastest)", ranks)));
  } else {
    route.push_back(decompose(n, Grid{{1, ranks, 1}}));
    route.push_back(route.front());
  }
  return route;
}

class MklCdftPlan : public ReferencePlan {
 public:
  explicit MklCdftPlan(const PlanContext& context) : MklCdftPlan(context, mpi::duplicate(context.comm)) {}

  void execute(PhaseClock& /*clock*/) override {
    check(input() == output() ? compute_(descriptor_.get(), input()) : compute_(descriptor_.get(), input(), output()),
          "transform");
  }

 private:
  MklCdftPlan(const PlanContext& context, mpi::Communicator&& comm)
      : MklCdftPlan(context, Descriptor(comm.get(), context.problem), std::move(comm)) {}
  MklCdftPlan(const PlanContext& context, Descriptor&& descriptor, mpi::Communicator&& comm)
      : ReferencePlan(context, route_of(context, descriptor), std::vector{mpi::size_of(context.comm)},
                      static_cast<std::size_t>(descriptor.value(CDFT_LOCAL_SIZE)) * context.problem.element_bytes()),
        comm_(std::move(comm)),
        descriptor_(std::move(descriptor)),
        compute_(context.problem.direction == Direction::forward ? cdft().forward : cdft().backward) {
    declare_library(local::mkl_version());
  }

  mpi::Communicator comm_;
  Descriptor descriptor_;
  decltype(&DftiComputeForwardDM) compute_;
};

#endif

class MklCdft : public SlabReference {
 public:
  MklCdft() : SlabReference("mkl-cdft", FOURSCORE_MKL_CDFT_MISSING) {}

  [[nodiscard]] Card card() const override {
    return {"mkl-cdft", "Intel oneMKL's own slabs; transposed: second axis cut and stored slowest, first axis fastest",
            "https://www.intel.com/content/www/us/en/developer/tools/oneapi/onemkl.html"};
  }
  [[nodiscard]] LocalFftUse local_fft(const Problem& problem) const override { return {"mkl", problem.threads}; }
  [[nodiscard]] std::string unavailable() const override {
#ifdef FOURSCORE_MKL_CDFT
    try {
      static_cast<void>(cdft());
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return {};
#else
    return SlabReference::unavailable();
#endif
  }

 private:
  [[nodiscard]] Reason limit(const Problem& problem, int ranks) const override {
    // Found by the tests: DftiCreateDescriptorDM then ends with CDFT_SPREAD_ERROR.
    const Extents n = problem.extents();
    if (const Index most = std::min(n[0], n[1]); ranks > most)
      return fmt::format(
          "MKL's cluster FFT cannot deal shape {} to {} ranks: no more than {}, the smaller of its first "
          "two extents",
          shape_text(problem.shape), ranks, most);
    if (problem.threads > 1) return fmt::format("{} threads; mkl-cdft is run with one", problem.threads);
    return std::nullopt;
  }

#ifdef FOURSCORE_MKL_CDFT
  [[nodiscard]] std::unique_ptr<Plan> plan_of(const PlanContext& context) const override {
    return std::make_unique<MklCdftPlan>(context);
  }
#endif
};

FOURSCORE_REGISTER_VARIANT(MklCdft);

}  // namespace

}  // namespace fourscore
