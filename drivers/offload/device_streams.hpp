#pragma once
// The queues of a plan's transforms, and the work areas that these share.

#include <cstddef>
#include <memory>
#include <vector>

#include "interfaces/device.hpp"

namespace fourscore {

/// What is queued on one of them runs in turn, so that all transforms on it have the same work area.
class DeviceStreams {
 public:
  DeviceStreams(std::shared_ptr<Device> device, int count);
  [[nodiscard]] std::size_t count() const { return streams_.size(); }
  [[nodiscard]] Queue& queue(std::size_t stream) const { return *streams_[stream].queue; }
  /// It will be queued on this stream alone, and lives until share_areas() at least.
  void add(std::size_t stream, DeviceFft& fft);
  /// All are added: allocates an area for each stream, as large as the largest of its transforms takes, and gives it to
  /// them. Returns the bytes of all areas.
  std::size_t share_areas();
  void synchronise() const;

 private:
  struct Stream {
    std::unique_ptr<Queue> queue;
    std::unique_ptr<Buffer> area;    ///< null: none of its transforms takes one
    std::vector<DeviceFft*> takers;  ///< until they have it
  };
  std::shared_ptr<Device> device_;
  std::vector<Stream> streams_;
};

}  // namespace fourscore
