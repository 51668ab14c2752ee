#include "offload/device_arrays.hpp"

#include <gtest/gtest.h>

#include <array>
#include <stdexcept>

namespace fourscore {
namespace {

class Part : public Buffer {
 public:
  Part(std::byte* data, std::size_t bytes) : data_(data), bytes_(bytes) {}
  [[nodiscard]] void* data() const override { return data_; }
  [[nodiscard]] std::size_t bytes() const override { return bytes_; }

 private:
  std::byte* data_;
  std::size_t bytes_;
};

/// Host memory of two arrays, of which the second begins where the first ends.
class AdjacentArrays : public testing::Test {
 protected:
  std::array<std::byte, 48> host_{};
  std::array<std::byte, 64> device_{};
  DeviceArray first_ = array(0, 16, 32);
  DeviceArray second_ = array(16, 32, 0);

  DeviceArray array(std::size_t begin, std::size_t bytes, std::size_t on_device) {
    return {nullptr, std::make_unique<Part>(host_.data() + begin, bytes), nullptr,
            std::make_unique<Part>(device_.data() + on_device, bytes)};
  }
};

TEST_F(AdjacentArrays, EachHaveTheirOwnFirstAddress) {
  Mirrors mirrors;
  mirrors.add(first_);
  mirrors.add(second_);
  EXPECT_EQ(mirrors.on_device(host_.data()), device_.data() + 32);
  EXPECT_EQ(mirrors.on_device(host_.data() + 15), device_.data() + 47);
  EXPECT_EQ(mirrors.on_device(host_.data() + 16), device_.data());
}

TEST_F(AdjacentArrays, HaveTheirEndsWhereNoOtherBegins) {
  Mirrors mirrors;
  mirrors.add(second_);
  EXPECT_EQ(mirrors.on_device(host_.data() + 48), device_.data() + 32);
  EXPECT_THROW((void)mirrors.on_device(host_.data()), std::logic_error);
}

TEST_F(AdjacentArrays, AreFoundByTheArrayOfTheHost) {
  Mirrors mirrors;
  mirrors.add(first_);
  mirrors.add(second_);
  EXPECT_EQ(mirrors.mirror_of(second_).data(), device_.data());
  EXPECT_EQ(mirrors.bytes(), 16U + 32U);
  const Part other(host_.data() + 8, 8);
  EXPECT_THROW((void)mirrors.mirror_of(other), std::logic_error);
}

}  // namespace
}  // namespace fourscore
