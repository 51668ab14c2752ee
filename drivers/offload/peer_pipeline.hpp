#pragma once
// An exchange of data on a device that goes by peer: while one block is packed, another is copied to the host, a third
// is on its way, and what has arrived is copied to the device and unpacked.

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "interfaces/device.hpp"
#include "interfaces/exchange.hpp"
#include "offload/ordered_copies.hpp"
#include "offload/phased_work.hpp"

namespace fourscore {

/// A stretch of the host's array, and the same on the device.
struct Stretch {
  std::byte* host = nullptr;
  std::byte* device = nullptr;
  std::size_t bytes = 0;
};
void copy_stretch(Queue& queue, const Stretch& stretch, CopyWay way);

/// What one message leaves or reaches, and the copies on the device before or after it.
struct PeerPart {
  Stretch stretch;
  std::vector<OrderedCopy> copies;
};

/// The messages are those of `exchange`, in its order, from and to the host's stretches; `direct`: the device's.
class PeerPipeline {
 public:
  /// The rest of the copies on the device is of no message. It packs after all others, and unpacks before them.
  struct Parts {
    std::vector<PeerPart> sends;
    std::vector<PeerPart> receives;
    std::vector<OrderedCopy> rest_of_pack;
    std::vector<OrderedCopy> rest_of_unpack;
  };
  PeerPipeline(Device& device, PeerwiseExchange& exchange, const Parts& parts, bool direct);

  /// Each moment counts for what the device does then, else as exchange.
  void run(PhaseClock& clock);
  /// The same in two halves: until all is sent, and from then on.
  void begin(PhaseClock& clock);
  void end(PhaseClock& clock);

 private:
  struct Send {
    std::unique_ptr<DeviceCopies> pack;  ///< null: it is contiguous
    Stretch down;
    std::unique_ptr<Mark> packed;
    std::unique_ptr<Mark> ready;  ///< may be sent
  };
  struct Receive {
    Stretch up;
    std::unique_ptr<Mark> landed;
    std::unique_ptr<DeviceCopies> unpack;
  };
  void start(bool takes_arrivals);
  void queue_packing();
  void queue_unpacking(Receive& receive);
  void take(std::size_t number);
  void finish();

  PeerwiseExchange& exchange_;
  bool direct_;
  std::unique_ptr<Queue> within_;  ///< packs and unpacks
  std::unique_ptr<Queue> down_;
  std::unique_ptr<Queue> up_;
  std::vector<Send> sends_;
  std::vector<Receive> receives_;
  std::unique_ptr<DeviceCopies> rest_of_pack_;
  std::unique_ptr<DeviceCopies> rest_of_unpack_;
  std::unique_ptr<Mark> all_packed_;
  std::unique_ptr<Mark> all_down_;
  PhasedWork work_;
};

}  // namespace fourscore
