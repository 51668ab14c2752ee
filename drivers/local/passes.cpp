#include "local/passes.hpp"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <cstdlib>
#include <cstring>
#include <new>

namespace fourscore::local {

namespace {

class Sequence : public Pass {
 public:
  Sequence(std::vector<PassPtr> passes, std::size_t leaves_at) : passes_(std::move(passes)), leaves_at_(leaves_at) {}
  void run(std::byte* in, std::byte* out) const override {
    for (std::size_t i = 0; i < passes_.size(); ++i)
      passes_[i]->run(i <= leaves_at_ ? in : out, i < leaves_at_ ? in : out);
  }
  [[nodiscard]] std::string describe() const override {
    std::string text;
    for (const auto& pass : passes_) text += (text.empty() ? "" : " then ") + pass->describe();
    return text;
  }

 private:
  std::vector<PassPtr> passes_;
  std::size_t leaves_at_;
};

class Repeated : public Pass {
 public:
  Repeated(Index count, Index in_stride_bytes, Index out_stride_bytes, PassPtr body)
      : count_(count), in_stride_bytes_(in_stride_bytes), out_stride_bytes_(out_stride_bytes), body_(std::move(body)) {}
  void run(std::byte* in, std::byte* out) const override {
    for (Index i = 0; i < count_; ++i) body_->run(in + i * in_stride_bytes_, out + i * out_stride_bytes_);
  }
  [[nodiscard]] std::string describe() const override {
    return std::to_string(count_) + " times [" + body_->describe() + "]";
  }

 private:
  Index count_;
  Index in_stride_bytes_;
  Index out_stride_bytes_;
  PassPtr body_;
};

class Copied : public Pass {
 public:
  explicit Copied(std::size_t bytes) : bytes_(bytes) {}
  void run(std::byte* in, std::byte* out) const override { std::memcpy(out, in, bytes_); }
  [[nodiscard]] std::string describe() const override { return "copy"; }

 private:
  std::size_t bytes_;
};

class ByWayOf : public Pass {
 public:
  ByWayOf(std::shared_ptr<Scratch> scratch, PassPtr first, PassPtr second)
      : scratch_(std::move(scratch)), first_(std::move(first)), second_(std::move(second)) {}
  void run(std::byte* in, std::byte* out) const override {
    first_->run(in, scratch_->data());
    second_->run(scratch_->data(), out);
  }
  [[nodiscard]] std::string describe() const override {
    return first_->describe() + " into a scratch, then " + second_->describe() + " out of it";
  }

 private:
  std::shared_ptr<Scratch> scratch_;
  PassPtr first_, second_;
};

/// Compile-time widths let the compiler unroll the piece of one row into vector moves.
template <Index width>
void copy_rows_of(const std::byte* from, Index from_stride, std::byte* to, Index to_stride, Index rows) {
  for (Index row = 0; row < rows; ++row) std::memcpy(to + row * to_stride, from + row * from_stride, width);
}

void copy_rows(const std::byte* from, Index from_stride, std::byte* to, Index to_stride, Index rows, Index width) {
  switch (width) {
    case 64:
      return copy_rows_of<64>(from, from_stride, to, to_stride, rows);
    case 128:
      return copy_rows_of<128>(from, from_stride, to, to_stride, rows);
    case 256:
      return copy_rows_of<256>(from, from_stride, to, to_stride, rows);
    case 512:
      return copy_rows_of<512>(from, from_stride, to, to_stride, rows);
    default:
      for (Index row = 0; row < rows; ++row)
        std::memcpy(to + row * to_stride, from + row * from_stride, static_cast<std::size_t>(width));
  }
}

/// As copy_rows, but the stores go past the caches where the target is aligned for it.
void stream_rows(const std::byte* from, Index from_stride, std::byte* to, Index to_stride, Index rows, Index width) {
#ifdef __SSE2__
  constexpr Index lane = sizeof(__m128i);
  if (reinterpret_cast<std::uintptr_t>(to) % lane == 0 && to_stride % lane == 0 && width % lane == 0) {
    for (Index row = 0; row < rows; ++row) {
      const auto* source = reinterpret_cast<const __m128i*>(from + row * from_stride);
      auto* target = reinterpret_cast<__m128i*>(to + row * to_stride);
      for (Index i = 0; i < width / lane; ++i) _mm_stream_si128(target + i, _mm_loadu_si128(source + i));
    }
    _mm_sfence();
    return;
  }
#endif
  copy_rows(from, from_stride, to, to_stride, rows, width);
}

class Buffered : public Pass {
 public:
  Buffered(const Columns& block, Index blocks, PassPtr body, Index rest_width_bytes, PassPtr rest,
           std::shared_ptr<Scratch> scratch, bool streaming)
      : block_(block),
        blocks_(blocks),
        body_(std::move(body)),
        rest_width_bytes_(rest_width_bytes),
        rest_(std::move(rest)),
        scratch_(std::move(scratch)),
        streaming_(streaming) {}

