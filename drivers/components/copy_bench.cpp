// Copies between the host and a GPU. Where there is no GPU a stand-in copies within the host's memory: its numbers are
// marked as emulated, and say nothing about a bus.
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
            "CUDA runtime API, memory management",
            false,
            {{"device", "auto: a GPU, or the stand-in where there is none", "auto", {"auto", "cuda", "host"}, false},
             {"directions", "host to device, device to host, both at once", "all", {"h2d", "d2h", "both"}, true},
             {"memory", "of the host", "all", {"pageable", "pinned", "managed"}, true},
             {"size",
              "bytes in each direction, joined by commas; curve: 4 KiB to 1 GiB by powers of four",
              "curve",
              {},
              false}}};
  }

  [[nodiscard]] std::optional<std::string> refuses(const Parameters& parameters, int /*ranks*/) const override {
    (void)sizes_of(parameters);
    if (parameters.text("device") != "cuda") return std::nullopt;
    const std::string reason = cuda_unavailable();
    return reason.empty() ? std::nullopt : std::optional("no GPU can be used: " + reason);
  }

  void add_benchmarks(Session& session) const override {
    const Parameters& parameters = session.parameters();
    const std::string& asked = parameters.text("device");
    const bool real = asked == "cuda" || (asked == "auto" && cuda_unavailable().empty());
    const std::shared_ptr<TransferDevice> device = real ? cuda_device(session.rank()) : host_stand_in();
    for (const std::string& memory : parameters.list("memory"))
      for (const std::string& direction : parameters.list("directions"))
        for (const Index bytes : sizes_of(parameters)) add(session, device, memory, direction, bytes);
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
