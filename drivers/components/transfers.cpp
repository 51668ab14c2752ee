#include "components/transfers.hpp"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>
#include <vector>

#include "interfaces/device.hpp"

namespace fourscore::component {
namespace {

class DeviceTransfer : public Transfer {
 public:
  DeviceTransfer(std::shared_ptr<Device> device, const TransferSpec& spec)
      : device_(std::move(device)), bytes_(spec.bytes) {
    for (const CopyWay way : {CopyWay::to_device, CopyWay::to_host}) {
      const bool up = way == CopyWay::to_device;
      if (spec.direction == (up ? TransferDirection::to_host : TransferDirection::to_device)) continue;
      ways_.push_back(
          {way, device_->allocate_host(spec.memory, bytes_), device_->allocate(bytes_), device_->make_queue()});
    }
  }

  void run(std::int64_t iterations) override {
    for (std::int64_t i = 0; i < iterations; ++i) {
      for (const Way& way : ways_) copy(way, way.way, way.host->data());
      for (const Way& way : ways_) way.queue->synchronise();
    }
  }

  double wrong_bytes() override {
    std::vector<std::byte> other(bytes_);
    const auto move = [&](const Way& way, CopyWay direction) {
      copy(way, direction, other.data());
      way.queue->synchronise();
    };
    for (const Way& way : ways_) {
      const bool up = way.way == CopyWay::to_device;
      auto* const source = up ? static_cast<std::byte*>(way.host->data()) : other.data();
      for (std::size_t i = 0; i < bytes_; ++i) source[i] = transfer_pattern(i, up);
      if (!up) move(way, CopyWay::to_device);
      if (!up) std::memset(way.host->data(), 0, bytes_);
    }
    run(1);
    double wrong = 0;
    for (const Way& way : ways_) {
      const bool up = way.way == CopyWay::to_device;
      if (up) std::ranges::fill(other, std::byte{0});
      if (up) move(way, CopyWay::to_host);
      const auto* const arrived = up ? other.data() : static_cast<std::byte*>(way.host->data());
      for (std::size_t i = 0; i < bytes_; ++i) wrong += arrived[i] != transfer_pattern(i, up) ? 1 : 0;
    }
    return wrong;
  }

 private:
  struct Way {
    CopyWay way;
    std::unique_ptr<Buffer> host;
    std::unique_ptr<Buffer> device;
    std::unique_ptr<Queue> queue;
  };
  void copy(const Way& way, CopyWay direction, void* host_memory) const {
    auto* const host = static_cast<std::byte*>(host_memory);
    auto* const there = static_cast<std::byte*>(way.device->data());
    const bool up = direction == CopyWay::to_device;
    way.queue->copy({up ? there : host, up ? host : there, bytes_, 1, bytes_, bytes_}, direction);
  }

  std::shared_ptr<Device> device_;  ///< outlives what it allocated
  std::size_t bytes_;
  std::vector<Way> ways_;
};

class BackendDevice : public TransferDevice {
 public:
  BackendDevice(const DeviceBackend& backend, int number)
      : emulated_(backend.emulated()),
        device_(backend.make_device(number, LocalFftRegistry::instance().get("fftw", "local FFT library"))) {}
  [[nodiscard]] std::string name() const override { return device_->identity().at("model").get<std::string>(); }
  [[nodiscard]] bool emulated() const override { return emulated_; }
  [[nodiscard]] double free_bytes() const override { return device_->free_bytes(); }
  [[nodiscard]] bool has_managed_memory() const override { return device_->has_managed_memory(); }
  [[nodiscard]] std::unique_ptr<Transfer> make(const TransferSpec& spec) const override {
    return std::make_unique<DeviceTransfer>(device_, spec);
  }

 private:
  bool emulated_;
  std::shared_ptr<Device> device_;
};

}  // namespace

std::unique_ptr<TransferDevice> transfer_device(const DeviceBackend& backend, int rank) {
  if (const std::string reason = backend.unavailable(); !reason.empty()) throw std::runtime_error(reason);
  return std::make_unique<BackendDevice>(backend, rank % backend.count().value_or(1));
}

}  // namespace fourscore::component
