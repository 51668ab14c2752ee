#pragma once
// cuDecomp's handle and grid of ranks for one plan. Included where the library is found.

#include <cudecomp.h>
#include <mpi.h>
//
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "mpi/error.hpp"
#include "mpi/handles.hpp"
#include "variants/reference/reference_plan.hpp"

namespace fourscore::cudecomp_variants {

inline void must(cudecompResult_t result, const char* what) {
  if (result != CUDECOMP_RESULT_SUCCESS)
    throw std::runtime_error(fmt::format("cuDecomp, {}: error {}", what, static_cast<int>(result)));
}

/// How it is asked to exchange. Its axes x, y, z are ours in reverse.
struct Settings {
  cudecompTransposeCommBackend_t backend = CUDECOMP_TRANSPOSE_COMM_MPI_P2P;
  bool tunes = false;         ///< it chooses the backend, and the grid where none is given
  bool mpi_on_device = true;  ///< MPI takes the device's memory
};

inline cudecompDataType_t type_of(const Problem& problem) {
  return problem.precision == Precision::double_precision ? CUDECOMP_DOUBLE_COMPLEX : CUDECOMP_FLOAT_COMPLEX;
}

class Handle {
 public:
  explicit Handle(MPI_Comm comm) { must(cudecompInit(&handle_, comm), "starting"); }
  ~Handle() {
    if (mpi::may_call_collectives()) static_cast<void>(cudecompFinalize(handle_));
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  [[nodiscard]] cudecompHandle_t get() const { return handle_; }

 private:
  cudecompHandle_t handle_ = nullptr;
};

/// What its calls take together. config: as it was taken, with what cuDecomp chose.
class Ranks {
 public:
  Ranks(const Handle& handle, cudecompGridDescConfig_t& config, const cudecompGridDescAutotuneOptions_t* options)
      : handle_(handle) {
    must(cudecompGridDescCreate(handle.get(), &description_, &config, options), "dealing the grid");
  }
  ~Ranks() {
    if (mpi::may_call_collectives()) static_cast<void>(cudecompGridDescDestroy(handle_.get(), description_));
  }
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  [[nodiscard]] cudecompGridDesc_t get() const { return description_; }

 private:
  const Handle& handle_;
  cudecompGridDesc_t description_ = nullptr;
};

inline cudecompGridDescConfig_t config_of(const PlanContext& context, const Settings& settings, const Grid& grid) {
  cudecompGridDescConfig_t config;
  must(cudecompGridDescConfigSetDefaults(&config), "asking for its settings");
  const Extents n = context.problem.extents();
  const bool any_grid = settings.tunes && context.problem.grid.empty();
  for (std::size_t i = 0; i < 3; ++i) {
    config.gdims[i] = static_cast<std::int32_t>(n[2 - i]);
    config.transpose_axis_contiguous[i] = true;
  }
  config.pdims[0] = any_grid ? 0 : grid.extents[1];
  config.pdims[1] = any_grid ? 0 : grid.extents[0];
  config.rank_order = CUDECOMP_RANK_ORDER_COL_MAJOR;  // neighbours in rank differ in y, as on our grids
  config.transpose_comm_backend = settings.backend;
  return config;
}

/// Tries what this problem's transform does.
inline void tune(const PlanContext& context, const Settings& settings, const Handle& handle,
                 cudecompGridDescConfig_t& config) {
  cudecompGridDescAutotuneOptions_t options;
  must(cudecompGridDescAutotuneOptionsSetDefaults(&options), "asking for its settings");
  const Problem& problem = context.problem;
  options.dtype = type_of(problem);
  options.autotune_transpose_backend = true;
  options.disable_mpi_backends = !settings.mpi_on_device;
  const bool forward = problem.direction == Direction::forward;
  for (std::size_t i = 0; i < 4; ++i) {
    options.transpose_use_inplace_buffers[i] = problem.contract.buffers == Buffers::in_place;
    options.transpose_op_weights[i] = (i < 2) == forward ? 1 : 0;  // x to y, y to z; z to y, y to x
  }
  const Ranks tried(handle, config, &options);
}

/// Pencils along y lie as those along x where both are the same boxes, so that one transform does both axes and nothing
/// is transposed; likewise those along z. Else the axis of the pencils is stored fastest.
inline void keep_slabs(cudecompGridDescConfig_t& config) {
  for (std::size_t axis = 0; axis < 3; ++axis)
    for (std::size_t i = 0; i < 3; ++i)
      config.transpose_mem_order[axis][i] = axis > 0 && config.pdims[axis - 1] == 1
                                                ? config.transpose_mem_order[axis - 1][i]
                                                : static_cast<std::int32_t>((axis + i) % 3);
}

/// Collective, as is its destruction.
class Engine {
 public:
  Engine(const PlanContext& context, const Settings& settings, const Grid& grid)
      : comm_(mpi::duplicate(context.comm)),
        handle_(comm_.get()),
        config_(settled(context, settings, grid)),
        ranks_(handle_, config_, nullptr) {}

