#include "variants/binary_exchange/butterfly_network.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "core/digit_order.hpp"
#include "mpi/error.hpp"
#include "redistribution/exchange_blocks.hpp"

namespace fourscore {

namespace {

constexpr int message_tag = 0;
/// Elements that are combined and then multiplied while they lie in the caches: the switch of the clock between the
/// two phases costs nothing beside them.
constexpr Index elements_together = 4096;

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

/// x i^power
template <int power, class Real>
std::complex<Real> turned(std::complex<Real> x) {
  if constexpr (power == 1) return {-x.imag(), x.real()};
  if constexpr (power == 2) return {-x.real(), -x.imag()};
  if constexpr (power == 3) return {x.imag(), -x.real()};
  return x;
}

/// own[i] = i^powers[0] own[i] + i^powers[1] other[i], without a multiplication.
template <class Real>
void combine_turned(std::complex<Real>* __restrict own, const std::complex<Real>* __restrict other,
                    const std::vector<int>& powers, Index n) {
  const auto run = [&]<int mine, int theirs>() {
    for (Index i = 0; i < n; ++i) own[i] = turned<mine>(own[i]) + turned<theirs>(other[i]);
  };
  const auto with = [&]<int... both>(std::integer_sequence<int, both...>) {
    const int wanted = 4 * powers[0] + powers[1];
    ((both == wanted ? run.template operator()<both / 4, both % 4>() : void()), ...);
  };
  with(std::make_integer_sequence<int, 16>());
}

/// The powers of i that the factors are, or nothing where one is none. Their order is 16 at most.
template <class Real>
std::vector<int> powers_of_i(const std::vector<std::complex<Real>>& factors) {
  constexpr Real rounding = 1e-3F;
  std::vector<int> powers;
  for (const std::complex<Real>& factor : factors) {
    const bool is_real = std::abs(factor.imag()) < rounding;
    if (!is_real && std::abs(factor.real()) >= rounding) return {};
    const Real part = is_real ? factor.real() : factor.imag();
    powers.push_back((is_real ? 0 : 1) + (part < 0 ? 2 : 0));
  }
  return powers;
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
    const int bits = log2_of(radix);
    if (options_.pairwise && bits > 1)
      add_pairwise(first_bit, bits);
    else
      stages_.push_back(stage_at(first_bit, bits));
    first_bit += bits;
  }
  if (options_.from_end) std::ranges::reverse(stages_);
  for (std::size_t i = 0; !options_.from_end && i + 1 < stages_.size(); ++i)  // before a step is after the last one
    stages_[i].scale = std::exchange(stages_[i + 1].scale, Value(1));
}

/// A stage of radix q in steps of two ranks. In the words of stage_at(), w^(s (k + 2^l t)) = w^(s k) w_q^(s t): the
/// first factor scales A_s before the first step, or from the end after the last. The rest is a transform of length q,
/// of which nothing was known before.
template <class Real>
void ButterflyNetwork<Real>::add_pairwise(int first_bit, int bits) {
  const Roots roots(Index{1} << (first_bit + bits), options_.direction);
  const int mine = (me_ >> (log2_of(ranks_) - first_bit - bits)) & ((1 << bits) - 1);
  for (int step = 0; step < bits; ++step) {
    Stage& stage = stages_.emplace_back(stage_at(first_bit + step, 1, first_bit));
    stage.quarters = powers_of_i(stage.factors);
    if (step == 0) stage.scale = Value(roots.power(mine, output_known(0, first_bit)));
  }
}

/// The number that these bits of the rank make of its output, the first of them the lowest.
template <class Real>
int ButterflyNetwork<Real>::output_known(int from_bit, int to_bit) const {
  const int bits = to_bit - from_bit;
  return reversed_bits((me_ >> (log2_of(ranks_) - to_bit)) & ((1 << bits) - 1), bits);
}

/// Let l bits be done, k their sum of b_i 2^i, and q = 2^bits. The rank whose next bits are the number s holds A_s, and
/// the one whose next bits are t reversed forms sum_s w^(s (k + 2^l t)) A_s with w of order 2^l q: for q = 2 that is
/// line 8 of Figure 1. From the end A_s is, but for a factor of q, the sum over t of w^(s (k + 2^l t)) times what the
/// rank of t holds, w being conjugated by the direction. Bits before `known_from` are none of this transform.
template <class Real>
auto ButterflyNetwork<Real>::stage_at(int first_bit, int bits, int known_from) const -> Stage {
  const int shift = log2_of(ranks_) - first_bit - bits;
  const int radix = 1 << bits;
  const int mine = (me_ >> shift) & (radix - 1);
  const int known = first_bit - known_from;
  const int k = output_known(known_from, first_bit);
  const Roots roots(Index{1} << (known + bits), options_.direction);
  Stage stage;
  for (int i = 0; i < radix; ++i) {  // in turn i all ranks go in pairs
    const int other = mine ^ i;
    if (i > 0) stage.partners.push_back(me_ ^ (i << shift));
    const int s = options_.from_end ? mine : other;
    const int t = reversed_bits(options_.from_end ? other : mine, bits);
    stage.factors.push_back(Value(roots.power(s, k + (Index{t} << known))));
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
  if (stage.scale == Value(1)) return combine_unscaled(stage, range);
  for (Index low = range.low; low < range.high; low += elements_together) {
    const Range part{low, std::min(range.high, low + elements_together)};
    combine_unscaled(stage, part);
    for (Index i = part.low; i < part.high; ++i) own_[i] = kernels::product(stage.scale, own_[i]);
  }
}

template <class Real>
void ButterflyNetwork<Real>::combine_unscaled(const Stage& stage, Range range) {
  Value* own = own_ + range.low;
  const auto with = [&]<int q>() {
    std::array<const Value*, q - 1> others;
    for (std::size_t i = 0; i < others.size(); ++i) others[i] = landing(i) + range.low;
    combine_arrays<q>(own, stage.factors, others, range.size());
  };
  switch (stage.factors.size()) {
    case 2:
      if (!stage.quarters.empty()) return combine_turned(own, landing_ + range.low, stage.quarters, range.size());
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
  const Index block = multiplies ? elements_together : range.size();
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
