// What every device promises to those who queue work on it. On the stand-in, and on the device that
// FOURSCORE_TEST_DEVICE names: a real one, or CUDA on a runtime that pretends (tests/support/pretended_cuda).

#include "interfaces/device.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "devices/cuda/boxes.hpp"
#include "offload/ordered_copies.hpp"
#include "support/on_device.hpp"

namespace fourscore {
namespace {

class Devices : public testing::Test {
 protected:
  const DeviceBackend& backend_ = DeviceRegistry::instance().get(test::on_device({}).at("device"), "device");
  const std::unique_ptr<Device> device_ = backend_.make_device(0, LocalFftRegistry::instance().get("fftw", "library"));
  const std::unique_ptr<Queue> queue_ = device_->make_queue();

  /// Both live until the queue is synchronised.
  void copy(void* to, const void* from, std::size_t bytes, CopyWay way) {
    queue_->copy({static_cast<std::byte*>(to), static_cast<const std::byte*>(from), bytes, 1, bytes, bytes}, way);
  }
  /// A copy of all of `from` within the device's memory.
  [[nodiscard]] std::unique_ptr<DeviceCopies> copies(const Buffer& from, Buffer& to) {
    return device_->make_copies({{static_cast<const std::byte*>(from.data()),
                                  static_cast<std::byte*>(to.data()),
                                  from.bytes(),
                                  {{{1, 0, 0}, {1, 0, 0}, {1, 0, 0}}}}});
  }
};

TEST_F(Devices, CopyRowsAndLeaveWhatIsBetweenThem) {
  constexpr std::size_t rows = 3;
  constexpr std::size_t row_bytes = 24;
  for (const std::size_t pitch : {row_bytes, std::size_t{40}, std::size_t{4096}}) {
    const std::size_t bytes = rows * pitch;
    const auto there = device_->allocate(bytes);
    std::vector<char> sent(bytes);
    for (std::size_t i = 0; i < bytes; ++i) sent[i] = static_cast<char>(i % 101);
    std::vector<char> received(bytes, -1);
    const auto data = [](void* memory) { return static_cast<std::byte*>(memory); };
    queue_->copy({data(there->data()), data(sent.data()), row_bytes, rows, pitch, pitch}, CopyWay::to_device);
    queue_->copy({data(received.data()), data(there->data()), row_bytes, rows, pitch, pitch}, CopyWay::to_host);
    queue_->synchronise();
    for (std::size_t i = 0; i < bytes; ++i)
      EXPECT_EQ(received[i], i % pitch < row_bytes ? sent[i] : -1) << i << " of pitch " << pitch;
  }
}

/// Also where the list of copies, which a device may fetch from the host, was made just before.
TEST_F(Devices, CopyWithinTheirMemoryAsSoonAsTheyAreTold) {
  const std::vector<double> sent{1, 2, 3, 4};
  const auto from = device_->allocate(32);
  const auto to = device_->allocate(32);
  copy(from->data(), sent.data(), 32, CopyWay::to_device);
  queue_->synchronise();
  for (int round = 0; round < 20; ++round) {
    const auto within = copies(*from, *to);
    within->enqueue(*queue_);
    std::vector<double> received(4);
    copy(received.data(), to->data(), 32, CopyWay::to_host);
    queue_->synchronise();
    EXPECT_EQ(received, sent) << round;
  }
}

/// Runs of one unit, of a thread's, of a block's and of several chunks; of 8 and of 16 bytes; loops in any order.
const std::vector<BoxCopy>& strided_copies() {
  using Loops = std::array<CopyPlan::Loop, 3>;
  const auto none = CopyPlan::Loop{};
  static const std::vector<BoxCopy> copies{
      {nullptr, nullptr, 8, Loops{{{3, 800, 400}, {5, 160, 8}, {7, 16, 40}}}},
      {nullptr, nullptr, 16, Loops{{none, {5, 160, 16}, {7, 16, 80}}}},
      {nullptr, nullptr, 24, Loops{{none, none, {9, 48, 24}}}},
      {nullptr, nullptr, 48, Loops{{{2, 4800, 2400}, {3, 480, 480}, {4, 96, 48}}}},
      {nullptr, nullptr, 5000, Loops{{none, none, {3, 5000, 6000}}}},
      {nullptr, nullptr, 80000, Loops{{none, none, {2, 80080, 80000}}}},
  };
  return copies;
}

std::size_t span_of(const BoxCopy& copy, Index CopyPlan::Loop::*stride) {
  Index span = static_cast<Index>(copy.run_bytes);
  for (const auto& loop : copy.loops) span += (loop.count - 1) * loop.*stride;
  return static_cast<std::size_t>(span);
}

void copy_on_host(const BoxCopy& copy, const std::byte* from, std::byte* to) {
  const auto& [a, b, c] = copy.loops;
  for (Index i = 0; i < a.count; ++i)
    for (Index j = 0; j < b.count; ++j)
      for (Index k = 0; k < c.count; ++k)
        std::memcpy(to + i * a.to + j * b.to + k * c.to, from + i * a.from + j * b.from + k * c.from, copy.run_bytes);
}

std::vector<std::byte> numbered(std::size_t bytes) {
  std::vector<std::byte> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<std::byte>(i * 31 + i / 251);
  return data;
}

TEST_F(Devices, CopyBoxesOfAnyShapeTogether) {
  std::vector<BoxCopy> boxes = strided_copies();
  std::vector<std::size_t> begins{0};
  for (const BoxCopy& box : boxes) {
    const std::size_t span = std::max(span_of(box, &CopyPlan::Loop::from), span_of(box, &CopyPlan::Loop::to));
    begins.push_back(begins.back() + (span + 63) / 16 * 16);
  }
  const std::size_t bytes = begins.back();
  const std::vector<std::byte> sent = numbered(bytes);
  const std::vector<std::byte> nothing_copied(bytes, std::byte{0x55});
  std::vector<std::byte> expected = nothing_copied;
  std::vector<std::byte> received(bytes);
  const auto from = device_->allocate(bytes);
  const auto to = device_->allocate(bytes);
  copy(from->data(), sent.data(), bytes, CopyWay::to_device);
  copy(to->data(), nothing_copied.data(), bytes, CopyWay::to_device);
  queue_->synchronise();
  for (const bool wide_alone : {false, true}) {
    std::vector<BoxCopy> together;
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      if (wide_alone && cuda::unit_bytes_of({boxes[i]}) == 8) continue;
      together.push_back(boxes[i]);
      together.back().from = static_cast<const std::byte*>(from->data()) + begins[i];
      together.back().to = static_cast<std::byte*>(to->data()) + begins[i];
      copy_on_host(boxes[i], sent.data() + begins[i], expected.data() + begins[i]);
    }
    ASSERT_GT(together.size(), 1U);
    device_->make_copies(together)->enqueue(*queue_);
    copy(received.data(), to->data(), bytes, CopyWay::to_host);
    queue_->synchronise();
    EXPECT_TRUE(received == expected) << (wide_alone ? "units of 16 bytes" : "units of 8 bytes");
    copy(to->data(), nothing_copied.data(), bytes, CopyWay::to_device);
    queue_->synchronise();
    expected = nothing_copied;
  }
}

/// Whether it is the pretended CUDA with graphs, or a real one.
bool has_graphs(const DeviceBackend& backend) {
  const char* const settings = std::getenv("FOURSCORE_PRETENDED_CUDA");
  return backend.card().name == "cuda" &&
         std::string(settings == nullptr ? "" : settings).find("graphs=no") == std::string::npos;
}

TEST_F(Devices, RunAGraphEachTimeAndNotWhileItIsRecorded) {
  const std::vector<double> sent{1, 2, 3, 4};
  const auto first = device_->allocate(32);
  const auto second = device_->allocate(32);
  const auto third = device_->allocate(32);
  const auto there = copies(*first, *second);
  const auto on = copies(*second, *third);
  copy(third->data(), sent.data(), 32, CopyWay::to_device);
  const auto graph = device_->record([&](Queue& queue) {
    there->enqueue(queue);
    on->enqueue(queue);
  });
  ASSERT_EQ(graph != nullptr, has_graphs(backend_));
  if (graph == nullptr) return;  // they are queued one by one
  for (const double factor : {0.0, 1.0, 2.0}) {
    std::vector<double> expected = sent;
    for (double& value : expected) value *= factor;
    if (factor > 0) {
      copy(first->data(), expected.data(), 32, CopyWay::to_device);
      graph->enqueue(*queue_);
    }
    std::vector<double> received(4);
    copy(received.data(), third->data(), 32, CopyWay::to_host);
    queue_->synchronise();
    EXPECT_EQ(received, factor > 0 ? expected : sent);
  }
}

/// Blocks for others, the one that stays closing up, and a copy of what that left: three copies in turn, and on the
/// pretended CUDA, which counts launches, a single one.
TEST_F(Devices, CopyInOrderWhatFollowsOnEachOther) {
  using Loops = std::array<CopyPlan::Loop, 3>;
  const CopyPlan::Loop once{};
  const std::vector<std::byte> sent = numbered(1024);
  const auto source = device_->allocate(1024);
  const auto spare = device_->allocate(1024);
  const auto at = [](const Buffer& buffer, std::size_t offset) {
    return static_cast<std::byte*>(buffer.data()) + offset;
  };
  const Loops rows{{once, once, {4, 64, 32}}};
  const std::vector<OrderedCopy> list{
      {{at(*source, 512), at(*spare, 0), 32, {{once, once, {4, 64, 32}}}}},
      {{at(*source, 32), at(*source, 0), 32, rows}, true},
      {{at(*source, 0), at(*spare, 256), 128, {{once, once, once}}}},
  };
  const auto in_order = ordered_copies(*device_, list);
  std::vector<std::byte> expected_source = sent;
  const std::vector<std::byte> zeros(1024);
  std::vector<std::byte> expected_spare = zeros;
  copy_on_host(list[0].box, sent.data() + 512, expected_spare.data());
  copy_on_host(list[1].box, sent.data() + 32, expected_source.data());
  std::memcpy(expected_spare.data() + 256, expected_source.data(), 128);
  const auto launches = reinterpret_cast<long (*)()>(dlsym(RTLD_DEFAULT, "pretended_cuda_launches"));
  for (int run = 0; run < 3; ++run) {
    copy(source->data(), sent.data(), 1024, CopyWay::to_device);
    copy(spare->data(), zeros.data(), 1024, CopyWay::to_device);
    queue_->synchronise();
    const long before = launches == nullptr ? 0 : launches();
    in_order->enqueue(*queue_);
    if (launches != nullptr && !backend_.emulated()) {
      EXPECT_EQ(launches() - before, has_graphs(backend_) ? 1 : 4);
    }
    std::vector<std::byte> received(1024);
    copy(received.data(), source->data(), 1024, CopyWay::to_host);
    queue_->synchronise();
    EXPECT_TRUE(received == expected_source) << run;
    copy(received.data(), spare->data(), 1024, CopyWay::to_host);
    queue_->synchronise();
    EXPECT_TRUE(received == expected_spare) << run;
  }
}

/// Their indices have 32 bits on the GPU.
TEST(DeviceBoxes, AreCutWhereTheyAreTooLarge) {
  for (const BoxCopy& copy : strided_copies())
    for (const unsigned most : {1U, 5U, 64U, cuda::most_items}) {
      const std::size_t unit = cuda::unit_bytes_of({copy});
      const std::vector<std::byte> sent = numbered(span_of(copy, &CopyPlan::Loop::from));
      std::vector<std::byte> received(span_of(copy, &CopyPlan::Loop::to));
      std::vector<std::byte> expected = received;
      copy_on_host(copy, sent.data(), expected.data());
      BoxCopy placed = copy;
      placed.from = sent.data();
      placed.to = received.data();
      const auto boxes = cuda::device_boxes({placed}, unit, most);
      if (most == cuda::most_items) {
        EXPECT_EQ(boxes.size(), 1U);
      }
      for (const cuda::DeviceBox& box : boxes) {
        EXPECT_LE(std::max(box.items, box.units), most);
        EXPECT_EQ(box.items, box.counts[0] * box.counts[1] * box.counts[2] * box.chunks);
        BoxCopy part{reinterpret_cast<const std::byte*>(box.from), reinterpret_cast<std::byte*>(box.to),
                     box.units * unit};
        for (std::size_t i = 0; i < 3; ++i) part.loops[i] = {box.counts[i], box.from_strides[i], box.to_strides[i]};
        copy_on_host(part, part.from, part.to);
      }
      EXPECT_EQ(received, expected);
    }
  BoxCopy nothing{nullptr, nullptr, 8};
  nothing.loops[1].count = 0;
  EXPECT_TRUE(cuda::device_boxes({nothing}, 8).empty());
  EXPECT_EQ(cuda::blocks_of({}), 0);
}

/// Its own type returns an enumeration, which only CUDA's headers know.
#ifdef __clang__
[[clang::no_sanitize("function")]]
#endif
int called(int (*function)()) {
  return function();
}

/// A mark that has not passed is no error of what is queued next.
TEST_F(Devices, TakeWorkAfterAMarkThatHadNotPassed) {
  const auto from = device_->allocate(std::size_t{1} << 16U);
  const auto to = device_->allocate(std::size_t{1} << 16U);
  const auto within = copies(*from, *to);
  const auto mark = device_->make_mark();
  const auto last_error = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "cudaGetLastError"));  // null on the stand-in
  for (int round = 0; round < 20; ++round) {
    within->enqueue(*queue_);
    queue_->record(*mark);
    (void)mark->has_passed();
    EXPECT_EQ(last_error == nullptr ? 0 : called(last_error), 0);
    EXPECT_NO_THROW(within->enqueue(*queue_));
    queue_->synchronise();
  }
}

