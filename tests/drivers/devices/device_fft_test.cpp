// A device's transforms and strided copies are those of the stand-in, on OpenCL, or on the device that
// FOURSCORE_TEST_DEVICE names: in every layout that a variant may ask for.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "interfaces/device.hpp"

namespace fourscore {
namespace {

using testing::HasSubstr;

std::string device_name() {
  const char* const name = std::getenv("FOURSCORE_TEST_DEVICE");
  return name == nullptr ? "opencl" : name;
}

const LocalFftLibrary& fftw() { return LocalFftRegistry::instance().get("fftw", "library"); }

struct Case {
  const char* name = "";
  std::vector<Loop> axes{};
  std::vector<Loop> batch{};
  Index real_length = 0;
  Index offset = 0;  ///< elements, of the first in its array
  bool single_plan = false;
};

const std::vector<Case> cases{
    {"a length of 1", {{1, 1, 1}}, {{3, 1, 1}}},
    {"padded rows that begin where a part of a buffer cannot", {{14, 1, 1}}, {{5, 20, 20}}, 0, 3},
    {"rows in a part of a buffer", {{8, 1, 1}}, {{6, 8, 8}}, 0, 512},
    {"a middle axis", {{13, 15, 15}}, {{14, 1, 1}, {11, 195, 195}}, 0, 5},
    {"four loops over rows", {{8, 1, 1}}, {{2, 1000, 1000}, {3, 300, 300}, {5, 50, 50}, {2, 11, 11}}},
    {"three axes", {{12, 1, 1}, {10, 12, 12}, {8, 120, 120}}, {}, 0, 0, true},
    {"two axes, around one of the batch", {{12, 1, 1}, {8, 120, 120}}, {{10, 12, 12}}},
    {"other strides", {{16, 1, 3}}, {{12, 16, 48}, {3, 200, 600}}},
    {"real rows of odd length", {{8, 1, 1}}, {{10, 8, 8}}, 15, 1},
    {"real, three axes", {{5, 1, 1}, {10, 5, 5}, {7, 50, 50}}, {}, 9, 0, true},
    {"real, two axes and a batch of two loops", {{6, 1, 1}, {6, 40, 40}}, {{3, 6, 6}, {2, 300, 300}}, 10},
};

template <class Real>
class DeviceFftOf {
 public:
  using Complex = std::complex<Real>;

  DeviceFftOf(const Case& one, Direction direction, bool in_place)
      : spec_{.axes = one.axes,
              .batch = one.batch,
              .real_length = one.real_length,
              .precision = sizeof(Real) == 8 ? Precision::double_precision : Precision::single_precision,
              .direction = direction,
              .effort = Effort::estimate,
              .single_plan = one.single_plan},
        offset_(static_cast<std::size_t>(one.offset)),
        in_place_(in_place) {
    std::size_t in = 1;
    std::size_t out = 1;
    for (const auto* loops : {&one.axes, &one.batch})
      for (const Loop& loop : *loops) {
        in += static_cast<std::size_t>((loop.count - 1) * loop.in_stride);
        out += static_cast<std::size_t>((loop.count - 1) * loop.out_stride);
      }
    elements_ = offset_ + std::max(in, out);
  }

  /// The largest difference to the stand-in's, in parts of the largest value.
  double error() {
    const auto host = run("host");
    const auto device = run(device_name());
    double largest = 0;
    double difference = 0;
    for (std::size_t i = 0; i < elements_; ++i) {
      largest = std::max(largest, static_cast<double>(std::abs(host[i])));
      difference = std::max(difference, static_cast<double>(std::abs(host[i] - device[i])));
      if (!std::isfinite(std::abs(device[i]))) return INFINITY;
    }
    return difference / largest;
  }

 private:
  /// A field that is the transform of real data where the transform is to real data.
  std::vector<Complex> field(Device& host) const {
    std::vector<Complex> data(elements_);
    std::mt19937 random(7);
    for (Complex& value : data)
      value = {static_cast<Real>(random() % 1000) / 500 - 1, static_cast<Real>(random() % 1000) / 500 - 1};
    if (spec_.real_length == 0 || spec_.direction == Direction::forward) return data;
    LocalFftSpec forward = spec_;
    forward.direction = Direction::forward;
    const auto queue = host.make_queue();
    host.make_fft(forward, data.data() + offset_, data.data() + offset_)->enqueue(*queue);
    return data;
  }
  std::vector<Complex> run(const std::string& name) const {
    const auto host = DeviceRegistry::instance().get("host", "device").make_device(0, fftw());
    const auto device = DeviceRegistry::instance().get(name, "device").make_device(0, fftw());
    const std::size_t bytes = elements_ * sizeof(Complex);
    const auto in = device->allocate(bytes);
    const auto separate = in_place_ ? nullptr : device->allocate(bytes);
    Buffer& out = in_place_ ? *in : *separate;
    const auto at = [&](Buffer& buffer) { return static_cast<Complex*>(buffer.data()) + offset_; };
    const auto fft = device->make_fft(spec_, at(*in), at(out));
    EXPECT_EQ(device->work_area_bytes(spec_), fft->work_area_bytes());
    const auto area = device->allocate(fft->work_area_bytes());
    fft->use_work_area(area->data());
    const auto queue = device->make_queue();
    const auto copy = [&](void* to, const void* from, CopyWay way) {
      queue->copy({static_cast<std::byte*>(to), static_cast<const std::byte*>(from), bytes, 1, bytes, bytes}, way);
      queue->synchronise();
    };
    const std::vector<Complex> nothing(elements_);
    const auto sent = field(*host);
    if (!in_place_) copy(out.data(), nothing.data(), CopyWay::to_device);
    copy(in->data(), sent.data(), CopyWay::to_device);
    fft->enqueue(*queue);
    std::vector<Complex> result(elements_);
    copy(result.data(), out.data(), CopyWay::to_host);
    if (spec_.real_length > 0 && spec_.direction == Direction::backward) clear_padding(result);
    return result;
  }
  /// Behind each row of reals, where anything may lie.
  void clear_padding(std::vector<Complex>& result) const {
    std::vector<Index> rows{static_cast<Index>(offset_)};
    std::vector<Loop> loops(spec_.axes.begin() + 1, spec_.axes.end());
    loops.insert(loops.end(), spec_.batch.begin(), spec_.batch.end());
    for (const Loop& loop : loops) {
      const auto before = std::exchange(rows, {});
      for (Index i = 0; i < loop.count; ++i)
        for (const Index row : before) rows.push_back(row + i * loop.out_stride);
    }
    auto* const reals = reinterpret_cast<Real*>(result.data());
    for (const Index row : rows)
      std::fill(reals + 2 * row + spec_.real_length, reals + 2 * (row + spec_.axes.front().count), Real{0});
  }

