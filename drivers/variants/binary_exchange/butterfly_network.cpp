#include "variants/binary_exchange/butterfly_network.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "core/digit_order.hpp"
#include "mpi/error.hpp"
#include "redistribution/exchange_blocks.hpp"

namespace fourscore {

namespace {

constexpr int message_tag = 0;
/// Elements that are combined and then multiplied while they lie in the caches: the switch of the clock between the
/// two phases costs nothing beside them.
constexpr Index block_elements = 4096;

/// own[i] = f[0] own[i] + f[1] others[0][i] + ... : one output of a butterfly of radix q.
template <int q, class Real>
void combine_arrays(std::complex<Real>* __restrict own, const std::vector<std::complex<Real>>& f,
                    const std::array<const std::complex<Real>*, q - 1>& others, Index n) {
  std::array<std::complex<Real>, q> factor;
  std::copy(f.begin(), f.end(), factor.begin());
  const auto from = others;  // neither is written through own
  for (Index i = 0; i < n; ++i) {
    std::complex<Real> sum = kernels::product(factor[0], own[i]);
    for (int s = 1; s < q; ++s) sum += kernels::product(factor[s], from[s - 1][i]);
    own[i] = sum;
  }
}

}  // namespace

int log2_of(int power_of_two) { return std::bit_width(static_cast<unsigned>(power_of_two)) - 1; }

std::vector<int> stage_radices(int ranks, int radix) {
  std::vector<int> radices;
  for (int left = ranks; left > 1; left /= radices.back()) radices.push_back(std::min(left, radix));
  return radices;
}

template <class Real>
ButterflyNetwork<Real>::ButterflyNetwork(MPI_Comm line, Index elements, const NetworkOptions& options, Value* own,
                                         Value* landing, const LineFactors<Real>* factors)
    : line_(line),
      type_(mpi::element_type(sizeof(Value))),
      ranks_(mpi::size_of(line)),
      me_(mpi::rank_in(line)),
      elements_(elements),
      options_(options),
      own_(own),
      landing_(landing),
      factors_(factors) {
  plan_stages();
  std::size_t most_partners = 1;
  for (const Stage& stage : stages_) most_partners = std::max(most_partners, stage.partners.size());
  if (most_partners > 1)
    more_landing_ = ordinary_buffer((most_partners - 1) * static_cast<std::size_t>(elements) * sizeof(Value));
  for (Index i = 0; i < options.pieces; ++i) {
    Piece& piece = pieces_.emplace_back(Piece{block_range(elements, options.pieces, i), mpi::Requests()});
    require_int_count(piece.range.size(), "a message", "binary-exchange");
    piece.requests.reserve(2 * most_partners);
  }
}

template <class Real>
void ButterflyNetwork<Real>::plan_stages() {
  int first_bit = 0;
  for (const int radix : stage_radices(ranks_, options_.radix)) {
    stages_.push_back(stage_at(first_bit, log2_of(radix)));
    first_bit += log2_of(radix);
  }
  if (options_.from_end) std::ranges::reverse(stages_);
}

/// Let l bits be done, k their sum of b_i 2^i, and q = 2^bits. The rank whose next bits are the number s holds A_s, and
/// the one whose next bits are t reversed forms sum_s w^(s (k + 2^l t)) A_s with w of order 2^l q: for q = 2 that is
/// line 8 of Figure 1. From the end A_s is, but for a factor of q, the sum over t of w^(s (k + 2^l t)) times what the
/// rank of t holds, w being conjugated by the direction.
template <class Real>
auto ButterflyNetwork<Real>::stage_at(int first_bit, int bits) const -> Stage {
  const int all_bits = log2_of(ranks_);
  const int shift = all_bits - first_bit - bits;
  const int radix = 1 << bits;
  const int mine = (me_ >> shift) & (radix - 1);
  const int k = reversed_bits(me_ >> (all_bits - first_bit), first_bit);
  const Roots roots(Index{1} << (first_bit + bits), options_.direction);
  Stage stage;
  for (int i = 0; i < radix; ++i) {  // in turn i all ranks go in pairs
    const int other = mine ^ i;
    if (i > 0) stage.partners.push_back(me_ ^ (i << shift));
    const int s = options_.from_end ? mine : other;
    const int t = reversed_bits(options_.from_end ? other : mine, bits);
    stage.factors.push_back(Value(roots.power(s, k + (Index{t} << first_bit))));
  }
  return stage;
}

template <class Real>
auto ButterflyNetwork<Real>::landing(std::size_t partner) const -> Value* {
  if (partner == 0) return landing_;
  return static_cast<Value*>(more_landing_->data()) + static_cast<Index>(partner - 1) * elements_;
}

template <class Real>
void ButterflyNetwork<Real>::swap_with(int partner) {
  const auto count = static_cast<int>(elements_);
  FOURSCORE_MPI(MPI_Sendrecv(own_, count, type_, partner, message_tag, landing_, count, type_, partner, message_tag,
                             line_, MPI_STATUS_IGNORE));
}

template <class Real>
void ButterflyNetwork<Real>::post(const Stage& stage, Piece& piece) {
  const auto count = static_cast<int>(piece.range.size());
  for (std::size_t i = 0; i < stage.partners.size(); ++i)
    FOURSCORE_MPI(MPI_Irecv(landing(i) + piece.range.low, count, type_, stage.partners[i], message_tag, line_,
                            piece.requests.next()));
  for (const int partner : stage.partners)
    FOURSCORE_MPI(MPI_Isend(own_ + piece.range.low, count, type_, partner, message_tag, line_, piece.requests.next()));
}

template <class Real>
void ButterflyNetwork<Real>::exchange(std::size_t number) {
  const Stage& stage = stages_[number];
  if (pieces_.size() == 1 && stage.partners.size() == 1) return swap_with(stage.partners.front());
  for (Piece& piece : pieces_) post(stage, piece);
  for (Piece& piece : pieces_) piece.requests.wait_all();
}

template <class Real>
void ButterflyNetwork<Real>::combine_range(const Stage& stage, Range range) {
  Value* own = own_ + range.low;
  const auto with = [&]<int q>() {
    std::array<const Value*, q - 1> others;
    for (std::size_t i = 0; i < others.size(); ++i) others[i] = landing(i) + range.low;
    combine_arrays<q>(own, stage.factors, others, range.size());
  };
  switch (stage.factors.size()) {
    case 2:
      return kernels::butterfly(own, landing_ + range.low, stage.factors[0], stage.factors[1], range.size());
    case 4:
      return with.template operator()<4>();
    case 8:
      return with.template operator()<8>();
    default:
      return with.template operator()<16>();
  }
}

template <class Real>
void ButterflyNetwork<Real>::combine_and_multiply(PhaseClock& clock, std::size_t stage, Range range) {
  const bool multiplies = factors_ != nullptr && stage + 1 == stages_.size() && !options_.from_end;
  const Index block = multiplies ? block_elements : range.size();
  for (Index low = range.low; low < range.high; low += block) {
    const Range part{low, std::min(range.high, low + block)};
    {
      const Region region(clock, Phase::combine);
      combine_range(stages_[stage], part);
    }
    if (multiplies) multiply(clock, part);
  }
}

template <class Real>
void ButterflyNetwork<Real>::multiply(PhaseClock& clock, Range range) {
  if (factors_->is_one()) return;
  const Region region(clock, Phase::twiddle);
  factors_->multiply(own_, range);
}

template <class Real>
void ButterflyNetwork<Real>::run(PhaseClock& clock) {
  pieces_.size() == 1 ? run_whole(clock) : run_in_pieces(clock);
}

template <class Real>
void ButterflyNetwork<Real>::run_whole(PhaseClock& clock) {
  if (factors_ != nullptr && options_.from_end) multiply(clock, {0, elements_});
  for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
    {
      const Region region(clock, Phase::exchange);
      exchange(stage);
    }
    combine_and_multiply(clock, stage, {0, elements_});
  }
}