  [[nodiscard]] cudecompPencilInfo_t pencil(int axis) const {
    cudecompPencilInfo_t pencil;
    must(cudecompGetPencilInfo(handle_.get(), ranks_.get(), &pencil, axis, nullptr, nullptr), "describing a layout");
    return pencil;
  }
  /// Whether pencils along axis and axis + 1 are the same.
  [[nodiscard]] bool same_as_next(int axis) const { return config_.pdims[axis] == 1; }
  [[nodiscard]] Grid grid() const { return Grid{{config_.pdims[1], config_.pdims[0], 1}}; }
  [[nodiscard]] std::string backend() const {
    return cudecompTransposeCommBackendToString(config_.transpose_comm_backend);
  }
  [[nodiscard]] std::int64_t workspace_elements() const {
    std::int64_t elements = 0;
    must(cudecompGetTransposeWorkspaceSize(handle_.get(), ranks_.get(), &elements), "asking for its workspace");
    return elements;
  }
  [[nodiscard]] void* allocate(std::size_t bytes) const {
    void* memory = nullptr;
    must(cudecompMalloc(handle_.get(), ranks_.get(), &memory, bytes), "allocating its workspace");
    return memory;
  }
  void release(void* memory) const noexcept { static_cast<void>(cudecompFree(handle_.get(), ranks_.get(), memory)); }
  /// Queued, to pencils along axis + 1 or axis - 1.
  void transpose(int axis, bool up, void* in, void* out, void* workspace, cudecompDataType_t type, void* stream) const {
    const auto call = up ? (axis == 0 ? cudecompTransposeXToY : cudecompTransposeYToZ)
                         : (axis == 1 ? cudecompTransposeYToX : cudecompTransposeZToY);
    must(call(handle_.get(), ranks_.get(), in, out, workspace, type, nullptr, nullptr, nullptr, nullptr,
              static_cast<cudaStream_t>(stream)),
         "transposing");
  }

 private:
  [[nodiscard]] cudecompGridDescConfig_t settled(const PlanContext& context, const Settings& settings,
                                                 const Grid& grid) const {
    cudecompGridDescConfig_t config = config_of(context, settings, grid);
    if (settings.tunes) tune(context, settings, handle_, config);
    keep_slabs(config);
    return config;
  }

  mpi::Communicator comm_;
  Handle handle_;
  cudecompGridDescConfig_t config_;
  Ranks ranks_;
};

/// Memory of the device as its exchange wants it. Collective.
class Workspace {
 public:
  Workspace(const Engine& engine, std::size_t bytes) : engine_(engine), data_(engine.allocate(bytes)) {}
  ~Workspace() {
    if (mpi::may_call_collectives()) engine_.release(data_);
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  [[nodiscard]] void* data() const { return data_; }

 private:
  const Engine& engine_;
  void* data_;
};

/// The layouts of a forward transform: its pencils along x are our z-pencils.
inline std::vector<Decomposition> route_of(const Engine& engine, const PlanContext& context) {
  const Grid grid = engine.grid();
  std::vector<Decomposition> route;
  for (int axis = 0; axis < 3; ++axis) {
    const cudecompPencilInfo_t pencil = engine.pencil(axis);
    Box box;
    std::array<int, 3> order{};
    for (std::size_t i = 0; i < 3; ++i) {  // it names the fastest first
      order[2 - i] = 2 - pencil.order[i];
      const auto ours = static_cast<std::size_t>(order[2 - i]);
      box.low[ours] = pencil.lo[i];
      box.high[ours] = pencil.lo[i] + pencil.shape[i];
    }
    route.push_back(gathered_layout(context.comm, context.problem.extents(), box, order,
                                    fmt::format("{}-pencils {}x{}", "zyx"[axis], grid.extents[0], grid.extents[1])));
  }
  return route;
}

}  // namespace fourscore::cudecomp_variants
