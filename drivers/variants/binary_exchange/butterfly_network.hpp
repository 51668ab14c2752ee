#pragma once
// The iterations of the Cooley-Tukey algorithm that combine elements of different ranks (gupta1993, section 3.1), with
// butterflies of radix 2 or more (section 6).

#include <complex>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "core/phase.hpp"
#include "core/problem.hpp"
#include "interfaces/exchange.hpp"
#include "mpi/handles.hpp"
#include "variants/binary_exchange/line_factors.hpp"

namespace fourscore {

/// How many ranks combine in each stage: `radix` as often as it goes, and last what is left. Their product is `ranks`.
/// Both are powers of two.
[[nodiscard]] std::vector<int> stage_radices(int ranks, int radix);

/// log2 of a power of two.
[[nodiscard]] int log2_of(int power_of_two);

struct NetworkOptions {
  int radix = 2;
  bool pairwise = false;  ///< a stage is log2 of its radix swaps, in place of one message to each of its other ranks
  Index pieces = 1;       ///< messages to each partner of a stage
  Direction direction = Direction::forward;
  bool from_end = false;  ///< the inverse stages, the last one first
};

/// Rank r of P = 2^d has bits b_0 ... b_(d-1), b_0 the highest. A stage of radix q takes the next log2 q bits: the q
/// ranks that differ in these alone swap their whole arrays, and each forms one of the q outputs, a sum of q arrays
/// with one factor each. Together the stages are a transform of length P over the ranks' arrays, S_r, whose output k1 =
/// sum_i b_i 2^i is left on rank r: sum_r' w_P^(r' k1) S_r'.
///
/// Pairwise stages send the words of radix 2 and have the multiplications of radix q. A rank multiplies its array once,
/// by the factor that the stages before leave. Then the q ranks transform among themselves by log2 q steps of radix 2,
/// whose factors are of order q alone: 1, -1, i and -i for q = 4. A step is then a stage of its own here.
template <class Real>
class ButterflyNetwork {
 public:
  using Value = std::complex<Real>;
  /// `line`: the ranks, which must outlive this. `own` holds `elements` and is combined in place, what comes first lies
  /// in `landing`. `factors` (may be null) are multiplied after the last stage, from the end before the first. Throws
  /// InputError where a message is longer than MPI counts.
  ButterflyNetwork(MPI_Comm line, Index elements, const NetworkOptions& options, Value* own, Value* landing,
                   const LineFactors<Real>* factors);

  void run(PhaseClock& clock);

  [[nodiscard]] std::size_t stages() const { return stages_.size(); }
  /// Parts of run(), to run alone.
  void exchange(std::size_t stage);
  void combine(std::size_t stage) { combine_range(stages_[stage], {0, elements_}); }
  /// Arrays that come in a stage: its radix less one.
  [[nodiscard]] Index arrays_received(std::size_t stage) const {
    return static_cast<Index>(stages_[stage].partners.size());
  }

  [[nodiscard]] MessageVolume message_volume() const;
  [[nodiscard]] std::size_t workspace_bytes() const { return more_landing_ ? more_landing_->bytes() : 0; }

 private:
  /// own = scale (factors[0] own + the sum of factors[i + 1] times what partners[i] sends)
  struct Stage {
    std::vector<int> partners;
    std::vector<Value> factors;
    std::vector<int> quarters;  ///< pairwise, where each factor is a power of i: those powers
    Value scale{1};
  };
  struct Piece {
    Range range;
    mpi::Requests requests;
  };

  void plan_stages();
  void add_pairwise(int first_bit, int bits);
  [[nodiscard]] int output_known(int from_bit, int to_bit) const;
  [[nodiscard]] Stage stage_at(int first_bit, int bits, int known_from = 0) const;
  [[nodiscard]] Value* landing(std::size_t partner) const;

  void run_whole(PhaseClock& clock);
  void run_in_pieces(PhaseClock& clock);
  void swap_with(int partner);
  void post(const Stage& stage, Piece& piece);
  void combine_range(const Stage& stage, Range range);
  void combine_unscaled(const Stage& stage, Range range);
  /// Multiplies by the factors too, where these are due after this stage.
  void combine_and_multiply(PhaseClock& clock, std::size_t stage, Range range);
  void multiply(PhaseClock& clock, Range range);

  MPI_Comm line_;
  MPI_Datatype type_;
  int ranks_;
  int me_;
  Index elements_;
  NetworkOptions options_;
  Value* own_;
  Value* landing_;
  std::unique_ptr<Buffer> more_landing_;  ///< for the second partner of a stage, the third ...
  const LineFactors<Real>* factors_;
  std::vector<Stage> stages_;
  std::vector<Piece> pieces_;
};

extern template class ButterflyNetwork<double>;
extern template class ButterflyNetwork<float>;

}  // namespace fourscore
