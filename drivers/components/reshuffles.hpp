#pragma once
// The reshuffles of local data that the variants make, each as a list of boxes to be copied, and the ways to do them.

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/box.hpp"
#include "core/problem.hpp"

namespace fourscore::component {

/// A box of elements, from one array to another; offsets and strides in elements.
struct Move {
  Extents extents{1, 1, 1};
  Index from_offset = 0;
  Index to_offset = 0;
  Extents from_strides{};
  Extents to_strides{};
};

/// What one benchmark moves: together every element of the array once. In all of them one side is the array in natural
/// order xyz (z fastest).
struct Reshuffle {
  std::string kernel;  ///< permute, pack, unpack, gather
  std::string detail;  ///< "zyx", "z/4"
  std::vector<Move> moves{};
};

/// To the array with its axes in another order, slowest first: "zyx" leaves x fastest.
[[nodiscard]] Reshuffle permutation(const Extents& extents, const std::string& order);
/// All five orders other than xyz.
[[nodiscard]] std::vector<std::string> permutation_names();
/// Copies to `blocks` messages one after another, each a part of the array along axis 1 (y) or 2 (z), as packed.
[[nodiscard]] Reshuffle packing(const Extents& extents, std::size_t axis, int blocks);
/// The way back.
[[nodiscard]] Reshuffle unpacking(const Extents& extents, std::size_t axis, int blocks);
/// Copies to `blocks` arrays one after another, the first of every element 0, B, 2B ... along z, and so on
/// (danielson-lanczos).
[[nodiscard]] Reshuffle strided_gather(const Extents& extents, int blocks);

/// One way to do a reshuffle, planned.
class Mover {
 public:
  virtual ~Mover() = default;
  virtual void run() = 0;
};
/// naive: a loop over the elements in the order of the source. blocked: split in halves until a piece fits the first
/// cache, whatever its size (Frigo, Leiserson, Prokop, Ramachandran 1999). simd, simd-streaming: kernels/copy.hpp, as
/// the variants use it, with ordinary stores and with such that go past the caches. fftw: a plan of rank 0.
[[nodiscard]] std::vector<std::string> method_names();
/// Arrays do not overlap; elements have 16 (double) or 8 bytes. Planning may overwrite both.
[[nodiscard]] std::unique_ptr<Mover> make_mover(const std::string& method, const Reshuffle& reshuffle,
                                                Precision precision, Effort effort, void* from, void* to);

}  // namespace fourscore::component
