// A pipeline by peer overlaps packing, copies and messages. On a device that does nothing until it is asked whether it
// is done, and then one operation more: so what was sent before what was done is seen.

#include "offload/peer_pipeline.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

namespace fourscore {
namespace {

using Log = std::vector<std::string>;

/// What is queued, in one order that all queues keep.
struct Work {
  std::deque<std::function<void()>> queued;
  std::int64_t done = 0;
  Log log;
  void run_one() {
    if (queued.empty()) return;
    queued.front()();
    queued.pop_front();
    ++done;
  }
};

class LazyMark : public Mark {
 public:
  explicit LazyMark(Work& work) : work_(work) {}
  void record() {
    at_ = -1;
    work_.queued.emplace_back([this] { at_ = work_.done; });
  }
  void synchronise() override {
    while (at_ < 0) work_.run_one();
  }
  [[nodiscard]] bool has_passed() override {
    if (at_ < 0) work_.run_one();
    return at_ >= 0;
  }
  [[nodiscard]] std::int64_t ns_since(const Mark& earlier) const override {
    return at_ - static_cast<const LazyMark&>(earlier).at_;
  }

 private:
  Work& work_;
  std::int64_t at_ = -1;
};

class LazyQueue : public Queue {
 public:
  explicit LazyQueue(Work& work) : work_(work) {}
  void copy(const RowCopy& copy, CopyWay way) override {
    const bool up = way == CopyWay::to_device;
    const std::string name =
        fmt::format("{} {}", up ? "up" : "down", std::to_integer<char>(*(up ? copy.from : copy.to)));
    if (up) work_.log.push_back("queue " + name);
    work_.queued.emplace_back([this, name] { work_.log.push_back(name); });
  }
  void record(Mark& mark) override { static_cast<LazyMark&>(mark).record(); }
  void wait_for(const Mark& /*mark*/) override {}
  void synchronise() override {
    while (!work_.queued.empty()) work_.run_one();
  }
  void put(const std::string& name) {
    work_.queued.emplace_back([this, name] { work_.log.push_back(name); });
  }

 private:
  Work& work_;
};

class NamedCopies : public DeviceCopies {
 public:
  explicit NamedCopies(std::string name) : name_(std::move(name)) {}
  void enqueue(Queue& queue) override { static_cast<LazyQueue&>(queue).put(name_); }

 private:
  std::string name_;
};

class LazyDevice : public Device {
 public:
  explicit LazyDevice(Work& work) : work_(work) {}
  [[nodiscard]] double free_bytes() const override { return 0; }
  [[nodiscard]] bool has_managed_memory() const override { return false; }
  [[nodiscard]] std::unique_ptr<Buffer> allocate(std::size_t bytes) override { return ordinary_buffer(bytes); }
  [[nodiscard]] std::unique_ptr<Buffer> allocate_host(HostMemory /*kind*/, std::size_t bytes) override {
    return ordinary_buffer(bytes);
  }
  [[nodiscard]] std::unique_ptr<Pinned> pin(void* /*data*/, std::size_t /*bytes*/) override { return nullptr; }
  [[nodiscard]] std::unique_ptr<Queue> make_queue() override { return std::make_unique<LazyQueue>(work_); }
  [[nodiscard]] std::unique_ptr<Mark> make_mark() override { return std::make_unique<LazyMark>(work_); }
  [[nodiscard]] std::unique_ptr<DeviceFft> make_fft(const LocalFftSpec& /*spec*/, void* /*in*/,
                                                    void* /*out*/) override {
    return nullptr;
  }
  /// Their first byte is their name.
  [[nodiscard]] std::unique_ptr<DeviceCopies> make_copies(const std::vector<BoxCopy>& copies) override {
    return std::make_unique<NamedCopies>(fmt::format("copy {}", std::to_integer<char>(*copies.front().from)));
  }
  [[nodiscard]] nlohmann::json identity() const override { return nlohmann::json::object(); }
  [[nodiscard]] nlohmann::json state() const override { return nlohmann::json::object(); }

 private:
  Work& work_;
};

/// Each message arrives when one was sent, in reverse order of the peers.
class EchoingExchange : public PeerwiseExchange {
 public:
  EchoingExchange(Work& work, std::size_t peers) : work_(work), peers_(peers) {}
  [[nodiscard]] std::vector<std::span<const std::byte>> sends() const override { return {}; }
  [[nodiscard]] std::vector<std::span<std::byte>> receives() const override { return {}; }
  [[nodiscard]] std::vector<int> receivers() const override { return {}; }
  [[nodiscard]] std::vector<int> senders() const override { return {}; }
  void post_receives() override { work_.log.emplace_back("receive"); }
  void send(std::size_t number) override {
    work_.log.push_back(fmt::format("send {}", number));
    ++sent_;
  }
  [[nodiscard]] std::optional<std::size_t> next_arrival(bool /*waits*/) override {
    if (arrived_ < sent_) return peers_ - 1 - arrived_++;
    return std::nullopt;
  }
  void finish_sends() override {
    work_.log.emplace_back("sent");
    sent_ = arrived_ = 0;
  }

