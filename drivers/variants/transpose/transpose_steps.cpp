#include "variants/transpose/transpose_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <cstring>
#include <stdexcept>

#include "chain/components.hpp"
#include "kernels/copy.hpp"
#include "kernels/copy_kernels.hpp"

namespace fourscore {

namespace {

/// What the scratch of a block of columns may take: half of a second-level cache of 512 KiB, and a quarter of the data.
constexpr Index scratch_bytes = 256 * 1024;
constexpr Index line_bytes = 64;

template <class Real>
class TwiddledFft : public TransposeStep {
 public:
  using Value = std::complex<Real>;
  TwiddledFft(const PlanContext& context, const TwiddledSpec& spec, const void* from, void* to)
      : before_(spec.before),
        length_(spec.length),
        columns_(spec.columns),
        twiddle_first_(spec.twiddle_first),
        from_(static_cast<const Value*>(from)),
        to_(static_cast<Value*>(to)),
        width_(block_width()),
        scratch_(ordinary_buffer(static_cast<std::size_t>(length_ * width_) * sizeof(Value))),
        block_(static_cast<Value*>(scratch_->data())) {
    LocalFftSpec local = local_fft_spec(context.problem);
    local.single_plan = true;
    const auto plan = [&](Index width) {
      local.axes = {{length_, width, width}};
      local.batch = {{width, 1, 1}};
      return context.local_fft.make(local, block_, block_);
    };
    whole_ = plan(width_);
    if (columns_ % width_ != 0) rest_ = plan(columns_ % width_);
    while (fine_rows_ < 32 && fine_rows_ * fine_rows_ < length_) fine_rows_ *= 2;
    plan_factors(spec, Roots(spec.order, context.problem.direction));
  }

  void run(PhaseClock& clock) override {
    for_each_block([&](Index a, Index column) {
      if (twiddle_first_) {
        {
          const Region region(clock, Phase::twiddle);
          twiddled_copy<true>(a, column);
        }
        const Region region(clock, Phase::fft);
        transform(column);
        plain_copy<false>(a, column);
      } else {
        {
          const Region region(clock, Phase::fft);
          plain_copy<true>(a, column);
          transform(column);
        }
        const Region region(clock, Phase::twiddle);
        twiddled_copy<false>(a, column);
      }
    });
  }

  void add_components(std::vector<Component>& list, int number) override {
    // The scratch stays in the cache: of reading and writing the data each of the two does one.
    const Index bytes = before_ * length_ * columns_ * static_cast<Index>(sizeof(Value));
    const Component fft{fmt::format("fft-{}", number), Phase::fft,
                        [this] {
                          for_each_block([&](Index a, Index column) {
                            if (!twiddle_first_) plain_copy<true>(a, column);
                            transform(column);
                            if (twiddle_first_) plain_copy<false>(a, column);
                          });
                        },
                        bytes};
    const Component twiddle{fmt::format("twiddle-{}", number), Phase::twiddle,
                            [this] {
                              for_each_block([&](Index a, Index column) {
                                twiddle_first_ ? twiddled_copy<true>(a, column) : twiddled_copy<false>(a, column);
                              });
                            },
                            bytes};
    list.push_back(twiddle_first_ ? twiddle : fft);
    list.push_back(twiddle_first_ ? fft : twiddle);
  }
  [[nodiscard]] Sort sort() const override { return Sort::fft; }
  [[nodiscard]] bool lands_in_source() const override { return from_ == to_; }
  [[nodiscard]] std::size_t workspace_bytes() const override {
    return scratch_->bytes() + (fine_.size() + coarse_.size()) * sizeof(Value);
  }
  [[nodiscard]] std::string describe() const override { return whole_->describe(); }

 private:
  [[nodiscard]] Index block_width() const {
    constexpr Index line = line_bytes / static_cast<Index>(sizeof(Value));
    const Index fitting = std::min(scratch_bytes / static_cast<Index>(sizeof(Value)) / length_, columns_ / 4);
    return std::min(columns_, std::max(line, fitting / line * line));
  }

  template <class Body>
  void for_each_block(Body body) {
    for (Index a = 0; a < before_; ++a)
      for (Index column = 0; column < columns_; column += width_) body(a, column);
  }
  [[nodiscard]] Index width_at(Index column) const { return std::min(width_, columns_ - column); }
  void transform(Index column) { (width_at(column) == width_ ? whole_ : rest_)->execute(); }

