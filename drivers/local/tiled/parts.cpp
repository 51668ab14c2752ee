// A pass along columns whose rows lie in parts, as in the memory of several ranks.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/copy.hpp"
#include "local/pass_fft.hpp"
#include "local/tiled/kernels.hpp"
#include "local/tiled/passes.hpp"

namespace fourscore::local::tiled {

namespace {

/// What is read of a row at once, at most: rows of other ranks lie far apart.
constexpr Index row_bytes = 1024;
constexpr Index most_tile_bytes = Index{512} << 10;

template <class Real>
class FftOfParts : public LocalFft {
 public:
  FftOfParts(const LocalFftSpec& spec, const std::vector<AxisPart>& parts, void* out)
      : plan_(line_plan<Real>(spec.axes.front().count, largest_radix(), spec.direction)),
        along_(spec.axes.front()),
        columns_(spec.batch.front()),
        outer_(spec.batch.size() > 1 ? spec.batch[1] : Loop{}),
        is_one_loop_(continue_each_other(parts)),
        width_(width_of(is_one_loop_ ? columns_.count * outer_.count : columns_.count, along_.count)),
        out_(out),
        flops_(credited_flops_of(spec)),
        streaming_(stores_for(bytes_written(spec)) == Stores::streaming),
        scratch_(static_cast<std::size_t>(scratch_bytes(plan_, width_))) {
    if (is_one_loop_) {
      columns_.count *= outer_.count;
      outer_ = {};
    }
    for (const AxisPart& part : parts) {
      if (part.low == part.high) continue;
      parts_.push_back({part.low, part.high, static_cast<const Real*>(part.data), part.stride});
      outer_strides_.push_back(part.outer_stride);
    }
    rows_ = parts_;
  }
  void execute() override { execute_at(nullptr, out_); }
  void execute_at(void* /*in*/, void* out) override {
    for (Index outer = 0; outer < outer_.count; ++outer) {
      for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i].data = parts_[i].data + 2 * outer * outer_strides_[i];
      transform<Real>({&plan_, along_, columns_, width_, scratch_.data(), rows_.data(), nullptr, true, streaming_},
                      nullptr, static_cast<Real*>(out) + 2 * outer * outer_.out_stride);
    }
  }
  [[nodiscard]] std::size_t workspace_bytes() const override {
    return static_cast<std::size_t>(scratch_bytes(plan_, width_));
  }
  [[nodiscard]] std::string describe() const override {
    return fmt::format("tiled {} from {} parts, {} wide{}, axis{} beside{} outer{}", instruction_set(), parts_.size(),
                       width_, streaming_ ? ", streamed out" : "", loops_text({along_}), loops_text({columns_}),
                       loops_text({outer_}));
  }
  [[nodiscard]] double credited_flops() const override { return flops_; }

 private:
  static std::size_t bytes_written(const LocalFftSpec& spec) {
    Index elements = spec.axes.front().count;
    for (const Loop& loop : spec.batch) elements *= loop.count;
    return static_cast<std::size_t>(elements) * 2 * sizeof(Real);
  }
  /// Whether the columns of the outer loop's next element follow those of this one, wherever they lie. Then only the
  /// last tile of all may have fewer columns than a vector has lanes, not one for each element.
  [[nodiscard]] bool continue_each_other(const std::vector<AxisPart>& parts) const {
    return outer_.out_stride == columns_.count && std::ranges::all_of(parts, [this](const AxisPart& part) {
             return part.low == part.high || part.outer_stride == columns_.count;
           });
  }
  static Index width_of(Index columns, Index length) {
    constexpr auto element_bytes = static_cast<Index>(2 * sizeof(Real));
    const Index bytes = std::min({row_bytes, columns * element_bytes, most_tile_bytes / length});
    return std::max<Index>(1, bytes / (2 * vector_bytes()));
  }

  LinePlan<Real> plan_;
  Loop along_, columns_, outer_;
  bool is_one_loop_;
  Index width_;
  void* out_;
  double flops_;
  bool streaming_;
  Scratch scratch_;
  std::vector<Rows<Real>> parts_;  ///< as they are for the first of the outer loop
  std::vector<Index> outer_strides_;
  std::vector<Rows<Real>> rows_;  ///< as they are for the one in hand
};

}  // namespace

std::unique_ptr<LocalFft> fft_of_parts(const LocalFftSpec& spec, const std::vector<AxisPart>& parts, void* out) {
  if (is_empty(spec) || spec.real_length > 0 || spec.threads > 1 || spec.axes.size() != 1 || spec.batch.empty() ||
      spec.batch.size() > 2 || spec.batch.front().out_stride != 1 || radices_of(spec.axes.front().count).empty())
    return nullptr;
  if (spec.precision == Precision::double_precision) return std::make_unique<FftOfParts<double>>(spec, parts, out);
  return std::make_unique<FftOfParts<float>>(spec, parts, out);
}

}  // namespace fourscore::local::tiled
