// Copies between the host and a device. Where there is no GPU a stand-in copies within the host's memory: its numbers
// are marked as emulated, and say nothing about a bus.
//
// Bytes are those that arrive: n in one direction, 2 n for both at once.

#include <fmt/format.h>

#include <map>
#include <memory>

#include "components/component_main.hpp"
#include "components/transfers.hpp"

namespace fourscore::component {
namespace {

constexpr Index max_bytes = Index{1} << 50;

const std::map<std::string, TransferDirection> directions{
    {"h2d", TransferDirection::to_device}, {"d2h", TransferDirection::to_host}, {"both", TransferDirection::both}};
const std::map<std::string, HostMemory> memories{
    {"pageable", HostMemory::pageable}, {"pinned", HostMemory::pinned}, {"managed", HostMemory::managed}};

class CopyWork : public Work {
 public:
  explicit CopyWork(std::unique_ptr<Transfer> transfer) : transfer_(std::move(transfer)) {}
  double error() override { return transfer_->wrong_bytes(); }
  void run(std::int64_t iterations) override { transfer_->run(iterations); }

 private:
  std::unique_ptr<Transfer> transfer_;
};

class CopyBench : public Program {
 public:
  [[nodiscard]] ProgramCard card() const override {
    return {"copy_bench",
            "Copies between host and GPU, in each direction and in both at once",
            "CUDA runtime API, memory management; OpenCL 2.0, clEnqueueWriteBuffer",
            false,
            {{"device", "auto: a GPU, or the stand-in where there is none", "auto", device_choices(), false},
             {"directions", "host to device, device to host, both at once", "all", {"h2d", "d2h", "both"}, true},
             {"memory", "of the host", "all", {"pageable", "pinned", "managed"}, true},
             {"size",
              "bytes in each direction, joined by commas; curve: 4 KiB to 1 GiB by powers of four",
              "curve",
              {},
              false}}};
  }

  [[nodiscard]] Reason refuses(const Parameters& parameters, int /*ranks*/) const override {
    (void)sizes_of(parameters);
    const DeviceBackend& backend = chosen_device(parameters.text("device"));
    if (const std::string reason = backend.unavailable(); !reason.empty())
      return fmt::format("no device of {} can be used: {}", backend.card().name, reason);
    if (parameters.text("memory") == "managed" && !transfer_device(backend, 0)->has_managed_memory())
      return fmt::format("{} has no managed memory", transfer_device(backend, 0)->name());
    return std::nullopt;
  }

  void add_benchmarks(Session& session) const override {
    const Parameters& parameters = session.parameters();
    const std::shared_ptr<TransferDevice> device =
        transfer_device(chosen_device(parameters.text("device")), session.rank());
    for (const std::string& memory : parameters.list("memory")) {
      if (memory == "managed" && !device->has_managed_memory()) continue;  // among others: they are measured
      for (const std::string& direction : parameters.list("directions"))
        for (const Index bytes : sizes_of(parameters)) add(session, device, memory, direction, bytes);
    }
  }

 private:
  [[nodiscard]] static std::vector<Index> sizes_of(const Parameters& parameters) {
    if (parameters.text("size") != "curve") return parameters.sizes("size", 1, max_bytes);
    std::vector<Index> sizes;
    for (Index bytes = Index{4} << 10; bytes <= Index{1} << 30; bytes *= 4) sizes.push_back(bytes);
    return sizes;
  }

  static void add(Session& session, const std::shared_ptr<TransferDevice>& device, const std::string& memory,
                  const std::string& direction, Index bytes) {
    const int ways = direction == "both" ? 2 : 1;
    const double size = static_cast<double>(bytes);
    const double on_host = ways * size * (device->emulated() ? 2 : 1);
    session.require_memory(on_host, fmt::format("buffers for {} of {}", direction, size_text(size)));
    // A device maps managed memory too, and may hang with more of it than it has.
    const double on_device = ways * size * (memory == "managed" ? 2 : 1);
    if (on_device > device->free_bytes())
      throw InputError(fmt::format("{} buffers for {} of {} need {} on {}, of which {} are free; expected less", memory,
                                   direction, size_text(size), size_text(on_device), device->name(),
                                   size_text(device->free_bytes())));
    Benchmark benchmark;
    benchmark.kernel = "copy";
    benchmark.name = fmt::format("{}/{}/{}", direction, memory, bytes);
    benchmark.labels = {{"direction", direction}, {"memory", memory}, {"device", device->name()}};
    benchmark.numbers = {{"size_bytes", size}, {"working_set_bytes", 2 * ways * size}, {"bytes", ways * size}};
    benchmark.emulated = device->emulated();
    const TransferSpec spec{directions.at(direction), memories.at(memory), static_cast<std::size_t>(bytes)};
    benchmark.make = [device, spec] { return std::make_unique<CopyWork>(device->make(spec)); };
    session.add(std::move(benchmark));
  }
};

}  // namespace
}  // namespace fourscore::component

int main(int argc, char** argv) { return fourscore::component::run(argc, argv, fourscore::component::CopyBench()); }
