#pragma once
// Arrays of the host, and what of them lies in a device's memory too.

#include <cstddef>
#include <memory>
#include <vector>

#include "interfaces/device.hpp"

namespace fourscore {

/// An array of the host, page-locked or of another kind, with a mirror of as many bytes in a device's memory where it
/// has one.
class DeviceArray : public Buffer {
 public:
  /// pinned, mirror: null where there is none.
  DeviceArray(std::shared_ptr<Device> device, std::unique_ptr<Buffer> host, std::unique_ptr<Pinned> pinned,
              std::unique_ptr<Buffer> mirror)
      : device_(std::move(device)), host_(std::move(host)), pinned_(std::move(pinned)), mirror_(std::move(mirror)) {}
  [[nodiscard]] void* data() const override { return host_->data(); }
  [[nodiscard]] std::size_t bytes() const override { return host_->bytes(); }
  [[nodiscard]] void* peer(int rank_in_allocating_comm) const override { return host_->peer(rank_in_allocating_comm); }
  [[nodiscard]] MPI_Comm allocating_comm() const override { return host_->allocating_comm(); }
  void sync() const override { host_->sync(); }
  [[nodiscard]] Buffer* mirror() const { return mirror_.get(); }

 private:
  std::shared_ptr<Device> device_;  ///< outlives what it allocated
  std::unique_ptr<Buffer> host_;
  std::unique_ptr<Pinned> pinned_;
  std::unique_ptr<Buffer> mirror_;
};

/// Where the arrays of a plan lie on the device.
class Mirrors {
 public:
  void add(const DeviceArray& array) { arrays_.push_back(&array); }
  /// The device's address for an address in the host's array. Throws std::logic_error where no array has it.
  [[nodiscard]] std::byte* on_device(const void* host) const;
  /// The device's array for an array of the host. Throws std::logic_error for one that is none of the plan.
  [[nodiscard]] Buffer& mirror_of(const Buffer& host) const;
  [[nodiscard]] std::size_t bytes() const;  ///< that all take on the device

 private:
  std::vector<const DeviceArray*> arrays_;
};

}  // namespace fourscore
