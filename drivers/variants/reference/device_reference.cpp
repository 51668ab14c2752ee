#include "variants/reference/device_reference.hpp"

namespace fourscore {

DeviceRequest cuda_request(const Problem& problem) {
  Problem asks;
  asks.parameters["device"] = "cuda";
  if (const auto share = problem.parameters.find("share-device"); share != problem.parameters.end())
    asks.parameters.insert(*share);
  DeviceRequest request = device_request(asks);
  request.staging = DataStaging::resident;
  return request;
}

std::unique_ptr<Device> cuda_device(const PlanContext& context) {
  const DeviceRequest request = cuda_request({});
  return request.backend->make_device(choose_device(*request.backend, context.comm).number, context.local_fft);
}

void DeviceReferencePlan::run_first(void* source, std::size_t source_bytes, void* result, std::size_t result_bytes) {
  const auto place = [](void* host, void* device, std::size_t bytes) -> MovedData::Place {
    return {static_cast<std::byte*>(host), static_cast<std::byte*>(device), bytes};
  };
  moved_.emplace(*device_, place(input(), source, source_bytes), place(output(), result, result_bytes));
  PhaseClock silent(false);
  moved_->bring_input(silent);
  run();
}

void DeviceReferencePlan::execute(PhaseClock& clock) {
  moved_->bring_input(clock);
  run();
  moved_->return_output(clock);
}

Parameter share_device_parameter() {
  return {"share-device", "whether ranks of a node may use one device together", "no", {"no", "yes"}};
}

}  // namespace fourscore
