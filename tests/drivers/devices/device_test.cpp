// What every device promises to those who queue work on it. On the stand-in, and on the device that
// FOURSCORE_TEST_DEVICE names: a real one, or CUDA on a runtime that pretends (tests/support/pretended_cuda).

#include "interfaces/device.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/on_device.hpp"

namespace fourscore {
namespace {

class Devices : public testing::Test {
 protected:
  const DeviceBackend& backend_ = DeviceRegistry::instance().get(test::on_device({}).at("device"), "device");
  const std::unique_ptr<Device> device_ = backend_.make_device(0, LocalFftRegistry::instance().get("fftw", "library"));
  const std::unique_ptr<Queue> queue_ = device_->make_queue();

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
