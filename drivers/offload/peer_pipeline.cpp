#include "offload/peer_pipeline.hpp"

namespace fourscore {

void copy_stretch(Queue& queue, const Stretch& stretch, CopyWay way) {
  const bool up = way == CopyWay::to_device;
  queue.copy({up ? stretch.device : stretch.host, up ? stretch.host : stretch.device, stretch.bytes, 1, stretch.bytes,
              stretch.bytes},
             way);
}

PeerPipeline::PeerPipeline(Device& device, PeerwiseExchange& exchange, const Parts& parts, bool direct)
    : exchange_(exchange),
      direct_(direct),
      within_(device.make_queue()),
      down_(device.make_queue()),
      up_(device.make_queue()),
      rest_of_pack_(ordered_copies(device, parts.rest_of_pack)),
      rest_of_unpack_(ordered_copies(device, parts.rest_of_unpack)),
      all_packed_(device.make_mark()),
      all_down_(device.make_mark()),
      work_(device, 2 * (parts.sends.size() + parts.receives.size()) + 2) {
  for (const PeerPart& part : parts.sends)
    sends_.push_back({ordered_copies(device, part.copies), part.stretch, device.make_mark(), device.make_mark()});
  for (const PeerPart& part : parts.receives)
    receives_.push_back({part.stretch, device.make_mark(), ordered_copies(device, part.copies)});
}

void PeerPipeline::run(PhaseClock& clock) {
  const Region region(clock, Phase::exchange);
  start(true);
  finish();
  work_.settle(clock);
  exchange_.finish_sends();
}

void PeerPipeline::begin(PhaseClock& clock) {
  const Region region(clock, Phase::exchange);
  start(false);
  work_.settle(clock);
}

void PeerPipeline::end(PhaseClock& clock) {
  const Region region(clock, Phase::exchange);
  finish();
  work_.settle(clock);
  exchange_.finish_sends();
}

/// Directly received, a message would overwrite what is still to be packed.
void PeerPipeline::start(bool takes_arrivals) {
  if (!direct_) exchange_.post_receives();
  queue_packing();
  for (std::size_t number = 0; number < sends_.size(); ++number) {
    Mark& ready = direct_ ? *sends_[number].packed : *sends_[number].ready;
    if (direct_ || !takes_arrivals) ready.synchronise();
    while (!ready.has_passed())
      if (const auto arrived = exchange_.next_arrival(false)) take(*arrived);
    exchange_.send(number);
  }
  if (!direct_) return;
  all_packed_->synchronise();
  exchange_.post_receives();
}

/// What arrives overwrites what was packed, and what is unpacked overwrites what was sent.
void PeerPipeline::queue_packing() {
  for (Send& send : sends_) {
    if (send.pack) work_.span(*within_, Phase::pack, [&] { send.pack->enqueue(*within_); });
    within_->record(*send.packed);
    if (direct_) continue;
    down_->wait_for(*send.packed);
    work_.span(*down_, Phase::d2h, [&] { copy_stretch(*down_, send.down, CopyWay::to_host); });
    down_->record(*send.ready);
  }
  if (rest_of_pack_) work_.span(*within_, Phase::pack, [&] { rest_of_pack_->enqueue(*within_); });
  within_->record(*all_packed_);
  if (direct_) return;
  up_->wait_for(*all_packed_);
  down_->record(*all_down_);
  within_->wait_for(*all_down_);
  if (rest_of_unpack_) work_.span(*within_, Phase::unpack, [&] { rest_of_unpack_->enqueue(*within_); });
}

void PeerPipeline::take(std::size_t number) {
  if (direct_) return;
  Receive& receive = receives_[number];
  work_.span(*up_, Phase::h2d, [&] { copy_stretch(*up_, receive.up, CopyWay::to_device); });
  up_->record(*receive.landed);
  within_->wait_for(*receive.landed);
  queue_unpacking(receive);
}

void PeerPipeline::queue_unpacking(Receive& receive) {
  if (receive.unpack) work_.span(*within_, Phase::unpack, [&] { receive.unpack->enqueue(*within_); });
}

/// Directly sent, a message is gone only when MPI says so.
void PeerPipeline::finish() {
  while (const auto arrived = exchange_.next_arrival(true)) take(*arrived);
  if (!direct_) return;
  exchange_.finish_sends();
  if (rest_of_unpack_) work_.span(*within_, Phase::unpack, [&] { rest_of_unpack_->enqueue(*within_); });
  for (Receive& receive : receives_) queue_unpacking(receive);
}

}  // namespace fourscore
