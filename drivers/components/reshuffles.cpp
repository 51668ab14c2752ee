#include "components/reshuffles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <type_traits>

#include "core/grid.hpp"
#include "interfaces/local_fft.hpp"
#include "kernels/copy_steps.hpp"
#include "redistribution/exchange_blocks.hpp"

namespace fourscore::component {
namespace {

constexpr std::array<int, 3> natural{0, 1, 2};

std::array<int, 3> order_of(const std::string& name) {
  std::array<int, 3> order{};
  for (std::size_t i = 0; i < 3; ++i) order[i] = name.at(i) - 'x';
  return order;
}

/// `Size` bytes at a time: what a loop over complex numbers compiles to.
template <std::size_t Size>
void copy_element(const std::byte* from, std::byte* to) {
  std::memcpy(to, from, Size);
}

template <std::size_t Size>
void copy_loops(const Move& move, const std::byte* from, std::byte* to) {
  constexpr auto size = static_cast<Index>(Size);
  for (Index x = 0; x < move.extents[0]; ++x)
    for (Index y = 0; y < move.extents[1]; ++y)
      for (Index z = 0; z < move.extents[2]; ++z)
        copy_element<Size>(
            from + size * (move.from_offset + x * move.from_strides[0] + y * move.from_strides[1] +
                           z * move.from_strides[2]),
            to + size * (move.to_offset + x * move.to_strides[0] + y * move.to_strides[1] + z * move.to_strides[2]));
}

template <std::size_t Size>
void copy_halves(const Move& move, const std::byte* from, std::byte* to) {
  constexpr Index small = 512;  // elements; the recursion costs nothing beside so many
  if (move.extents[0] * move.extents[1] * move.extents[2] <= small) return copy_loops<Size>(move, from, to);
  const auto axis = static_cast<std::size_t>(std::ranges::max_element(move.extents) - move.extents.begin());
  const Index half = move.extents[axis] / 2;
  Move first = move;
  Move second = move;
  first.extents[axis] = half;
  second.extents[axis] -= half;
  second.from_offset += half * move.from_strides[axis];
  second.to_offset += half * move.to_strides[axis];
  copy_halves<Size>(first, from, to);
  copy_halves<Size>(second, from, to);
}

using Copy = void (*)(const Move&, const std::byte*, std::byte*);

class LoopMover : public Mover {
 public:
  LoopMover(Copy copy, std::vector<Move> moves, const void* from, void* to)
      : copy_(copy),
        moves_(std::move(moves)),
        from_(static_cast<const std::byte*>(from)),
        to_(static_cast<std::byte*>(to)) {}
  void run() override {
    for (const Move& move : moves_) copy_(move, from_, to_);
  }

 private:
  Copy copy_;
  std::vector<Move> moves_;
  const std::byte* from_;
  std::byte* to_;
};

class PlanMover : public Mover {
 public:
  PlanMover(const Reshuffle& reshuffle, std::size_t size, Stores stores, const void* from, void* to) {
    for (const Move& move : reshuffle.moves)
      steps_.push_back({CopyPlan(move.extents, move.from_strides, move.to_strides, size, stores),
                        static_cast<const std::byte*>(from) + move.from_offset * static_cast<Index>(size),
                        static_cast<std::byte*>(to) + move.to_offset * static_cast<Index>(size)});
  }
  void run() override { steps_.run(); }

 private:
  CopySteps steps_;
};

class FftMover : public Mover {
 public:
  FftMover(const Reshuffle& reshuffle, Precision precision, Effort effort, void* from, void* to) {
    const LocalFftLibrary& library = LocalFftRegistry::instance().get("fftw", "local FFT library");
    const Index size = precision == Precision::double_precision ? 16 : 8;
    for (const Move& move : reshuffle.moves) {
      LocalFftSpec spec;
      for (std::size_t a = 0; a < 3; ++a)
        spec.batch.push_back({move.extents[a], move.from_strides[a], move.to_strides[a]});
      spec.precision = precision;
      spec.effort = effort;
      spec.single_plan = true;
      plans_.push_back(library.make(spec, static_cast<std::byte*>(from) + move.from_offset * size,
                                    static_cast<std::byte*>(to) + move.to_offset * size));
    }
  }
  void run() override {
    for (const auto& plan : plans_) plan->execute();
  }

 private:
  std::vector<std::unique_ptr<LocalFft>> plans_;
};

}  // namespace

Reshuffle permutation(const Extents& extents, const std::string& order) {
  return {
      "permute", order, {{extents, 0, 0, dense_strides(extents, natural), dense_strides(extents, order_of(order))}}};
}

std::vector<std::string> permutation_names() { return {"xzy", "yxz", "yzx", "zxy", "zyx"}; }

Reshuffle packing(const Extents& extents, std::size_t axis, int blocks) {
  const Extents whole = dense_strides(extents, natural);
  Reshuffle result{"pack", fmt::format("{}/{}", "xyz"[axis], blocks)};
  Index packed = 0;
  for (int block = 0; block < blocks; ++block) {
    const Range range = block_range(extents[axis], blocks, block);
    Extents part = extents;
    part[axis] = range.size();
    result.moves.push_back({part, range.low * whole[axis], packed, whole, dense_strides(part, natural)});
    packed += part[0] * part[1] * part[2];
  }
  return result;
}

Reshuffle unpacking(const Extents& extents, std::size_t axis, int blocks) {
  Reshuffle result = packing(extents, axis, blocks);
  result.kernel = "unpack";
  for (Move& move : result.moves) {
    std::swap(move.from_offset, move.to_offset);
    std::swap(move.from_strides, move.to_strides);
  }
  return result;
}

Reshuffle strided_gather(const Extents& extents, int blocks) {
  const Extents whole = dense_strides(extents, natural);
  Reshuffle result{"gather", fmt::format("z/{}", blocks)};
  Index packed = 0;
  for (Index block = 0; block < blocks; ++block) {
    Extents part = extents;
    part[2] = block < extents[2] ? (extents[2] - block + blocks - 1) / blocks : 0;
    Extents from = whole;
    from[2] *= blocks;
    result.moves.push_back({part, block, packed, from, dense_strides(part, natural)});
    packed += part[0] * part[1] * part[2];
  }
  return result;
}

std::vector<std::string> method_names() { return {"naive", "blocked", "simd", "simd-streaming", "fftw"}; }

std::unique_ptr<Mover> make_mover(const std::string& method, const Reshuffle& reshuffle, Precision precision,
                                  Effort effort, void* from, void* to) {
  const bool wide = precision == Precision::double_precision;
  if (method == "naive")
    return std::make_unique<LoopMover>(wide ? &copy_loops<16> : &copy_loops<8>, reshuffle.moves, from, to);
  if (method == "blocked")
    return std::make_unique<LoopMover>(wide ? &copy_halves<16> : &copy_halves<8>, reshuffle.moves, from, to);
  if (method == "fftw") return std::make_unique<FftMover>(reshuffle, precision, effort, from, to);
  if (method != "simd" && method != "simd-streaming") throw std::logic_error("no such method: " + method);
  const Stores stores = method == "simd" ? Stores::ordinary : Stores::streaming;
  return std::make_unique<PlanMover>(reshuffle, wide ? 16 : 8, stores, from, to);
}

}  // namespace fourscore::component
