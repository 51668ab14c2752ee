// A device `fake-gpu`: the stand-in's memory, copies and transforms, with what the driver tells of a GPU read as for a
// real one, from the library that NVML's name leads to.

#include <nlohmann/json.hpp>

#include "devices/cuda/nvml.hpp"
#include "interfaces/device.hpp"

namespace fourscore {
namespace {

const DeviceBackend& stand_in() { return DeviceRegistry::instance().get("host", "device"); }

class FakeGpu : public Device {
 public:
  explicit FakeGpu(std::unique_ptr<Device> host) : host_(std::move(host)) {}
  [[nodiscard]] double free_bytes() const override { return host_->free_bytes(); }
  [[nodiscard]] bool has_managed_memory() const override { return host_->has_managed_memory(); }
  [[nodiscard]] std::unique_ptr<Buffer> allocate(std::size_t bytes) override { return host_->allocate(bytes); }
  [[nodiscard]] std::unique_ptr<Buffer> allocate_host(HostMemory kind, std::size_t bytes) override {
    return host_->allocate_host(kind, bytes);
  }
  [[nodiscard]] std::unique_ptr<Pinned> pin(void* data, std::size_t bytes) override { return host_->pin(data, bytes); }
  [[nodiscard]] std::unique_ptr<Queue> make_queue() override { return host_->make_queue(); }
  [[nodiscard]] std::unique_ptr<Mark> make_mark() override { return host_->make_mark(); }
  [[nodiscard]] std::unique_ptr<DeviceFft> make_fft(const LocalFftSpec& spec, void* in, void* out) override {
    return host_->make_fft(spec, in, out);
  }
  [[nodiscard]] std::unique_ptr<DeviceCopies> make_copies(const std::vector<BoxCopy>& copies) override {
    return host_->make_copies(copies);
  }
  [[nodiscard]] nlohmann::json identity() const override {
    nlohmann::json known = cuda::nvml_identity(bus);
    known["model"] = "fake GPU";
    known["numa_node"] = 0;
    return known;
  }
  [[nodiscard]] nlohmann::json state() const override { return cuda::nvml_state(bus); }

 private:
  static constexpr const char* bus = "0000:3B:00.0";
  std::unique_ptr<Device> host_;
};

class FakeGpuBackend : public DeviceBackend {
 public:
  [[nodiscard]] Card card() const override { return {"fake-gpu", "the stand-in, with sensors", ""}; }
  [[nodiscard]] std::string unavailable() const override { return {}; }
  [[nodiscard]] bool emulated() const override { return true; }
  [[nodiscard]] std::string local_fft() const override { return stand_in().local_fft(); }
  [[nodiscard]] std::optional<int> count() const override { return stand_in().count(); }
  [[nodiscard]] std::unique_ptr<Device> make_device(int number, const LocalFftLibrary& fft) const override {
    return std::make_unique<FakeGpu>(stand_in().make_device(number, fft));
  }
  [[nodiscard]] bool mpi_takes_its_memory() const override { return false; }
  [[nodiscard]] nlohmann::json versions() const override {
    return {{"driver_api", "13.0"}, {"runtime", "13.0"}, {"cufft", "12.0.0"}};
  }
};

FOURSCORE_REGISTER_DEVICE(FakeGpuBackend);

}  // namespace
}  // namespace fourscore
