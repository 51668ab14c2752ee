#pragma once
// A transform chain whose local transforms run on a device, and what the variants on devices have in common.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "chain/transform_chain.hpp"
#include "interfaces/device.hpp"
#include "offload/device_arrays.hpp"
#include "offload/offloaded_fft.hpp"

namespace fourscore {

/// Where the data of a plan is between transforms.
enum class DataStaging {
  copy,      ///< in the host's memory: to the device and back around every local transform
  resident,  ///< on the device; only what is exchanged passes through the host
  streamed,  ///< as copy, in pieces, so that copies, transforms and exchange overlap
};

/// What a point asks of a device, read from its parameters.
struct DeviceRequest {
  const DeviceBackend* backend = nullptr;
  DataStaging staging = DataStaging::copy;
  HostMemory memory = HostMemory::pinned;
  bool share = false;   ///< several ranks may use one device
  bool direct = false;  ///< messages from the device's memory
  int pieces = 4;       ///< with staging=streamed
  bool asks_for_pieces = false;
};
[[nodiscard]] std::vector<Parameter> device_parameters();
/// Throws InputError naming the parameter, its value and what is allowed.
[[nodiscard]] DeviceRequest device_request(const Problem& problem);

/// The device of this rank: that of its number among the ranks of its node, modulo the number of devices.
struct DeviceChoice {
  int number = 0;
  int ranks = 1;    ///< on the node
  int sharing = 1;  ///< ranks that use this device
};
/// Collective.
[[nodiscard]] DeviceChoice choose_device(const DeviceBackend& backend, MPI_Comm comm);

/// The same on all ranks: nothing, or why `plans` plans that need so many bytes of the device each cannot be made.
/// Collective.
[[nodiscard]] std::string device_obstacle(const DeviceRequest& request, double bytes_of_a_plan, MPI_Comm comm,
                                          int plans);
/// As Variant::describe_devices().
[[nodiscard]] nlohmann::json describe_device(const DeviceRequest& request, MPI_Comm comm);

/// For a plan that is no chain: its local transforms go to the device and back, one after the other, and its arrays lie
/// in the kind of memory that was asked for. Needed only while the plan is made.
class OffloadedContext {
 public:
  /// `launch_bytes`: of the largest of its launches, which all use the same memory of the device. Collective.
  OffloadedContext(const PlanContext& context, const DeviceRequest& request, std::size_t launch_bytes);
  OffloadedContext(const OffloadedContext&) = delete;
  OffloadedContext& operator=(const OffloadedContext&) = delete;
  [[nodiscard]] PlanContext context() const {
    return {context_.problem, context_.comm, context_.exchange, *library_, context_.shared, &memory_};
  }
  [[nodiscard]] const OffloadingLibrary& library() const { return *library_; }

 private:
  const PlanContext& context_;
  std::unique_ptr<OffloadingLibrary> library_;
  std::function<std::unique_ptr<Buffer>(std::size_t)> memory_;
};

/// What serial-gpu, slab-gpu and pencil-gpu have in common: all but the stages of their chain.
class DeviceVariant : public Variant {
 public:
  [[nodiscard]] std::vector<Kind> kinds() const override { return {Kind::c2c, Kind::r2c}; }
  [[nodiscard]] std::vector<Parameter> parameters() const override { return device_parameters(); }
  [[nodiscard]] std::string default_exchange() const override { return takes_exchange() ? "p2p" : "none"; }
  [[nodiscard]] std::optional<std::string> own_local_fft(const Problem& problem) const override;
  [[nodiscard]] std::optional<std::string> refuses_parameters(const ExchangeMethod& exchange,
                                                              const Problem& problem) const override;
  [[nodiscard]] std::optional<std::string> supports(const Problem& problem, int ranks) const override;
  [[nodiscard]] std::string cannot_run_on(const Problem& problem, MPI_Comm comm, int plans) const override;
  [[nodiscard]] bool emulates(const Problem& problem) const override;
  [[nodiscard]] nlohmann::json describe_devices(const Problem& problem, MPI_Comm comm) const override;
  [[nodiscard]] std::unique_ptr<Plan> make_plan(const PlanContext& context) const override;
  [[nodiscard]] Cost cost(const Problem& problem, int ranks) const override;
  [[nodiscard]] std::vector<RedistributionGroup> redistributions(const Problem& problem, int ranks,
                                                                 int rank) const override {
    return redistributions_between(stages(problem, ranks), rank);
  }

 protected:
  /// As supports(), of the ranks and the grid.
  [[nodiscard]] virtual std::optional<std::string> fits(const Problem& problem, int ranks) const = 0;
  [[nodiscard]] virtual std::vector<ChainStage> stages(const Problem& problem, int ranks) const = 0;
  [[nodiscard]] virtual std::vector<int> grid_of(const Problem& problem, int ranks) const = 0;
  [[nodiscard]] virtual Cost cost_of_whole_exchanges(const Problem& problem, int ranks) const = 0;
  [[nodiscard]] virtual bool single_plan() const { return false; }
};

}  // namespace fourscore
