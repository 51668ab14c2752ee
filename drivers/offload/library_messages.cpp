#include "offload/library_messages.hpp"

#include <stdexcept>
#include <utility>
#include <vector>

#include "mpi/handles.hpp"
#include "offload/ordered_copies.hpp"
#include "offload/phased_work.hpp"

namespace fourscore {

namespace {

std::unique_ptr<DeviceCopies> copies_of(Device& device, const std::vector<PackedMemory::Copy>& copies) {
  std::vector<OrderedCopy> list;
  for (const PackedMemory::Copy& copy : copies)
    if (copy.plan->bytes() > 0)
      list.push_back({{copy.from, copy.to, copy.plan->run_bytes(), copy.plan->loops()}, copy.overlapping});
  return ordered_copies(device, list);
}

class LibraryMessages : public Exchange {
 public:
  LibraryMessages(std::shared_ptr<Device> device, std::shared_ptr<DeviceMessages> messages, MPI_Comm comm,
                  Exchange& inner, const ExchangeSpec& spec)
      : device_(std::move(device)), messages_(std::move(messages)), queue_(device_->make_queue()), work_(*device_, 2) {
    const auto memory = inner.packed_memory();
    const PeerwiseExchange* const by_peer = inner.by_peer();
    if (!memory || by_peer == nullptr) throw std::logic_error("an exchange whose messages do not go one by one");
    declared() = inner.facts();
    pack_ = copies_of(*device_, memory->pack);
    unpack_ = copies_of(*device_, memory->unpack);
    const std::vector<int> ranks = mpi::translate_ranks(spec.comm, comm);
    const auto add = [&](std::vector<DeviceMessage>& list, const auto& places, const std::vector<int>& others) {
      for (std::size_t i = 0; i < places.size(); ++i)
        list.push_back({const_cast<std::byte*>(places[i].data()), places[i].size(),
                        ranks.at(static_cast<std::size_t>(others[i]))});
    };
    add(sends_, by_peer->sends(), by_peer->receivers());
    add(receives_, by_peer->receives(), by_peer->senders());
  }

  void pack() override { alone(pack_); }
  void unpack() override { alone(unpack_); }
  void start() override { queue_messages(); }
  void finish() override { queue_->synchronise(); }

  void run(PhaseClock& clock) override {
    const Region region(clock, Phase::exchange);
    queue_sending();
    queue_unpacking();
    work_.settle(clock);
  }
  void begin(PhaseClock& clock) override {
    const Region region(clock, Phase::exchange);
    queue_sending();
  }
  void end(PhaseClock& clock) override {
    const Region region(clock, Phase::exchange);
    queue_unpacking();
    work_.settle(clock);
  }

 private:
  void alone(const std::unique_ptr<DeviceCopies>& copies) {
    if (!copies) return;
    copies->enqueue(*queue_);
    queue_->synchronise();
  }
  void queue_messages() {
    if (!sends_.empty() || !receives_.empty()) messages_->enqueue(*queue_, sends_, receives_);
  }
  void queue_sending() {
    if (pack_) work_.span(*queue_, Phase::pack, [&] { pack_->enqueue(*queue_); });
    queue_messages();
  }
  /// Marked also where there is nothing to unpack: the wait is for the messages too.
  void queue_unpacking() {
    work_.span(*queue_, Phase::unpack, [&] {
      if (unpack_) unpack_->enqueue(*queue_);
    });
  }

  std::shared_ptr<Device> device_;
  std::shared_ptr<DeviceMessages> messages_;
  std::unique_ptr<Queue> queue_;
  PhasedWork work_;
  std::unique_ptr<DeviceCopies> pack_;
  std::unique_ptr<DeviceCopies> unpack_;
  std::vector<DeviceMessage> sends_;
  std::vector<DeviceMessage> receives_;
};

}  // namespace

std::unique_ptr<Exchange> library_messages(std::shared_ptr<Device> device, std::shared_ptr<DeviceMessages> messages,
                                           MPI_Comm comm, Exchange& inner, const ExchangeSpec& spec) {
  return std::make_unique<LibraryMessages>(std::move(device), std::move(messages), comm, inner, spec);
}

}  // namespace fourscore