 private:
  Work& work_;
  std::size_t peers_;
  std::size_t sent_ = 0;
  std::size_t arrived_ = 0;
};

class PeerPipelines : public testing::Test {
 protected:
  static constexpr std::size_t peers = 3;

  PeerPipeline pipeline(bool direct) {
    PeerPipeline::Parts parts;
    for (std::size_t i = 0; i < peers; ++i) {
      names_[i] = static_cast<std::byte>('0' + i);
      names_[peers + i] = static_cast<std::byte>('a' + i);
      parts.sends.push_back(part(names_[i]));
      parts.receives.push_back(part(names_[peers + i]));
    }
    parts.rest_of_pack = part(stays_[0]).copies;
    parts.rest_of_unpack = part(stays_[1]).copies;
    return {device_, exchange_, parts, direct};
  }
  static PeerPart part(std::byte& name) { return {{&name, &name, 1}, {{BoxCopy{&name, &name, 8}}}}; }
  [[nodiscard]] std::ptrdiff_t at(const std::string& entry) const {
    EXPECT_EQ(std::ranges::count(work_.log, entry), 1) << entry << " in " << testing::PrintToString(work_.log);
    return std::ranges::find(work_.log, entry) - work_.log.begin();
  }

  Work work_;
  LazyDevice device_{work_};
  EchoingExchange exchange_{work_, peers};
  std::array<std::byte, 2 * peers> names_{};
  std::array<std::byte, 2> stays_{std::byte{'p'}, std::byte{'u'}};
};

TEST_F(PeerPipelines, SendABlockBeforeTheNextIsPackedAndTakeWhatArrives) {
  PeerPipeline one = pipeline(false);
  for (int run = 0; run < 2; ++run) {
    work_.log.clear();
    PhaseClock clock;
    clock.start();
    one.run(clock);
    clock.stop();
    EXPECT_EQ(at("receive"), 0);
    for (const char* peer : {"0", "1", "2"}) {
      const std::string name = peer;
      EXPECT_LT(at("copy " + name), at("send " + name));
    }
    EXPECT_LT(at("send 0"), at("copy 1"));
    EXPECT_LT(at("send 1"), at("copy 2"));
    EXPECT_LT(at("queue up c"), at("send 1"));
    EXPECT_LT(at("copy 2"), at("copy p")) << "the block that stays is packed last";
    EXPECT_LT(at("copy u"), at("copy c")) << "and unpacked first";
    EXPECT_LT(at("copy c"), at("copy b")) << "as they arrived";
    EXPECT_LT(at("copy b"), at("copy a"));
    EXPECT_EQ(work_.log.back(), "sent");
    EXPECT_TRUE(work_.queued.empty());
  }
}

TEST_F(PeerPipelines, SendAllInTheirFirstHalf) {
  PeerPipeline one = pipeline(false);
  PhaseClock clock;
  clock.start();
  one.begin(clock);
  EXPECT_LT(at("send 0"), at("copy 1"));
  EXPECT_EQ(std::ranges::count(work_.log, "copy c"), 0);
  EXPECT_LT(at("send 2"), static_cast<std::ptrdiff_t>(work_.log.size()));
  one.end(clock);
  clock.stop();
  EXPECT_LT(at("send 2"), at("copy c"));
  EXPECT_EQ(work_.log.back(), "sent");
}

/// Messages from and to the device's memory: what arrives must not overwrite what is packed, nor what is unpacked what
/// is sent.
TEST_F(PeerPipelines, OfTheDevicesMemoryReceiveWhenAllIsPackedAndUnpackWhenAllIsSent) {
  PeerPipeline one = pipeline(true);
  PhaseClock clock;
  clock.start();
  one.run(clock);
  clock.stop();
  EXPECT_LT(at("send 0"), at("copy 1"));
  EXPECT_LT(at("copy p"), at("receive"));
  for (const std::string& entry : work_.log) EXPECT_THAT(entry, testing::Not(testing::HasSubstr("down")));
  const auto first_sent = std::ranges::find(work_.log, "sent") - work_.log.begin();
  EXPECT_LT(first_sent, at("copy u"));
  EXPECT_LT(at("copy u"), at("copy a"));
}

}  // namespace
}  // namespace fourscore
