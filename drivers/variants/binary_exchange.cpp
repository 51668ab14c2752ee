// Binary exchange (gupta1993, section 3.1): rank r holds the contiguous block of the indices whose leading bits are r.
// The first log2 p iterations of the Cooley-Tukey algorithm (Figure 1) combine whole blocks of two ranks that differ in
// one bit; all others, on n/p elements of one rank, are one transform of the local library. See
// docs/algorithms/one-dimensional.md.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <complex>

#include "chain/limits_and_cost.hpp"
#include "core/parameters.hpp"
#include "kernels/roots.hpp"
#include "mpi/error.hpp"
#include "redistribution/exchange_blocks.hpp"
#include "variants/binary_exchange/digit_swap.hpp"

namespace fourscore {

namespace {

constexpr const char* variant_name = "binary-exchange";
constexpr int message_tag = 0;
/// Elements that are combined and then multiplied while they lie in the caches: the switch of the clock between the
/// two phases costs nothing beside them.
constexpr Index block_elements = 4096;

int log2_of(int ranks) { return std::bit_width(static_cast<unsigned>(ranks)) - 1; }

/// Rank r holds the outputs k with k mod P = r reversed, ascending: k = k1 + P k2.
Decomposition permuted_layout(const Problem& problem, int ranks) {
  AxisCut bits_reversed{{{0}}};
  bits_reversed.order = bit_reversed_parts(problem.shape[0], ranks);
  return {
      problem.extents(), {ranks}, {bits_reversed, AxisCut{}, AxisCut{}}, ranks == 1 ? "whole" : "rank bits reversed"};
}

template <class Real>
class BinaryExchangePlan : public Plan {
 public:
  using Value = std::complex<Real>;
  explicit BinaryExchangePlan(const PlanContext& context);

  [[nodiscard]] const Decomposition& input_layout() const override { return starts_permuted_ ? permuted_ : blocks_; }
  [[nodiscard]] const Decomposition& output_layout() const override {
    return starts_permuted_ || swap_ || steps_.empty() ? blocks_ : permuted_;
  }
  [[nodiscard]] void* input() const override { return buffers_.front()->data(); }
  [[nodiscard]] void* output() const override { return buffers_[ends_in_]->data(); }
  void execute(PhaseClock& clock) override;
  [[nodiscard]] std::vector<Component> components() override;
  [[nodiscard]] MessageVolume message_volume() const override;
  [[nodiscard]] std::size_t buffer_bytes() const override {
    std::size_t total = 0;
    for (const auto& buffer : buffers_) total += buffer->bytes();
    return total;
  }
  [[nodiscard]] std::size_t workspace_bytes() const override { return twiddles_ ? twiddles_->bytes() : 0; }
  [[nodiscard]] std::vector<std::string> describe_local_ffts() const override { return {fft_->describe()}; }
  [[nodiscard]] std::vector<int> grid() const override { return {ranks_}; }

 private:
  /// own = own_factor * own + other_factor * partner's
  struct Step {
    int partner;
    Value own_factor;
    Value other_factor;
  };
  struct Piece {
    Range range;
    mpi::Requests requests;
  };

  void plan_steps(Direction direction);
  void plan_fft(const PlanContext& context);
  [[nodiscard]] Value* data(std::size_t buffer) const { return static_cast<Value*>(buffers_[buffer]->data()); }
  [[nodiscard]] Index twiddle_elements() const { return k1_ == 0 ? 0 : local_; }

  void run_network(PhaseClock& clock);
  void run_network_in_pieces(PhaseClock& clock);
  void exchange_whole(const Step& step);
  void post(const Step& step, Piece& piece);
  /// Both multiply by the twiddle factors where these are due after the last step.
  void combine(PhaseClock& clock, const Step& step, Range range);
  void twiddle(PhaseClock& clock, Range range);

