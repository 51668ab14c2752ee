#pragma once
// dtFFT's plans as both of its variants use them. Included where the library is found.

#include <dtfft.h>
#include <mpi.h>  // first: dtfft.h includes it within extern "C"
//
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "mpi/error.hpp"
#include "mpi/handles.hpp"
#include "variants/reference/reference_plan.hpp"

namespace fourscore::dtfft_variants {

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
  [[nodiscard]] std::string backend() const {
    dtfft_backend_t backend{};
    must(dtfft_get_backend(plan_, &backend), "asking for the exchange");
    return dtfft_get_backend_string(backend);
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

}  // namespace fourscore::dtfft_variants
