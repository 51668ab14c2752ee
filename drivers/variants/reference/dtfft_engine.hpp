#pragma once
// What both variants of dtFFT share: what it takes, and its plans where the library is found.

#include <mpi.h>  // first: dtfft.h includes it within extern "C"
#if defined(FOURSCORE_DTFFT) || defined(FOURSCORE_DTFFT_CUFFT)
#include <dtfft.h>
#define FOURSCORE_DTFFT_ANY
#endif
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/parameters.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"
#include "variants/reference/reference_plan.hpp"

namespace fourscore::dtfft_variants {

/// dtFFT's own default stands first.
[[nodiscard]] inline Parameter effort_parameter() {
  return {"effort",
          "dtFFT's own: measure also chooses the grid where none is given, patient the exchange too",
          "estimate",
          {"estimate", "measure", "patient"}};
}
[[nodiscard]] inline std::string effort_asked(const Problem& problem) {
  return choice_parameter(problem, "effort", effort_parameter().values);
}

/// The reason why dtFFT cannot transform the problem, or nothing.
[[nodiscard]] inline Reason limit_of(const Problem& problem, int ranks) {
  static_cast<void>(effort_asked(problem));
  if (problem.contract.layout == LayoutContract::natural) return "layout natural; dtFFT leaves its result in x-pencils";
  if (std::ranges::find(problem.shape, Index{1}) != problem.shape.end())
    return "an extent of 1, with which dtFFT 3.2 gives wrong results";
  if (problem.elements() / ranks > std::numeric_limits<std::int32_t>::max() / 2)
    return "a rank's share has more elements than dtFFT's integers hold";
  return std::nullopt;
}

#ifdef FOURSCORE_DTFFT_ANY

inline void must(dtfft_error_t error, const char* what) {
  if (error != DTFFT_SUCCESS)
    throw std::runtime_error(fmt::format("dtFFT, {}: {}", what, dtfft_get_error_string(error)));
}

inline dtfft_effort_t effort_of(const std::string& name) {
  return name == "patient" ? DTFFT_PATIENT : name == "measure" ? DTFFT_MEASURE : DTFFT_ESTIMATE;
}

/// The ranks in the order of Fortran's axes (ours in reverse), of which the first is whole: the library takes this
/// grid. Where it is to choose one itself, the ranks as they are.
inline mpi::Communicator ranks_for(const PlanContext& context, const std::string& effort, const Grid& grid) {
  if (effort != "estimate" && context.problem.grid.empty()) return mpi::duplicate(context.comm);
  const std::array<int, 3> extents{1, grid.extents[1], grid.extents[0]};
  const std::array<int, 3> periods{0, 0, 0};
  MPI_Comm made = MPI_COMM_NULL;
  FOURSCORE_MPI(MPI_Cart_create(context.comm, 3, extents.data(), periods.data(), 0, &made));
  return mpi::Communicator(made);
}

/// One plan of the library.
class Engine {
 public:
  Engine(const PlanContext& context, const std::string& effort, const Grid& grid, dtfft_executor_t executor)
      : comm_(ranks_for(context, effort, grid)) {
    const Problem& problem = context.problem;
    const Extents n = problem.extents();
    const std::array<std::int32_t, 3> extents{static_cast<std::int32_t>(n[2]), static_cast<std::int32_t>(n[1]),
                                              static_cast<std::int32_t>(n[0])};
    must(dtfft_create_plan_c2c(3, extents.data(), comm_.get(),
                               problem.precision == Precision::double_precision ? DTFFT_DOUBLE : DTFFT_SINGLE,
                               effort_of(effort), executor, &plan_),
         "making a plan");
  }
  ~Engine() {
    if (mpi::may_call_collectives()) dtfft_destroy(&plan_);
  }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// `order`: our axes as the layout stores them, slowest first; the library names the fastest first.
  [[nodiscard]] Box box(dtfft_layout_t layout, const std::array<int, 3>& order) const {
    dtfft_pencil_t pencil{};
    must(dtfft_get_pencil(plan_, layout, &pencil), "describing a layout");
    Box box;
    for (std::size_t i = 0; i < 3; ++i) {
      const auto axis = static_cast<std::size_t>(order[2 - i]);
      box.low[axis] = pencil.starts[i];
      box.high[axis] = box.low[axis] + pencil.counts[i];
    }
    return box;
  }
  [[nodiscard]] Grid grid() const {
    std::int8_t axes = 0;
    const std::int32_t* extents = nullptr;
    must(dtfft_get_grid_dims(plan_, &axes, &extents), "describing the grid");
    return Grid{{extents[2], extents[1], 1}};
  }
  [[nodiscard]] std::size_t buffer_bytes() const {
    std::size_t bytes = 0;
    must(dtfft_get_alloc_bytes(plan_, &bytes), "asking for the size of buffers");
    return bytes;
  }
  [[nodiscard]] std::size_t workspace_bytes() const {
    std::size_t bytes = 0;
    must(dtfft_get_aux_bytes(plan_, &bytes), "asking for the size of the workspace");
    return bytes;
  }
  [[nodiscard]] void* allocate(std::size_t bytes) const {
    void* memory = nullptr;
    must(dtfft_mem_alloc(plan_, bytes, &memory), "allocating");
    return memory;
  }
  void release(void* memory) const noexcept { static_cast<void>(dtfft_mem_free(plan_, memory)); }
  [[nodiscard]] std::string describe(const std::string& effort) const {
    dtfft_backend_t backend{};
    must(dtfft_get_backend(plan_, &backend), "asking for the exchange");
    return fmt::format("dtFFT {}.{}.{} with effort {}, exchange {}", DTFFT_VERSION_MAJOR, DTFFT_VERSION_MINOR,
                       DTFFT_VERSION_PATCH, effort, dtfft_get_backend_string(backend));
  }
  void execute(void* in, void* out, Direction direction, void* workspace) const {
    must(dtfft_execute(plan_, in, out, direction == Direction::forward ? DTFFT_EXECUTE_FORWARD : DTFFT_EXECUTE_BACKWARD,
                       workspace),
         "transforming");
  }

 private:
  mpi::Communicator comm_;
  dtfft_plan_t plan_ = nullptr;
};

inline std::vector<Decomposition> route_of(const Engine& engine, const PlanContext& context) {
  const Grid grid = engine.grid();
  const auto pencils = [&](dtfft_layout_t layout, const char* axis, const std::array<int, 3>& order) {
    return gathered_layout(context.comm, context.problem.extents(), engine.box(layout, order), order,
                           fmt::format("{}-pencils {}x{}", axis, grid.extents[0], grid.extents[1]));
  };
  // Its x is our last axis. The axis of the pencils is stored fastest.
  return {pencils(DTFFT_LAYOUT_X_PENCILS, "z", {0, 1, 2}), pencils(DTFFT_LAYOUT_Y_PENCILS, "y", {2, 0, 1}),
          pencils(DTFFT_LAYOUT_Z_PENCILS, "x", {1, 2, 0})};
}

#endif

}  // namespace fourscore::dtfft_variants