/// Appendix E: while one piece is combined the others are under way, also those of the next stage.
template <class Real>
void ButterflyNetwork<Real>::run_in_pieces(PhaseClock& clock) {
  for (Piece& piece : pieces_) {
    if (factors_ != nullptr && options_.from_end) multiply(clock, piece.range);
    const Region region(clock, Phase::exchange);
    post(stages_.front(), piece);
  }
  for (std::size_t stage = 0; stage < stages_.size(); ++stage)
    for (Piece& piece : pieces_) {
      {
        const Region region(clock, Phase::exchange);
        piece.requests.wait_all();
      }
      combine_and_multiply(clock, stage, piece.range);
      if (stage + 1 == stages_.size()) continue;
      const Region region(clock, Phase::exchange);
      post(stages_[stage + 1], piece);
    }
}

template <class Real>
MessageVolume ButterflyNetwork<Real>::message_volume() const {
  MessageVolume total;
  for (const Stage& stage : stages_) {
    const auto partners = static_cast<Index>(stage.partners.size());
    total.bytes_sent += partners * elements_ * static_cast<Index>(sizeof(Value));
    total.messages_sent += partners * static_cast<Index>(pieces_.size());
  }
  return total;
}

template class ButterflyNetwork<double>;
template class ButterflyNetwork<float>;

}  // namespace fourscore
