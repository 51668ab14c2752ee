#include "offload/moved_data.hpp"

namespace fourscore {

MovedData::MovedData(Device& device, const Place& input, const Place& output)
    : input_(input), output_(output), queue_(device.make_queue()), work_(device, 1) {}

void MovedData::move(Phase phase) {
  const bool up = phase == Phase::h2d;
  const Place& place = up ? input_ : output_;
  if (place.bytes == 0) return;
  queue_->copy(
      {up ? place.device : place.host, up ? place.host : place.device, place.bytes, 1, place.bytes, place.bytes},
      up ? CopyWay::to_device : CopyWay::to_host);
}

void MovedData::move_timed(Phase phase, PhaseClock& clock) {
  if (stays_) return;
  const DeviceRegion region(clock, phase);
  work_.span(*queue_, phase, [&] { move(phase); });
  work_.settle(clock);
}

void MovedData::place_input() {
  if (!stays_) return;
  move(Phase::h2d);
  queue_->synchronise();
}

void MovedData::fetch_output() {
  if (!stays_) return;
  move(Phase::d2h);
  queue_->synchronise();
}

void MovedData::bring_input(PhaseClock& clock) { move_timed(Phase::h2d, clock); }

void MovedData::return_output(PhaseClock& clock) { move_timed(Phase::d2h, clock); }

}  // namespace fourscore
