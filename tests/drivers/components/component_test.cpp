// The parts of the component programs: parameters, kernels, reshuffles, copies of the stand-in.

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "components/component_parameters.hpp"
#include "components/memory_kernels.hpp"
#include "components/reshuffles.hpp"
#include "components/transfers.hpp"
#include "interfaces/exchange.hpp"

namespace fourscore::component {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<Parameter> known{{"kernels", "what", "all", {"read", "write", "copy"}, true},
                                   {"size", "bytes", "64KiB", {}, false},
                                   {"device", "which", "auto", {"auto", "cuda"}, false}};

Parameters given(std::map<std::string, std::string> values) { return {"some_bench", known, std::move(values)}; }

std::string refusal(const std::function<void()>& call, const std::string& parameter) {
  try {
    call();
  } catch (const ParameterError& error) {
    EXPECT_EQ(error.key, parameter);
    return error.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return {};
}

TEST(Parameters, HaveTheirFallbackWhereNoneIsGiven) {
  EXPECT_THAT(given({}).list("kernels"), ElementsAre("read", "write", "copy"));
  EXPECT_THAT(given({}).sizes("size", 1, 1 << 20), ElementsAre(65536));
  EXPECT_THAT(given({{"kernels", "copy,read"}}).list("kernels"), ElementsAre("copy", "read"));
  EXPECT_EQ(given({{"device", "cuda"}}).text("device"), "cuda");
}

TEST(Parameters, RefuseWhatTheyDoNotKnowWithTheNearestName) {
  EXPECT_THAT(refusal([] { given({{"kernel", "copy"}}); }, "kernel"), HasSubstr("did you mean 'kernels'?"));
  EXPECT_THAT(refusal([] { given({{"kernels", "copy,raed"}}); }, "kernels"), HasSubstr("did you mean 'read'?"));
  EXPECT_THAT(refusal([] { given({{"kernels", "copy,copy"}}); }, "kernels"), HasSubstr("'copy' is there twice"));
  EXPECT_THAT(refusal([] { given({{"kernels", "copy,"}}); }, "kernels"), HasSubstr("allowed: read, write, copy"));
  EXPECT_THAT(refusal([] { given({{"device", "all"}}); }, "device"), HasSubstr("allowed: auto, cuda"));
}

TEST(Parameters, ReadSizesAndNumbers) {
  EXPECT_THAT(given({{"size", "4096,16KiB,2MiB,1KB"}}).sizes("size", 1, 1 << 30),
              ElementsAre(4096, 16384, 2097152, 1000));
  for (const char* text : {"", "0", "-1", "4kb", "1.5MiB", "99999999999GiB", "KiB", "8 MiB"})
    EXPECT_THAT(refusal([&] { (void)given({{"size", text}}).sizes("size", 1, 1 << 30); }, "size"), HasSubstr("size"));
  EXPECT_THAT(refusal(
                  [] {
                    (void)given({{"size", "2GiB"}}).sizes("size", 1, 1 << 30);
                  },
                  "size"),
              HasSubstr("allowed: 1 B to 1 GiB"));
  EXPECT_THAT(given({{"size", "3,5"}}).integers("size", 1, 9), ElementsAre(3, 5));
  EXPECT_THAT(refusal(
                  [] {
                    (void)given({{"size", "3,x"}}).integers("size", 1, 9);
                  },
                  "size"),
              HasSubstr("whole numbers from 1 to 9"));
  EXPECT_EQ(size_text(1.5 * (1 << 30)), "1.5 GiB");
}

TEST(MemoryKernels, DoWhatTheyAreCalled) {
  for (const std::size_t count : {kernel_unit, 5 * kernel_unit, 1000 * kernel_unit}) {
    const auto memory = ordinary_buffer(3 * count * sizeof(double));
    auto* const a = static_cast<double*>(memory->data());
    double* const b = a + count;
    double* const c = b + count;
    std::iota(a, a + 3 * count, 1.0);
    const auto n = static_cast<double>(count);
    EXPECT_EQ(read_sum(a, count), n * (n + 1) / 2);
    copy_all(c, a, count);
    EXPECT_TRUE(std::equal(a, a + count, c));
    triad_all(c, a, b, 2.0, count);
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(c[i], a[i] + 2 * b[i]);
    stream_copy_all(c, b, count);
    EXPECT_TRUE(std::equal(b, b + count, c));
    write_all(c, count, 3);
    EXPECT_EQ(std::count(c, c + count, 3.0), static_cast<std::ptrdiff_t>(count));
    stream_write_all(c, count, 4);
    EXPECT_EQ(std::count(c, c + count, 4.0), static_cast<std::ptrdiff_t>(count));
    EXPECT_EQ(b[count - 1], 2 * n) << "a kernel wrote where it should not";
  }
}

/// By the definition: where element (x, y, z) of an array with these extents lies when axes are stored in this order.
Index place_in_order(const Extents& extents, const std::string& order, const Extents& at) {
  Index place = 0;
  for (const char axis : order)
    place = place * extents[static_cast<std::size_t>(axis - 'x')] + at[static_cast<std::size_t>(axis - 'x')];
  return place;
}

std::vector<Reshuffle> all_reshuffles(const Extents& extents) {
  std::vector<Reshuffle> list;
  for (const std::string& order : permutation_names()) list.push_back(permutation(extents, order));
  for (const int blocks : {1, 2, 3, 8})
    for (const std::size_t axis : {std::size_t{1}, std::size_t{2}}) {
      list.push_back(packing(extents, axis, blocks));
      list.push_back(unpacking(extents, axis, blocks));
      list.push_back(strided_gather(extents, blocks));
    }
  return list;
}

TEST(Reshuffles, MoveEachElementOnce) {
  const Extents extents{5, 7, 11};
  for (const Reshuffle& reshuffle : all_reshuffles(extents)) {
    std::vector<int> read(5 * 7 * 11, 0);
    std::vector<int> written(read.size(), 0);
    for (const Move& move : reshuffle.moves)
      for (Index x = 0; x < move.extents[0]; ++x)
        for (Index y = 0; y < move.extents[1]; ++y)
          for (Index z = 0; z < move.extents[2]; ++z) {
            ++read.at(static_cast<std::size_t>(move.from_offset + x * move.from_strides[0] + y * move.from_strides[1] +
                                               z * move.from_strides[2]));
            ++written.at(static_cast<std::size_t>(move.to_offset + x * move.to_strides[0] + y * move.to_strides[1] +
                                                  z * move.to_strides[2]));
          }
    EXPECT_EQ(std::count(read.begin(), read.end(), 1), 5 * 7 * 11) << reshuffle.kernel << " " << reshuffle.detail;
    EXPECT_EQ(std::count(written.begin(), written.end(), 1), 5 * 7 * 11) << reshuffle.kernel << " " << reshuffle.detail;
  }
}

TEST(Reshuffles, PermuteAsTheirNameSays) {
  const Extents extents{5, 7, 11};
  for (const std::string& order : permutation_names()) {
    const Move move = permutation(extents, order).moves.front();
    for (const Extents& at : {Extents{0, 0, 1}, Extents{0, 1, 0}, Extents{1, 0, 0}, Extents{4, 6, 10}}) {
      Index to = 0;
      for (std::size_t a = 0; a < 3; ++a) to += at[a] * move.to_strides[a];
      EXPECT_EQ(to, place_in_order(extents, order, at)) << order;
    }
  }
}

TEST(Reshuffles, AreTheSameByEveryMethod) {
  for (const Extents& extents : {Extents{5, 7, 11}, Extents{16, 24, 8}, Extents{9, 33, 65}, Extents{1, 4, 130}})
    for (const Precision precision : {Precision::double_precision, Precision::single_precision}) {
      const std::size_t words = precision == Precision::double_precision ? 2 : 1;
      const auto count = static_cast<std::size_t>(extents[0] * extents[1] * extents[2]) * words;
      const auto from = ordinary_buffer(count * 8);
      const auto to = ordinary_buffer(count * 8);
      auto* const source = static_cast<std::uint64_t*>(from->data());
      auto* const target = static_cast<std::uint64_t*>(to->data());
      for (const Reshuffle& reshuffle : all_reshuffles(extents))
        for (const std::string& method : method_names()) {
          const auto mover = make_mover(method, reshuffle, precision, Effort::estimate, source, target);
          std::iota(source, source + count, std::uint64_t{1});
          std::fill_n(target, count, 0);
          std::vector<std::uint64_t> expected(count, 0);
          for (const Move& move : reshuffle.moves)
            for (Index x = 0; x < move.extents[0]; ++x)
              for (Index y = 0; y < move.extents[1]; ++y)
                for (Index z = 0; z < move.extents[2]; ++z)
                  for (std::size_t w = 0; w < words; ++w)
                    expected[static_cast<std::size_t>(move.to_offset + x * move.to_strides[0] + y * move.to_strides[1] +
                                                      z * move.to_strides[2]) *
                                 words +
                             w] = source[static_cast<std::size_t>(move.from_offset + x * move.from_strides[0] +
                                                                  y * move.from_strides[1] + z * move.from_strides[2]) *
                                             words +
                                         w];
          mover->run();
          ASSERT_TRUE(std::equal(expected.begin(), expected.end(), target))
              << method << " " << reshuffle.kernel << " " << reshuffle.detail << " words " << words << " extents "
              << extents[0] << "x" << extents[1] << "x" << extents[2];
        }
    }
}

TEST(Transfers, OfTheStandInArriveInEveryDirectionAndKindOfMemory) {
  const auto device = transfer_device(chosen_device("host"), 0);
  EXPECT_TRUE(device->emulated());
  for (const TransferDirection direction :
       {TransferDirection::to_device, TransferDirection::to_host, TransferDirection::both})
    for (const HostMemory memory : {HostMemory::pageable, HostMemory::pinned, HostMemory::managed})
      for (const std::size_t bytes : {std::size_t{1}, std::size_t{4096}, std::size_t{200'001}})
        EXPECT_EQ(device->make({direction, memory, bytes})->wrong_bytes(), 0);
}

TEST(Devices, AutoIsWhatTheEnvironmentNames) {
  setenv(device_variable, "host", 1);
  EXPECT_EQ(&chosen_device("auto"), &chosen_device("host"));
  setenv(device_variable, "hots", 1);
  EXPECT_THAT([] { (void)chosen_device("auto"); },
              testing::ThrowsMessage<InputError>(
                  testing::HasSubstr("unknown device in FOURSCORE_DEVICE 'hots'; did you mean 'host'?")));
  EXPECT_EQ(&chosen_device("host"), DeviceRegistry::instance().find("host"));  // what a parameter names stands
  unsetenv(device_variable);
}

/// CUDA, OpenCL and what else is built in.
TEST(Transfers, OfEveryDeviceArriveOrSayWhyThereIsNone) {
  for (const std::string& name : DeviceRegistry::instance().names()) {
    SCOPED_TRACE(name);
    const DeviceBackend& backend = chosen_device(name);
    if (!backend.unavailable().empty()) {
      EXPECT_THROW((void)transfer_device(backend, 0), std::runtime_error);
      continue;
    }
    const auto device = transfer_device(backend, 1);
    EXPECT_EQ(device->emulated(), backend.emulated());
    for (const TransferDirection direction :
         {TransferDirection::to_device, TransferDirection::to_host, TransferDirection::both})
      for (const HostMemory memory : {HostMemory::pageable, HostMemory::pinned, HostMemory::managed})
        if (memory != HostMemory::managed || device->has_managed_memory()) {
          EXPECT_EQ(device->make({direction, memory, 200'001})->wrong_bytes(), 0);
        }
  }
}

}  // namespace
}  // namespace fourscore::component