  LocalFftSpec spec_;
  std::size_t offset_;
  bool in_place_;
  std::size_t elements_ = 0;
};

class DeviceFfts : public testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override {
    const std::string reason = DeviceRegistry::instance().find(device_name())->unavailable();
    if (!reason.empty()) GTEST_SKIP() << "no device " << device_name() << ": " << reason;
  }
};

bool same_strides(const Case& one) {
  for (const auto* loops : {&one.axes, &one.batch})
    for (const Loop& loop : *loops)
      if (loop.in_stride != loop.out_stride) return false;
  return true;
}

TEST_P(DeviceFfts, AreThoseOfTheStandIn) {
  const Case& one = cases.at(GetParam());
  for (const Direction direction : {Direction::forward, Direction::backward})
    for (const bool in_place : {true, false}) {
      if (in_place && !same_strides(one)) continue;
      SCOPED_TRACE(std::string(one.name) + " " + to_string(direction) + (in_place ? " in place" : " out of place"));
      EXPECT_LT(DeviceFftOf<double>(one, direction, in_place).error(), 1e-14);
      EXPECT_LT(DeviceFftOf<float>(one, direction, in_place).error(), 5e-6);
    }
}

INSTANTIATE_TEST_SUITE_P(Layouts, DeviceFfts, testing::Range(std::size_t{0}, cases.size()));

/// A plan of cuFFT has one loop over transforms, and is called for each index of a second.
TEST(CufftTransforms, HaveNeighboursInMemoryInOnePlan) {
  const DeviceBackend& cuda = *DeviceRegistry::instance().find("cuda");
  if (device_name() != "cuda" || !cuda.unavailable().empty()) GTEST_SKIP() << "no device cuda";
  const auto device = cuda.make_device(0, fftw());
  const auto memory = device->allocate(std::size_t{1} << 20U);
  const auto text = [&](std::vector<Loop> axes, std::vector<Loop> batch, Precision precision) {
    LocalFftSpec spec;
    spec.axes = std::move(axes);
    spec.batch = std::move(batch);
    spec.precision = precision;
    return device->make_fft(spec, memory->data(), memory->data())->describe();
  };
  const auto middle = [](Index planes, Index columns) {
    return std::vector<Loop>{{planes, 10 * columns, 10 * columns}, {columns, 1, 1}};
  };
  const Precision wide = Precision::double_precision;
  EXPECT_EQ(text({{10, 8, 8}}, middle(20, 8), wide), "cuFFT: 1 plan, 20 calls") << "lines of 128 bytes";
  EXPECT_EQ(text({{10, 7, 7}}, middle(20, 7), wide), "cuFFT: 1 plan, 7 calls") << "less than a line";
  EXPECT_EQ(text({{10, 8, 8}}, middle(20, 8), Precision::single_precision), "cuFFT: 1 plan, 8 calls");
  EXPECT_EQ(text({{10, 30, 30}}, middle(20, 30), wide), "cuFFT: 1 plan, 20 calls");
  EXPECT_EQ(text({{10, 1, 1}}, {{20, 100, 100}, {8, 11, 11}}, wide), "cuFFT: 1 plan, 8 calls") << "rows";
  LocalFftSpec spec;
  spec.axes = {{10, 8, 8}};
  spec.batch = middle(20, 8);
  const auto fft = device->make_fft(spec, memory->data(), memory->data());
  fft->use_work_area(memory->data());
  EXPECT_EQ(fft->describe(), "cuFFT: 1 plan, 20 calls in a graph") << "which is recorded once it has all that it takes";
}

TEST(ClfftLibrary, RefusesLengthsWithLargePrimesAndThreads) {
  const LocalFftLibrary& clfft = *LocalFftRegistry::instance().find("clfft");
  Problem problem;
  problem.precision = Precision::single_precision;
  problem.shape = {8, 17, 8};
  EXPECT_THAT(clfft.supports(problem).value_or(""), HasSubstr("length 17"));
  problem.shape = {15, 14, 13};
  EXPECT_EQ(clfft.supports(problem), std::nullopt);
  EXPECT_THAT(clfft.refuses(Kind::c2c, 2).value_or(""), HasSubstr("2 threads"));
}

}  // namespace
}  // namespace fourscore
