#pragma once
// A plan's input and output, moved between the host's memory and a device's.

#include <cstddef>
#include <memory>

#include "interfaces/plan.hpp"
#include "offload/phased_work.hpp"

namespace fourscore {

/// The device outlives it.
class MovedData final : public DeviceData {
 public:
  struct Place {
    std::byte* host = nullptr;
    std::byte* device = nullptr;
    std::size_t bytes = 0;
  };
  MovedData(Device& device, const Place& input, const Place& output);

  void keep_in_place(bool stays) override { stays_ = stays; }
  void place_input() override;
  void fetch_output() override;
  /// What a run begins and ends with: phases h2d and d2h. Nothing where the data stays.
  void bring_input(PhaseClock& clock);
  void return_output(PhaseClock& clock);

 private:
  void move(Phase phase);
  void move_timed(Phase phase, PhaseClock& clock);

  Place input_;
  Place output_;
  std::unique_ptr<Queue> queue_;
  PhasedWork work_;
  bool stays_ = false;
};

}  // namespace fourscore