  int ranks_;
  int me_;
  Index local_;           ///< n/p elements
  int k1_;                ///< this rank's outputs of the forward network are k1 + P k2
  bool starts_permuted_;  ///< backward from the permuted layout: the network from its end
  Decomposition blocks_;
  Decomposition permuted_;  ///< the transposed layout, whose map has an entry for each element; else not made
  mpi::Communicator comm_;
  MPI_Datatype type_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::vector<Step> steps_;
  std::vector<Piece> pieces_;
  std::optional<RootLine<Real>> twiddles_;
  std::unique_ptr<LocalFft> fft_;
  std::optional<DigitSwap<Real>> swap_;  ///< to natural order
  std::size_t works_in_ = 0;             ///< the buffer of the network; messages come in the other
  std::size_t ends_in_ = 0;
};

template <class Real>
BinaryExchangePlan<Real>::BinaryExchangePlan(const PlanContext& context)
    : ranks_(mpi::size_of(context.comm)),
      me_(mpi::rank_in(context.comm)),
      local_(context.problem.shape[0] / ranks_),
      k1_(reversed_bits(me_, log2_of(ranks_))),
      starts_permuted_(context.problem.contract.layout == LayoutContract::transposed &&
                       context.problem.direction == Direction::backward && ranks_ > 1),
      blocks_(decompose(context.problem.extents(), Grid{{ranks_, 1, 1}})),
      permuted_(context.problem.contract.layout == LayoutContract::transposed ? permuted_layout(context.problem, ranks_)
                                                                              : Decomposition{}),
      comm_(mpi::duplicate(context.comm)),
      type_(mpi::element_type(sizeof(Value))) {
  const Problem& problem = context.problem;
  const auto count = static_cast<int>(integer_parameter(problem, "pieces", 1, 1, local_));
  const bool whole_table = choice_parameter(problem, "twiddles", {"on-the-fly", "precomputed"}) == "precomputed";
  const bool in_place = problem.contract.buffers == Buffers::in_place;
  for (int i = 0; i < (ranks_ == 1 && in_place ? 1 : 2); ++i)
    buffers_.push_back(ordinary_buffer(static_cast<std::size_t>(local_) * sizeof(Value)));
  ends_in_ = in_place ? 0 : 1;
  if (starts_permuted_) works_in_ = ends_in_;
  plan_fft(context);
  if (ranks_ == 1) return;

  plan_steps(problem.direction);
  for (int i = 0; i < count; ++i) {
    Piece& piece = pieces_.emplace_back(Piece{block_range(local_, count, i), mpi::Requests()});
    require_int_count(piece.range.size(), "a message", variant_name);
    piece.requests.reserve(2);
  }
  twiddles_.emplace(Roots(problem.shape[0], problem.direction), k1_, local_, whole_table);
  if (problem.contract.layout == LayoutContract::natural) {
    require_int_count(local_ / 2, "a message", variant_name);
    swap_.emplace(comm_.get(), local_, data(1 - ends_in_), data(ends_in_));
  }
}

/// Iteration l of Figure 1 pairs ranks whose bits b_l differ, b_0 the highest. With c = omega^(b_l-1 ... b_0 0 ... 0),
/// omega = exp(-+2 pi i / n), and S_0, S_1 the blocks of the ranks with b_l = 0 and 1: S_0 + c S_1 on the one,
/// S_0 - c S_1 on the other. Its inverse, but for a factor of 2, is S_0 + S_1 and conj(c) (S_0 - S_1).
template <class Real>
void BinaryExchangePlan<Real>::plan_steps(Direction direction) {
  const int bits = log2_of(ranks_);
  for (int l = 0; l < bits; ++l) {
    const int bit = 1 << (bits - 1 - l);
    const int leading = reversed_bits(me_ >> (bits - l), l);  // b_l-1 ... b_0 as a number
    const auto c = Value(Roots(Index{2} << l, direction).power(leading));
    const bool upper = (me_ & bit) != 0;
    if (starts_permuted_)
      steps_.push_back({me_ ^ bit, upper ? -c : Value(1), upper ? c : Value(1)});
    else
      steps_.push_back({me_ ^ bit, upper ? -c : Value(1), upper ? Value(1) : c});
  }
  if (starts_permuted_) std::reverse(steps_.begin(), steps_.end());
}

template <class Real>
void BinaryExchangePlan<Real>::plan_fft(const PlanContext& context) {
  const Problem& problem = context.problem;
  LocalFftSpec spec;
  spec.axes = {{local_, 1, 1}};
  spec.precision = problem.precision;
  spec.direction = problem.direction;
  spec.effort = problem.contract.effort;
  spec.threads = problem.threads;
  spec.single_plan = true;
  // To natural order the swap goes from the other buffer than the last; before the network stands the input.
  const bool to_swap = ranks_ > 1 && problem.contract.layout == LayoutContract::natural;
  const std::size_t from = 0;
  const std::size_t to = to_swap ? 1 - ends_in_ : ends_in_;
  fft_ = context.local_fft.make(spec, data(from), data(to));
}

template <class Real>
void BinaryExchangePlan<Real>::exchange_whole(const Step& step) {
  const auto count = static_cast<int>(local_);
  FOURSCORE_MPI(MPI_Sendrecv(data(works_in_), count, type_, step.partner, message_tag, data(1 - works_in_), count,
                             type_, step.partner, message_tag, comm_.get(), MPI_STATUS_IGNORE));
}

template <class Real>
void BinaryExchangePlan<Real>::post(const Step& step, Piece& piece) {
  const auto count = static_cast<int>(piece.range.size());
  FOURSCORE_MPI(MPI_Irecv(data(1 - works_in_) + piece.range.low, count, type_, step.partner, message_tag, comm_.get(),
                          piece.requests.next()));
  FOURSCORE_MPI(MPI_Isend(data(works_in_) + piece.range.low, count, type_, step.partner, message_tag, comm_.get(),
                          piece.requests.next()));
}

template <class Real>
void BinaryExchangePlan<Real>::combine(PhaseClock& clock, const Step& step, Range range) {
  const bool last = &step == &steps_.back() && !starts_permuted_;
  const Index block = last ? block_elements : range.size();
  for (Index low = range.low; low < range.high; low += block) {
    const Index high = std::min(range.high, low + block);
    {
      const Region region(clock, Phase::combine);
      kernels::butterfly(data(works_in_) + low, data(1 - works_in_) + low, step.own_factor, step.other_factor,
                         high - low);
    }
    if (last) twiddle(clock, {low, high});
  }
}

template <class Real>
void BinaryExchangePlan<Real>::twiddle(PhaseClock& clock, Range range) {
  if (k1_ == 0) return;
  const Region region(clock, Phase::twiddle);
  twiddles_->multiply(data(works_in_) + range.low, range.low, range.high);
}

template <class Real>
void BinaryExchangePlan<Real>::run_network(PhaseClock& clock) {
  if (starts_permuted_) twiddle(clock, {0, local_});
  for (const Step& step : steps_) {
    {
      const Region region(clock, Phase::exchange);
      exchange_whole(step);
    }
    combine(clock, step, {0, local_});
  }
}

/// Appendix E: while one piece is combined the others are under way, also those of the next step.
template <class Real>
void BinaryExchangePlan<Real>::run_network_in_pieces(PhaseClock& clock) {
  for (Piece& piece : pieces_) {
    if (starts_permuted_) twiddle(clock, piece.range);
    const Region region(clock, Phase::exchange);
    post(steps_.front(), piece);
  }
  for (std::size_t s = 0; s < steps_.size(); ++s)
    for (Piece& piece : pieces_) {
      {
        const Region region(clock, Phase::exchange);
        piece.requests.wait_all();
      }
      combine(clock, steps_[s], piece.range);
      if (s + 1 == steps_.size()) continue;
      const Region region(clock, Phase::exchange);
      post(steps_[s + 1], piece);
    }
}

template <class Real>
void BinaryExchangePlan<Real>::execute(PhaseClock& clock) {
  const auto network = [&] {
    if (steps_.empty()) return;
    pieces_.size() == 1 ? run_network(clock) : run_network_in_pieces(clock);
  };
  if (!starts_permuted_) network();
  {
    const Region region(clock, Phase::fft);
    fft_->execute();
  }
  if (starts_permuted_) network();
  if (swap_) {
    {
      const Region region(clock, Phase::exchange);
      for (std::size_t step = 0; step < swap_->steps(); ++step) swap_->exchange(step);
    }
    const Region region(clock, Phase::unpack);
    swap_->unpack();
  }
}

template <class Real>
std::vector<Component> BinaryExchangePlan<Real>::components() {
  std::vector<Component> list;
  const Index bytes = local_ * static_cast<Index>(sizeof(Value));
  const Component fft{"fft-1", Phase::fft, [this] { fft_->execute(); }, 2 * bytes};
  const Component twiddles{"twiddle-1", Phase::twiddle,
                           [this] {
                             PhaseClock off(false);
                             twiddle(off, {0, local_});
                           },
                           k1_ == 0 ? 0 : 2 * bytes};
  if (starts_permuted_ || steps_.empty()) list.push_back(fft);
  if (starts_permuted_) list.push_back(twiddles);
  for (std::size_t s = 0; s < steps_.size(); ++s) {
    list.push_back({fmt::format("exchange-{}", s + 1), Phase::exchange,
                    [this, s] {
                      if (pieces_.size() == 1) {
                        exchange_whole(steps_[s]);
                        return;
                      }
                      for (Piece& piece : pieces_) post(steps_[s], piece);
                      for (Piece& piece : pieces_) piece.requests.wait_all();
                    },
                    2 * bytes});
    // Reads its own and the partner's, writes its own.
    list.push_back({fmt::format("combine-{}", s + 1), Phase::combine,
                    [this, s] {
                      kernels::butterfly(data(works_in_), data(1 - works_in_), steps_[s].own_factor,
                                         steps_[s].other_factor, local_);
                    },
                    3 * bytes});
  }
  if (!starts_permuted_ && !steps_.empty()) {
    list.push_back(twiddles);
    list.push_back(fft);
  }
  if (!swap_) return list;
  for (std::size_t step = 0; step < swap_->steps(); ++step)
    list.push_back({fmt::format("exchange-{}", steps_.size() + step + 1), Phase::exchange,
                    [this, step] { swap_->exchange(step); }, bytes});  // half of the slots go, as many come
  list.push_back({"unpack-1", Phase::unpack, [this] { swap_->unpack(); }, 2 * bytes});
  return list;
}

template <class Real>
MessageVolume BinaryExchangePlan<Real>::message_volume() const {
  MessageVolume total;
  const auto steps = static_cast<Index>(steps_.size());
  total.bytes_sent = steps * local_ * static_cast<Index>(sizeof(Value));
  total.messages_sent = steps * static_cast<Index>(pieces_.size());
  if (swap_) total += swap_->message_volume();
  return total;
}

class BinaryExchange : public Variant {
 public:
  [[nodiscard]] Card card() const override {
    return {variant_name, "1-D: log2 P pairwise exchanges with butterflies; transposed: left rank-bit-reversed",
            "gupta1993"};
  }
  [[nodiscard]] bool takes_exchange() const override { return false; }
  [[nodiscard]] std::vector<Parameter> parameters() const override {
    return {{.name = "pieces",
             .summary = "pieces that an exchange of a rank's elements is cut in",
             .fallback = "1",
             .samples = {"1", "2", "5"}},
            {"twiddles",
             "factors computed as they are needed, or a table of them all",
             "on-the-fly",
             {"on-the-fly", "precomputed"}}};
  }