/// On the pretended CUDA, which knows what was not freed: whichever call of an allocation fails.
TEST_F(Devices, LeaveNoMemoryBehindWhereTheyFail) {
  const auto fail_at = reinterpret_cast<void (*)(long, bool)>(dlsym(RTLD_DEFAULT, "pretended_cuda_fail_at"));
  const auto held = reinterpret_cast<std::size_t (*)()>(dlsym(RTLD_DEFAULT, "pretended_cuda_held"));
  if (fail_at == nullptr || backend_.emulated()) GTEST_SKIP() << "no device here tells what it holds";
  const std::size_t before = held();
  int failures = 0;
  for (const HostMemory kind : {HostMemory::pinned, HostMemory::managed})
    for (int call = 1; call <= 2; ++call) {
      fail_at(call, false);
      try {
        (void)device_->allocate_host(kind, 4096);
      } catch (const std::runtime_error&) {
        ++failures;
      }
      fail_at(0, false);
      EXPECT_EQ(held(), before) << call;
    }
  EXPECT_EQ(failures, 3);  // the second call of pinned memory releases it
}

/// A record names the file and its checksum: the library may have been found by its name alone.
TEST(LocalLibrariesOnADevice, SayWhichFileTheyOpened) {
  const LocalFftLibrary& cufft = *LocalFftRegistry::instance().find("cufft");
  const auto opened = cufft.libraries_loaded_later();
  ASSERT_EQ(opened.size(), cufft.unavailable().empty() ? 1U : 0U);
  for (const auto& [name, version] : opened)
    EXPECT_THAT(version, testing::MatchesRegex(name + " samples-sha256:[0-9a-f]+"));
}

}  // namespace
}  // namespace fourscore
