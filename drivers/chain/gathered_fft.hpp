#pragma once
// A local transform that reads its input where an exchange left it: in memory of several ranks.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/phase.hpp"
#include "interfaces/exchange.hpp"
#include "interfaces/local_fft.hpp"

namespace fourscore {

/// One local array, as a stage of a chain sees it: extents and strides in elements.
struct LocalArray {
  Extents extents{0, 0, 0};
  Extents strides{0, 0, 0};
  std::byte* data = nullptr;
};

/// Transforms an array along one axis of stride above 1. In tiles that a core's L2 cache holds, columns are gathered
/// from the blocks, transformed, and written to their place, past the caches where the array outgrows them. So the data
/// passes through memory once, where an exchange and a transform after it take it there twice. A library that can read
/// the blocks itself does so, and nothing is gathered. A library on a device gets the whole array at once, gathered to
/// its place.
class GatheredFft {
 public:
  /// Whether the transform can be done so: one axis, of a stride, by one thread, and blocks that cut the array along
  /// that axis only.
  [[nodiscard]] static bool serves(const LocalFftSpec& spec, const LocalArray& array, std::size_t axis,
                                   const std::vector<SourceBlock>& blocks);

  /// `spec` is of the whole array, with `axis` its only one; serves() has to say yes. Plans as library.make().
  GatheredFft(const LocalFftLibrary& library, const LocalFftSpec& spec, const LocalArray& array, std::size_t axis,
              std::vector<SourceBlock> blocks);

  /// What is gathered counts as `exchange`, the rest as `fft`. Between the exchange's start() and finish().
  void execute(PhaseClock& clock);
  void gather();     ///< this part of execute() alone, the result is lost; nothing where the library reads itself
  void transform();  ///< the rest of it, on whatever was gathered last

  /// The least that gather() and transform() move to and from memory.
  [[nodiscard]] Index gathered_bytes() const { return from_blocks_ ? 0 : bytes_; }
  [[nodiscard]] Index transformed_bytes() const { return from_blocks_ || whole_ ? 2 * bytes_ : bytes_; }
  [[nodiscard]] std::size_t workspace_bytes() const;
  [[nodiscard]] DeviceWork device_work() const { return whole_ ? whole_->device_work() : DeviceWork{}; }
  [[nodiscard]] LocalFft* whole() const { return whole_.get(); }  ///< null: it goes in tiles
  [[nodiscard]] std::string describe() const;

 private:
  struct Tile {
    Index outer = 0;   ///< index along the axis that is neither transformed nor contiguous
    Index column = 0;  ///< first index along the contiguous axis
    Index columns = 0;
  };
  template <class Work>
  void for_each_tile(const Work& work) const;
  /// The columns of a tile, from `to` on: the rows lie row_bytes apart.
  void gather(const Tile& tile, std::byte* to, Index row_bytes) const;
  void transform(const Tile& tile);
  [[nodiscard]] std::unique_ptr<LocalFft> plan_from_blocks(const LocalFftLibrary& library,
                                                           const LocalFftSpec& spec) const;
  [[nodiscard]] std::unique_ptr<LocalFft> plan(const LocalFftLibrary& library, const LocalFftSpec& spec,
                                               Index columns) const;

  LocalArray array_;
  std::size_t axis_, outer_axis_;
  std::vector<SourceBlock> blocks_;
  Index element_bytes_;
  Index bytes_;
  Index columns_;    ///< in a tile
  Index row_bytes_;  ///< from one index along `axis` to the next in the scratch: no power of two
  bool streaming_;   ///< past the caches
  std::unique_ptr<Buffer> scratch_;
  std::unique_ptr<LocalFft> from_blocks_;  ///< reads them itself; null: they are gathered
  std::unique_ptr<LocalFft> whole_;        ///< transforms the array where it lies; null: in tiles
  std::unique_ptr<LocalFft> fft_;          ///< for a whole tile; null where the array is empty
  std::unique_ptr<LocalFft> rest_;         ///< for the last columns; null where tiles leave none
};

}  // namespace fourscore