  void run(std::byte* in, std::byte* out) const override {
    for (Index i = 0; i < blocks_; ++i)
      run_block(in + i * block_.width_bytes, out + i * block_.width_bytes, block_.width_bytes, *body_);
    const Index done = blocks_ * block_.width_bytes;
    if (rest_) run_block(in + done, out + done, rest_width_bytes_, *rest_);
  }
  [[nodiscard]] std::string describe() const override {
    return std::to_string(blocks_ + (rest_ ? 1 : 0)) + " blocks " + std::to_string(block_.width_bytes) + " B wide" +
           (streaming_ ? ", streamed out" : "") + " [" + body_->describe() + "]";
  }

 private:
  void run_block(const std::byte* in, std::byte* out, Index width, const Pass& body) const {
    std::byte* scratch = scratch_->data();
    copy_rows(in, block_.stride_bytes, scratch, width, block_.rows, width);
    body.run(scratch, scratch);
    if (streaming_)
      stream_rows(scratch, width, out, block_.stride_bytes, block_.rows, width);
    else
      copy_rows(scratch, width, out, block_.stride_bytes, block_.rows, width);
  }

  Columns block_;
  Index blocks_;
  PassPtr body_;
  Index rest_width_bytes_;
  PassPtr rest_;
  std::shared_ptr<Scratch> scratch_;
  bool streaming_;
};

}  // namespace

Scratch::Scratch(std::size_t bytes) {
  constexpr std::size_t line = 64;
  const std::size_t padded = (bytes + line - 1) / line * line;
  data_.reset(static_cast<std::byte*>(std::aligned_alloc(line, padded)));
  if (!data_) throw std::bad_alloc();
  std::memset(data_.get(), 0, padded);
}

void Scratch::Free::operator()(std::byte* memory) const { std::free(memory); }

PassPtr in_sequence(std::vector<PassPtr> passes, std::size_t leaves_at) {
  return std::make_unique<Sequence>(std::move(passes), leaves_at);
}

PassPtr repeated(Index count, Index in_stride_bytes, Index out_stride_bytes, PassPtr body) {
  return std::make_unique<Repeated>(count, in_stride_bytes, out_stride_bytes, std::move(body));
}

PassPtr by_way_of(std::shared_ptr<Scratch> scratch, PassPtr first, PassPtr second) {
  return std::make_unique<ByWayOf>(std::move(scratch), std::move(first), std::move(second));
}

PassPtr copied(std::size_t bytes) { return std::make_unique<Copied>(bytes); }

PassPtr buffered(const Columns& block, Index blocks, PassPtr body, Index rest_width_bytes, PassPtr rest,
                 std::shared_ptr<Scratch> scratch, bool streaming) {
  return std::make_unique<Buffered>(block, blocks, std::move(body), rest_width_bytes, std::move(rest),
                                    std::move(scratch), streaming);
}

}  // namespace fourscore::local
