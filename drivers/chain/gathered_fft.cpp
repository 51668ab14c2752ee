#include "chain/gathered_fft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "kernels/copy.hpp"
#include "kernels/copy_kernels.hpp"

namespace fourscore {

namespace {

constexpr std::size_t contiguous_axis = 2;
constexpr Index line_bytes = 64;
/// What a tile may take of an L2 cache, which has 256 KiB on old processors, and 512 KiB to 2 MiB on those of today.
constexpr Index most_tile_bytes = 192 << 10;
/// Shorter rows waste what memory fetches at once.
constexpr Index least_row_bytes = 256;

Index volume(const Extents& extents) { return extents[0] * extents[1] * extents[2]; }

Index columns_of_tile(Index rows, Index columns, Index element_bytes) {
  const Index row_bytes = std::max(least_row_bytes, most_tile_bytes / rows / line_bytes * line_bytes);
  return std::min(columns, row_bytes / element_bytes);
}

}  // namespace

bool GatheredFft::serves(const LocalFftSpec& spec, const LocalArray& array, std::size_t axis,
                         const std::vector<SourceBlock>& blocks) {
  if (spec.axes.size() != 1 || spec.real_length > 0 || spec.threads > 1 || spec.single_plan) return false;
  if (axis == contiguous_axis || array.strides[contiguous_axis] != 1) return false;
  return std::ranges::all_of(blocks, [&](const SourceBlock& block) {
    if (block.strides[contiguous_axis] != 1) return false;
    for (std::size_t a = 0; a < 3; ++a)
      if (a != axis && (block.box.low[a] != 0 || block.box.high[a] != array.extents[a])) return false;
    return true;
  });
}

GatheredFft::GatheredFft(const LocalFftLibrary& library, const LocalFftSpec& spec, const LocalArray& array,
                         std::size_t axis, std::vector<SourceBlock> blocks)
    : array_(array),
      axis_(axis),
      outer_axis_(1 - axis),
      blocks_(std::move(blocks)),
      element_bytes_(spec.precision == Precision::double_precision ? 16 : 8),
      bytes_(volume(array.extents) * element_bytes_) {
  std::erase_if(blocks_, [](const SourceBlock& block) { return block.box.empty(); });  // and perhaps without memory
  const Index rows = std::max<Index>(1, array.extents[axis]);
  columns_ = columns_of_tile(rows, array.extents[contiguous_axis], element_bytes_);
  row_bytes_ = (columns_ * element_bytes_ + line_bytes - 1) / line_bytes * line_bytes + line_bytes;
  streaming_ = stores_for(static_cast<std::size_t>(bytes_)) == Stores::streaming &&
               copy_kernels::is_aligned(array.data, static_cast<std::size_t>(element_bytes_));
  if (library.on_device()) {
    columns_ = array.extents[contiguous_axis];
    whole_ = library.make(spec, array.data, array.data);
    return;
  }
  from_blocks_ = plan_from_blocks(library, spec);
  if (from_blocks_) return;
  scratch_ = ordinary_buffer(static_cast<std::size_t>(bytes_ == 0 ? 0 : rows * row_bytes_));
  if (bytes_ == 0) return;
  fft_ = plan(library, spec, columns_);
  if (const Index rest = array.extents[contiguous_axis] % columns_; rest > 0) rest_ = plan(library, spec, rest);
}

std::unique_ptr<LocalFft> GatheredFft::plan_from_blocks(const LocalFftLibrary& library,
                                                        const LocalFftSpec& spec) const {
  if (bytes_ == 0) return nullptr;
  LocalFftSpec from_blocks = spec;
  const auto loop = [this](std::size_t axis) {
    return Loop{array_.extents[axis], array_.strides[axis], array_.strides[axis]};
  };
  from_blocks.batch = {loop(contiguous_axis), loop(outer_axis_)};
  std::vector<AxisPart> parts;
  for (const SourceBlock& block : blocks_)
    parts.push_back(
        {block.box.low[axis_], block.box.high[axis_], block.data, block.strides[axis_], block.strides[outer_axis_]});
  std::ranges::sort(parts, {}, &AxisPart::low);
  return library.make_from_parts(from_blocks, parts, array_.data);
}

std::unique_ptr<LocalFft> GatheredFft::plan(const LocalFftLibrary& library, const LocalFftSpec& spec,
                                            Index columns) const {
  const Index stride = row_bytes_ / element_bytes_;
  LocalFftSpec of_tile = spec;
  of_tile.axes = {{array_.extents[axis_], stride, stride}};
  of_tile.batch = {{columns, 1, 1}};
  return library.make(of_tile, scratch_->data(), scratch_->data());
}

template <class Work>
void GatheredFft::for_each_tile(const Work& work) const {
  if (bytes_ == 0) return;
  const Index all = array_.extents[contiguous_axis];
  for (Index outer = 0; outer < array_.extents[outer_axis_]; ++outer)
    for (Index column = 0; column < all; column += columns_)
      work(Tile{outer, column, std::min(columns_, all - column)});
}

void GatheredFft::gather(const Tile& tile, std::byte* to, Index row_bytes) const {
  const auto run_bytes = static_cast<std::size_t>(tile.columns * element_bytes_);
  for (const SourceBlock& block : blocks_) {
    const std::byte* from = block.data + (tile.outer * block.strides[outer_axis_] + tile.column) * element_bytes_;
    const Index stride_bytes = block.strides[axis_] * element_bytes_;
    for (Index row = block.box.low[axis_]; row < block.box.high[axis_]; ++row, from += stride_bytes)
      std::memcpy(to + row * row_bytes, from, run_bytes);
  }
}

void GatheredFft::transform(const Tile& tile) {
  (tile.columns == columns_ ? fft_ : rest_)->execute();
  const auto run_bytes = static_cast<std::size_t>(tile.columns * element_bytes_);
  const auto* const scratch = static_cast<const std::byte*>(scratch_->data());
  std::byte* to = array_.data + (tile.outer * array_.strides[outer_axis_] + tile.column) * element_bytes_;
  const Index stride_bytes = array_.strides[axis_] * element_bytes_;
  for (Index row = 0; row < array_.extents[axis_]; ++row, to += stride_bytes) {
    if (streaming_)
      copy_kernels::stream_run(scratch + row * row_bytes_, to, run_bytes);
    else
      std::memcpy(to, scratch + row * row_bytes_, run_bytes);
  }
  if (streaming_) copy_kernels::fence_stores();
}

void GatheredFft::execute(PhaseClock& clock) {
  if (from_blocks_) return from_blocks_->run(clock);
  if (whole_) {
    {
      const Region region(clock, Phase::exchange);
      gather();
    }
    whole_->run(clock);
    return;
  }
  for_each_tile([&](const Tile& tile) {
    {
      const Region region(clock, Phase::exchange);
      gather(tile, static_cast<std::byte*>(scratch_->data()), row_bytes_);
    }
    const Region region(clock, Phase::fft);
    transform(tile);
  });
}

void GatheredFft::gather() {
  if (from_blocks_) return;
  for_each_tile([this](const Tile& tile) {
    if (whole_)
      gather(tile, array_.data + tile.outer * array_.strides[outer_axis_] * element_bytes_,
             array_.strides[axis_] * element_bytes_);
    else
      gather(tile, static_cast<std::byte*>(scratch_->data()), row_bytes_);
  });
}

void GatheredFft::transform() {
  if (from_blocks_)
    from_blocks_->execute();
  else if (whole_)
    whole_->execute();
  else
    for_each_tile([this](const Tile& tile) { transform(tile); });
}

std::size_t GatheredFft::workspace_bytes() const {
  if (from_blocks_) return from_blocks_->workspace_bytes();
  return whole_ ? whole_->workspace_bytes() : scratch_->bytes();
}

std::string GatheredFft::describe() const {
  if (from_blocks_)
    return fmt::format("{} B read from {} blocks [{}]", bytes_, blocks_.size(), from_blocks_->describe());
  if (whole_)
    return fmt::format("{} B gathered from {} blocks at once [{}]", bytes_, blocks_.size(), whole_->describe());
  if (!fft_) return "nothing to do";
  return fmt::format("{} x {} B gathered from {} blocks{} [{}]", array_.extents[axis_], columns_ * element_bytes_,
                     blocks_.size(), streaming_ ? ", streamed out" : "", fft_->describe());
}

}  // namespace fourscore
