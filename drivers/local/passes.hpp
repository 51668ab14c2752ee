#pragma once
// Passes over memory, from which a local transform over several axes is put together.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/box.hpp"

namespace fourscore::local {

/// One pass over the data at `in` that leaves its result at `out`; in == out where it was made for in place. A pass
/// may run at other places than those it was planned at, if these are aligned alike.
class Pass {
 public:
  virtual ~Pass() = default;
  virtual void run(std::byte* in, std::byte* out) const = 0;
  [[nodiscard]] virtual std::string describe() const = 0;
};
using PassPtr = std::unique_ptr<Pass>;

/// The passes one after another: those before `leaves_at` run in place at `in`, that one goes from `in` to `out`, the
/// later ones run in place at `out`.
[[nodiscard]] PassPtr in_sequence(std::vector<PassPtr> passes, std::size_t leaves_at);

/// `body` at `count` places, so far apart in `in` and in `out`.
[[nodiscard]] PassPtr repeated(Index count, Index in_stride_bytes, Index out_stride_bytes, PassPtr body);

/// Copies `bytes` from `in` to `out`, which must not overlap.
[[nodiscard]] PassPtr copied(std::size_t bytes);

/// Memory for one block of columns, aligned to a cache line.
class Scratch {
 public:
  explicit Scratch(std::size_t bytes);
  [[nodiscard]] std::byte* data() const { return data_.get(); }

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  std::unique_ptr<std::byte, Free> data_;
};

/// `first` from `in` to the scratch, `second` from there to `out`: two passes over data that stays in the cache between
/// them, of which memory sees one.
[[nodiscard]] PassPtr by_way_of(std::shared_ptr<Scratch> scratch, PassPtr first, PassPtr second);

/// A block of columns: `rows` pieces of `width_bytes`, `stride_bytes` apart.
struct Columns {
  Index rows = 0;
  Index stride_bytes = 0;
  Index width_bytes = 0;
};

/// Gathers a block of columns into the scratch, runs `body` in place there, and scatters the result to `out`, past the
/// caches when `streaming`. With strides of a power of two the elements of a column fall into few sets of a cache; in
/// the scratch they do not. `rest` (may be null) does the same for the last, narrower block.
[[nodiscard]] PassPtr buffered(const Columns& block, Index blocks, PassPtr body, Index rest_width_bytes, PassPtr rest,
                               std::shared_ptr<Scratch> scratch, bool streaming);

}  // namespace fourscore::local
