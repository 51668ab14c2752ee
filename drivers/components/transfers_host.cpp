#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

#include "components/transfers.hpp"
#include "interfaces/exchange.hpp"

namespace fourscore::component {
namespace {

/// Pinned and managed memory have what the variants' buffers have; pageable memory is what malloc gives.
class HostSide {
 public:
  HostSide(HostMemory memory, std::size_t bytes) {
    if (memory != HostMemory::pageable) {
      buffer_ = ordinary_buffer(bytes);
      return;
    }
    plain_.reset(static_cast<std::byte*>(std::malloc(bytes)));
    if (!plain_) throw std::bad_alloc();
    std::memset(plain_.get(), 0, bytes);
  }
  [[nodiscard]] std::byte* data() const { return buffer_ ? static_cast<std::byte*>(buffer_->data()) : plain_.get(); }

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::unique_ptr<Buffer> buffer_;
  std::unique_ptr<std::byte, Free> plain_;
};

class HostTransfer : public Transfer {
 public:
  explicit HostTransfer(const TransferSpec& spec) : spec_(spec) {
    for (const bool to_device : {true, false}) {
      if (!goes(to_device)) continue;
      Way& way = ways_[count_++];
      way.to_device = to_device;
      way.host = std::make_unique<HostSide>(spec.memory, spec.bytes);
      way.device = ordinary_buffer(spec.bytes);
    }
  }

  void run(std::int64_t iterations) override {
    constexpr std::size_t piece = std::size_t{64} << 10;  // directions take turns
    for (std::int64_t i = 0; i < iterations; ++i)
      for (std::size_t begin = 0; begin < spec_.bytes; begin += piece)
        for (std::size_t w = 0; w < count_; ++w)
          std::memcpy(ways_[w].target() + begin, ways_[w].source() + begin, std::min(piece, spec_.bytes - begin));
  }

  double wrong_bytes() override {
    for (std::size_t w = 0; w < count_; ++w)
      for (std::size_t i = 0; i < spec_.bytes; ++i) ways_[w].source()[i] = transfer_pattern(i, ways_[w].to_device);
    run(1);
    double wrong = 0;
    for (std::size_t w = 0; w < count_; ++w)
      for (std::size_t i = 0; i < spec_.bytes; ++i)
        wrong += ways_[w].target()[i] != transfer_pattern(i, ways_[w].to_device) ? 1 : 0;
    return wrong;
  }

 private:
  struct Way {
    bool to_device = true;
    std::unique_ptr<HostSide> host{};
    std::unique_ptr<Buffer> device{};
    [[nodiscard]] std::byte* far() const { return static_cast<std::byte*>(device->data()); }
    [[nodiscard]] std::byte* source() const { return to_device ? host->data() : far(); }
    [[nodiscard]] std::byte* target() const { return to_device ? far() : host->data(); }
  };
  [[nodiscard]] bool goes(bool to_device) const {
    return spec_.direction != (to_device ? TransferDirection::to_host : TransferDirection::to_device);
  }
  TransferSpec spec_;
  Way ways_[2];
  std::size_t count_ = 0;
};

class HostStandIn : public TransferDevice {
 public:
  [[nodiscard]] std::string name() const override { return "host stand-in"; }
  [[nodiscard]] bool emulated() const override { return true; }
  [[nodiscard]] double free_bytes() const override { return std::numeric_limits<double>::infinity(); }
  [[nodiscard]] std::unique_ptr<Transfer> make(const TransferSpec& spec) const override {
    return std::make_unique<HostTransfer>(spec);
  }
};

}  // namespace

std::unique_ptr<TransferDevice> host_stand_in() { return std::make_unique<HostStandIn>(); }

}  // namespace fourscore::component
