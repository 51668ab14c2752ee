#pragma once
// A transform chain whose local transforms run on a device, and what the variants on devices have in common.

#include <memory>
#include <string>
#include <vector>

#include "chain/device_request.hpp"
#include "chain/transform_chain.hpp"
#include "interfaces/device.hpp"
#include "offload/device_arrays.hpp"
#include "offload/offloaded_fft.hpp"

namespace fourscore {

/// DeviceUse by what a problem asks of a device, and the bytes that its plan takes there.
class RequestedDevice : public DeviceUse {
 public:
  [[nodiscard]] bool emulates(const Problem& problem) const final;
  [[nodiscard]] nlohmann::json describe(const Problem& problem, MPI_Comm comm) const final;
  [[nodiscard]] Reason obstacle(const Problem& problem, MPI_Comm comm, int plans) const final;

 protected:
  ~RequestedDevice() = default;
  [[nodiscard]] virtual DeviceRequest request(const Problem& problem) const { return device_request(problem); }
  /// At the least, of one plan of this rank in one direction.
  [[nodiscard]] virtual double bytes_on_device(const Problem& problem, int ranks, int rank) const = 0;
  /// The bytes by which the arrays that neighbours read are larger.
  [[nodiscard]] virtual double padding_bytes(Device& /*device*/, const Problem& /*problem*/, int /*ranks*/,
                                             int /*rank*/) const {
    return 0;
  }
  /// Bytes of the work areas that the transforms of such a plan share. 0 where a library has memory of its own.
  [[nodiscard]] virtual std::size_t work_area_bytes(Device& /*device*/, const Problem& /*problem*/, int /*ranks*/,
                                                    int /*rank*/) const {
    return 0;
  }

 private:
  [[nodiscard]] Reason lacking_device(const Problem& problem, const DeviceRequest& request, MPI_Comm comm,
                                      int plans) const;
};

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

/// What serial-gpu, slab-gpu and pencil-gpu have in common: all but the grid and the stages of their chain.
class DeviceVariant : public ChainVariant, protected RequestedDevice {
 public:
  [[nodiscard]] VariantFacts facts() const override { return {{Kind::c2c, Kind::r2c}, "p2p", device_parameters()}; }
  [[nodiscard]] LocalFftUse local_fft(const Problem& problem) const override;
  [[nodiscard]] Reason refuses(const ExchangeMethod& exchange, const Problem& problem) const override;
  [[nodiscard]] Reason refuses_fields(const Problem& problem) const override {
    return Variant::refuses_fields(problem);
  }
  [[nodiscard]] Reason supports(const Problem& problem, int ranks) const override;
  [[nodiscard]] const DeviceUse* device_use(const Problem& /*problem*/) const override { return this; }
  [[nodiscard]] std::unique_ptr<Plan> make_plan(const PlanContext& context) const override;
  [[nodiscard]] Cost cost(const Problem& problem, int ranks) const override;

 protected:
  /// As supports(), of the ranks and the grid.
  [[nodiscard]] virtual Reason fits(const Problem& problem, int ranks) const = 0;
  [[nodiscard]] virtual Cost cost_of_whole_exchanges(const Problem& problem, int ranks) const = 0;

 private:
  [[nodiscard]] bool has_stages_to_merge(const Problem& problem, int ranks) const;
  [[nodiscard]] double bytes_on_device(const Problem& problem, int ranks, int rank) const override;
  [[nodiscard]] double padding_bytes(Device& device, const Problem& problem, int ranks, int rank) const override;
  [[nodiscard]] std::size_t work_area_bytes(Device& device, const Problem& problem, int ranks, int rank) const override;
};

}  // namespace fourscore
