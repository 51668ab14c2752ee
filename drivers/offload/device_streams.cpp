#include "offload/device_streams.hpp"

#include <algorithm>
#include <utility>

namespace fourscore {

DeviceStreams::DeviceStreams(std::shared_ptr<Device> device, int count) : device_(std::move(device)) {
  for (int i = 0; i < count; ++i) streams_.emplace_back().queue = device_->make_queue();
}

void DeviceStreams::add(std::size_t stream, DeviceFft& fft) { streams_[stream].takers.push_back(&fft); }

std::size_t DeviceStreams::share_areas() {
  std::size_t all = 0;
  for (Stream& stream : streams_) {
    std::size_t most = 0;
    for (const DeviceFft* fft : stream.takers) most = std::max(most, fft->work_area_bytes());
    if (most > 0) stream.area = device_->allocate(most);
    for (DeviceFft* fft : std::exchange(stream.takers, {}))
      fft->use_work_area(stream.area ? stream.area->data() : nullptr);
    all += most;
  }
  return all;
}

void DeviceStreams::synchronise() const {
  for (const Stream& stream : streams_) stream.queue->synchronise();
}

}  // namespace fourscore