  /// Between the array and the scratch, whose rows are as wide as the block.
  template <bool gathers>
  void plain_copy(Index a, Index column) {
    const Index width = width_at(column);
    const auto bytes = static_cast<std::size_t>(width) * sizeof(Value);
    const Index first = a * length_ * columns_ + column;
    for (Index k = 0; k < length_; ++k) {
      if constexpr (gathers)
        copy_kernels::copy_run(reinterpret_cast<const std::byte*>(from_ + first + k * columns_),
                               reinterpret_cast<std::byte*>(block_ + k * width), bytes);
      else
        copy_kernels::copy_run(reinterpret_cast<const std::byte*>(block_ + k * width),
                               reinterpret_cast<std::byte*>(to_ + first + k * columns_), bytes);
    }
  }
  template <bool gathers>
  void twiddled_copy(Index a, Index column) {
    const Index width = width_at(column);
    const Index first = a * length_ * columns_ + column;
    const Value* fine = fine_.data() + column * fine_rows_;
    const Value* coarse = coarse_.data() + column * coarse_rows();
    for (Index k = 0; k < length_; ++k) {
      const Index row = k % fine_rows_;
      if constexpr (gathers)
        kernels::multiply_into(block_ + k * width, from_ + first + k * columns_, fine + row * width, coarse, width);
      else
        kernels::multiply_into(to_ + first + k * columns_, block_ + k * width, fine + row * width, coarse, width);
      if (row + 1 == fine_rows_) coarse += width;
    }
  }

  [[nodiscard]] Index coarse_rows() const { return (length_ + fine_rows_ - 1) / fine_rows_; }
  /// root^(k I) = root^(k mod f I) root^(k div f f I) for each block of columns with exponents I: together a small part
  /// of the data, and read in the order of use.
  void plan_factors(const TwiddledSpec& spec, const Roots& roots) {
    fine_.reserve(static_cast<std::size_t>(columns_ * fine_rows_));
    coarse_.reserve(static_cast<std::size_t>(columns_ * coarse_rows()));
    const auto add_rows = [&](std::vector<Value>& table, Index rows, Index step, Index column) {
      for (Index row = 0; row < rows; ++row)
        for (Index c = column; c < column + width_at(column); ++c)
          table.emplace_back(roots.power(row * step, spec.exponents[static_cast<std::size_t>(c)]));
    };
    for (Index column = 0; column < columns_; column += width_) {
      add_rows(fine_, fine_rows_, 1, column);
      add_rows(coarse_, coarse_rows(), fine_rows_, column);
    }
  }

  Index before_;
  Index length_;
  Index columns_;
  bool twiddle_first_;
  const Value* from_;
  Value* to_;
  Index width_;  ///< columns of a block; the last one may be narrower
  std::unique_ptr<Buffer> scratch_;
  Value* block_;
  std::unique_ptr<LocalFft> whole_;
  std::unique_ptr<LocalFft> rest_;
  Index fine_rows_ = 1;
  std::vector<Value> fine_;
  std::vector<Value> coarse_;
};

class PlainFft : public TransposeStep {
 public:
  PlainFft(const PlanContext& context, Index before, Index length, Index columns, void* from, void* to)
      : in_place_(from == to), bytes_(before * length * columns * static_cast<Index>(context.problem.element_bytes())) {
    LocalFftSpec spec = local_fft_spec(context.problem);
    spec.axes = {{length, columns, columns}};
    spec.batch = {{columns, 1, 1}, {before, length * columns, length * columns}};
    fft_ = context.local_fft.make(spec, from, to);
  }
  void run(PhaseClock& clock) override {
    const Region region(clock, Phase::fft);
    fft_->execute();
  }
  void add_components(std::vector<Component>& list, int number) override {
    list.push_back({fmt::format("fft-{}", number), Phase::fft, [this] { fft_->execute(); }, 2 * bytes_});
  }
  [[nodiscard]] Sort sort() const override { return Sort::fft; }
  [[nodiscard]] bool lands_in_source() const override { return in_place_; }
  [[nodiscard]] std::string describe() const override { return fft_->describe(); }

 private:
  bool in_place_;
  Index bytes_;
  std::unique_ptr<LocalFft> fft_;
};

class FftIntoColumns : public TransposeStep {
 public:
  FftIntoColumns(const PlanContext& context, Index rows, Index length, const Buffer& from, const Buffer& to)
      : rows_(rows),
        element_bytes_(static_cast<Index>(context.problem.element_bytes())),
        row_bytes_(length * element_bytes_),
        height_(block_height()),
        from_(static_cast<const std::byte*>(from.data())),
        to_(static_cast<std::byte*>(to.data())),
        scratch_(ordinary_buffer(static_cast<std::size_t>(height_ * row_bytes_))) {
    plan(context, whole_, height_, length);
    if (rows_ % height_ != 0) plan(context, rest_, rows_ % height_, length);
  }
  void run(PhaseClock& clock) override {
    for (Index row = 0; row < rows_; row += height_) {
      {
        const Region region(clock, Phase::fft);
        transform(row);
      }
      const Region region(clock, Phase::unpack);
      write(row);
    }
  }
  void add_components(std::vector<Component>& list, int number) override {
    // As for twiddled transforms: one reads the data, the other writes it.
    list.push_back({fmt::format("fft-{}", number), Phase::fft,
                    [this] {
                      for (Index row = 0; row < rows_; row += height_) transform(row);
                    },
                    rows_ * row_bytes_});
    list.push_back({fmt::format("unpack-{}", number), Phase::unpack,
                    [this] {
                      for (Index row = 0; row < rows_; row += height_) write(row);
                    },
                    rows_ * row_bytes_});
  }
  [[nodiscard]] Sort sort() const override { return Sort::fft; }
  [[nodiscard]] bool lands_in_source() const override { return false; }
  [[nodiscard]] std::size_t workspace_bytes() const override { return scratch_->bytes(); }
  [[nodiscard]] std::string describe() const override { return whole_.fft->describe(); }

