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

Parameter share_device_parameter() {
  return {"share-device", "whether ranks of a node may use one device together", "no", {"no", "yes"}};
}

}  // namespace fourscore