  [[nodiscard]] std::optional<std::string> supports(const Problem& problem, int ranks) const override {
    require_grid(problem, ranks, 1);
    if (auto reason = chain_limits(problem, 1, 1)) return reason;
    const Index n = problem.shape[0];
    if (!std::has_single_bit(static_cast<unsigned>(ranks)))
      return fmt::format("{} ranks are no power of two, which binary-exchange wants", ranks);
    if (n % ranks != 0) return fmt::format("{} elements do not divide among {} ranks", n, ranks);
    if (problem.contract.layout == LayoutContract::natural && n / ranks % ranks != 0)
      return fmt::format("natural order on {} ranks wants a multiple of {} elements, its square; there are {}", ranks,
                         Index{ranks} * ranks, n);
    (void)integer_parameter(problem, "pieces", 1, 1, n / ranks);
    (void)choice_parameter(problem, "twiddles", {"on-the-fly", "precomputed"});
    return std::nullopt;
  }

  [[nodiscard]] std::unique_ptr<Plan> make_plan(const PlanContext& context) const override {
    if (context.problem.precision == Precision::double_precision)
      return std::make_unique<BinaryExchangePlan<double>>(context);
    return std::make_unique<BinaryExchangePlan<float>>(context);
  }

  /// Equation 4 for one rank: log2 p messages, here in pieces, of n/p words together in each step. Natural order adds
  /// log2 p steps of half as many words: within the 2 log2 p + 1 of appendix C.
  [[nodiscard]] Cost cost(const Problem& problem, int ranks) const override {
    const int steps = log2_of(ranks);
    const double share_bytes =
        static_cast<double>(problem.elements()) / ranks * static_cast<double>(problem.element_bytes());
    const auto pieces =
        static_cast<double>(integer_parameter(problem, "pieces", 1, 1, std::max<Index>(1, problem.elements() / ranks)));
    const bool ordered = problem.contract.layout == LayoutContract::natural;
    return {problem.credited_flops(), steps * share_bytes * (ordered ? 1.5 : 1.0),
            steps * (pieces + (ordered ? 1.0 : 0.0))};
  }
};

FOURSCORE_REGISTER_VARIANT(BinaryExchange);

}  // namespace

}  // namespace fourscore