 private:
  struct Block {
    std::unique_ptr<LocalFft> fft;
    CopyPlan copy;
  };
  [[nodiscard]] Index block_height() const {
    const Index line = line_bytes / element_bytes_;
    const Index fitting = std::min(scratch_bytes / row_bytes_, rows_ / 4);
    return std::min(rows_, std::max(line, fitting / line * line));
  }
  void plan(const PlanContext& context, Block& block, Index height, Index length) {
    LocalFftSpec spec = local_fft_spec(context.problem);
    spec.axes = {{length, 1, 1}};
    spec.batch = {{height, length, length}};
    spec.single_plan = true;
    block.fft = context.local_fft.make(spec, scratch_->data(), scratch_->data());
    block.copy = CopyPlan({length, height, 1}, {1, length, 1}, {rows_, 1, 1}, context.problem.element_bytes(),
                          stores_for(static_cast<std::size_t>(rows_ * row_bytes_)));
  }
  [[nodiscard]] const Block& block_at(Index row) const { return row + height_ <= rows_ ? whole_ : rest_; }
  void transform(Index row) {
    const Index height = std::min(height_, rows_ - row);
    std::memcpy(scratch_->data(), from_ + row * row_bytes_, static_cast<std::size_t>(height * row_bytes_));
    block_at(row).fft->execute();
  }
  void write(Index row) const { block_at(row).copy.run(scratch_->data(), to_ + row * element_bytes_); }

  Index rows_;
  Index element_bytes_;
  Index row_bytes_;
  Index height_;  ///< rows of a block; the last one may have fewer
  const std::byte* from_;
  std::byte* to_;
  std::unique_ptr<Buffer> scratch_;
  Block whole_;
  Block rest_;
};

class Redistribution : public TransposeStep {
 public:
  Redistribution(const PlanContext& context, const ExchangeSpec& spec)
      : exchange_(context.exchange->make(spec)),
        bytes_after_(spec.to.box(mpi::rank_in(spec.comm)).volume() * static_cast<Index>(spec.element_bytes)),
        copies_(copies_on_any_rank(*exchange_, context.comm)) {}
  void run(PhaseClock& clock) override { exchange_->run(clock); }
  void add_components(std::vector<Component>& list, int number) override {
    add_exchange(list, *exchange_, copies_, number, min_bytes_of_exchange(*exchange_, bytes_after_));
  }
  [[nodiscard]] Sort sort() const override { return Sort::exchange; }
  [[nodiscard]] bool lands_in_source() const override { return exchange_->lands_in_source(); }
  [[nodiscard]] MessageVolume message_volume() const override { return exchange_->message_volume(); }
  [[nodiscard]] std::size_t workspace_bytes() const override { return exchange_->facts().workspace_bytes; }

 private:
  std::unique_ptr<Exchange> exchange_;
  Index bytes_after_;
  ExchangeCopies copies_;
};

}  // namespace

std::unique_ptr<TransposeStep> twiddled_fft(const PlanContext& context, const TwiddledSpec& spec, const Buffer& from,
                                            const Buffer& to) {
  if (context.problem.precision == Precision::double_precision)
    return std::make_unique<TwiddledFft<double>>(context, spec, from.data(), to.data());
  return std::make_unique<TwiddledFft<float>>(context, spec, from.data(), to.data());
}

std::unique_ptr<TransposeStep> plain_fft(const PlanContext& context, Index before, Index length, Index columns,
                                         const Buffer& from, const Buffer& to) {
  return std::make_unique<PlainFft>(context, before, length, columns, from.data(), to.data());
}

std::unique_ptr<TransposeStep> fft_into_columns(const PlanContext& context, Index rows, Index length,
                                                const Buffer& from, const Buffer& to) {
  return std::make_unique<FftIntoColumns>(context, rows, length, from, to);
}

std::unique_ptr<TransposeStep> redistribution(const PlanContext& context, const ExchangeSpec& spec) {
  return std::make_unique<Redistribution>(context, spec);
}

ExchangeSpec RedistributionSpec::exchange(const PlanContext& context, Buffer& source, Buffer& spare,
                                          Buffer* staging) const {
  return {from,   to, comm.get(), context.problem.element_bytes(), source, spare, context.comm, &context.problem,
          staging};
}

}  // namespace fourscore
