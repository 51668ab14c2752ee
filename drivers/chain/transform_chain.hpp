#pragma once
// The plan that most variants are: local transforms, and exchanges between them, over two buffers.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "chain/chain_stages.hpp"
#include "chain/components.hpp"
#include "chain/gathered_fft.hpp"
#include "chain/truncated_box.hpp"
#include "interfaces/variant.hpp"
#include "mpi/handles.hpp"
#include "redistribution/piecewise_exchange.hpp"

namespace fourscore {

/// The axis along which a chain lays several fields into one another: the last but one, so that the rows of all fields
/// follow each other, and each is whole.
[[nodiscard]] inline std::size_t axis_of_fields(const Problem& problem) { return problem.last_axis() - 1; }

/// The spec of the transforms along `axes` of a local array, of all fields. The halved axis of real data is known
/// first.
[[nodiscard]] LocalFftSpec local_fft_spec(const Problem& problem, const std::vector<std::size_t>& axes,
                                          const Extents& extents, const Extents& strides);

/// Keeps the arrays of a chain in other memory beside, or than, that which its exchange allocates.
class ArrayKeeper {
 public:
  virtual ~ArrayKeeper() = default;
  /// In the place of what was allocated, of as many bytes.
  [[nodiscard]] virtual std::unique_ptr<Buffer> adopt(std::unique_ptr<Buffer> allocated) = 0;
  /// Each array of the chain, adopted by it or by the plan with which it shares its memory.
  virtual void holds(Buffer& array) = 0;
};

/// Collective in construction and destruction. Where the contract wants the result in the other buffer than that in
/// which the exchanges leave it, one local transform goes out of place.
///
/// Each redistribution has a communicator of its own: a RedistributionGroup (core/decomposition.hpp), whose ranks share
/// the coordinates along all dimensions of the process grid that cut the same axis in the same way before and after it.
/// So the rows and columns of a process grid exchange among themselves. Who writes the stages must know:
/// - The exchange is made for that group alone. Its ranks are numbered within it, in the order of the plan's ranks; its
///   messages, and what MPI's collectives hold for each rank, grow with the group and not with the plan.
/// - All stages are cut by one process grid: with two grids all ranks are one group. Cuts within cuts are levels of an
///   AxisCut, and a level that both stages begin with moves nothing.
/// - Groups run at the same time, and nothing orders one after another. A rank that keeps all it has is alone.
class TransformChain : public Plan {
 public:
  struct Options {
    std::vector<int> grid{};   ///< PlanFacts::grid
    bool single_plan = false;  ///< one plan of the local library for each stage
    /// More than 1: exchanges go in so many pieces along the first axis, and a local transform that has that axis in
    /// its batch goes with them, before or after. context.exchange must be a PiecewiseMethod.
    int pieces = 1;
    ArrayKeeper* arrays = nullptr;  ///< null: the arrays are those of the exchange; needed only while it is constructed
  };
  /// stages: from input to output, at least one, in natural storage order, of the problem's complex extents; real data
  /// lies in the place of complex data, and its halved axis is transformed in the first transform of all or (backward)
  /// the last. context.exchange may be null for one stage. With several fields each message has those of all.
  TransformChain(const PlanContext& context, std::vector<ChainStage> stages, Options options);

  void execute(PhaseClock& clock) override;
  /// A part is a stage: the end of the exchange into it, its transform, and the beginning of the exchange out of it.
  Advance advance(PhaseClock& clock) override;
  [[nodiscard]] std::vector<Component> components() override;

 protected:
  [[nodiscard]] bool is_at_start() const { return next_ == 0; }  ///< between two runs in parts

 private:
  /// The local transforms of the stages around an exchange that go with its pieces.
  class Overlap : public PieceWork {
   public:
    /// Slices that queue are all begun before the first piece, and each waited for before its own.
    void before(int piece, PhaseClock& clock) override;
    /// Slices that queue are begun after their piece, and all waited for after the last.
    void after(int piece, PhaseClock& clock) override;
    std::vector<std::unique_ptr<LocalFft>> before_;
    std::vector<std::unique_ptr<LocalFft>> after_;

   private:
    [[nodiscard]] static bool queue(const std::vector<std::unique_ptr<LocalFft>>& slices) {
      return !slices.empty() && slices.front()->queues();
    }
    static void execute(const std::vector<std::unique_ptr<LocalFft>>& slices, int piece, PhaseClock& clock);
  };
  /// A stage, and the way to the next one among this rank's group; the last has none.
  struct Link {
    ChainStage stage;
    Index bytes = 0;  ///< on this rank
    /// The stage's passes, in turn; without those that go with an exchange.
    std::vector<std::unique_ptr<LocalFft>> ffts;
    std::optional<TruncatedBox> pads;   ///< before the transform, at pads_at
    std::optional<TruncatedBox> drops;  ///< behind it, at drops_at
    std::byte* pads_at = nullptr;
    std::byte* drops_at = nullptr;
    mpi::Communicator comm;
    Decomposition from;
    Decomposition to;
    std::unique_ptr<Exchange> exchange;      ///< null: the last link
    PiecewiseExchange* in_pieces = nullptr;  ///< the exchange, where it goes in pieces
    Overlap overlap;                         ///< the transforms that go with these
    ExchangeCopies copies;
    bool reads_in_fft = false;              ///< the next stage's transform gathers; the same on all ranks
    std::unique_ptr<GatheredFft> gathered;  ///< that transform; null: it is another link's fft, or none
    [[nodiscard]] Index arriving_bytes() const { return pads ? pads->kept_bytes() : bytes; }
    void end_exchange(PhaseClock& clock);
    /// The transform, between padding and dropping where there are these.
    void transform(PhaseClock& clock);
  };

  void interleave_fields(const Problem& problem, int rank, std::vector<ChainStage>& stages);
  void allocate_arrays(const PlanContext& context, const std::vector<ChainStage>& stages);
  void make_links(const PlanContext& context, std::vector<ChainStage> stages);
  void allocate_staging(const PlanContext& context);
  [[nodiscard]] bool in_pieces() const { return options_.pieces > 1 && links_.size() > 1; }
  [[nodiscard]] ExchangeSpec exchange_spec(const PlanContext& context, std::size_t number, std::size_t source) const;
  [[nodiscard]] std::size_t make_exchanges(const PlanContext& context);
  void make_exchange(const PlanContext& context, std::size_t number, std::size_t source);
  /// The spec of a pass of the stage, on the part `slice` of this rank's indices along the first axis.
  [[nodiscard]] LocalFftSpec fft_spec(const PlanContext& context, const ChainStage& stage, const Axes& axes,
                                      std::optional<Range> slice = std::nullopt) const;
  [[nodiscard]] LocalArray array_of(const PlanContext& context, std::size_t stage, std::size_t buffer) const;
  /// Whether the transform after link `number` can gather what that exchanges, on this rank.
  [[nodiscard]] bool can_gather(const PlanContext& context, std::size_t number, std::size_t source) const;
  /// The stage whose local transform goes out of place where the exchanges alone would end in buffer `ends_in`, or
  /// links_.size().
  [[nodiscard]] std::size_t out_of_place_stage(const Problem& problem, std::size_t ends_in) const;
  /// The link with whose pieces a pass of each stage goes: the stage's own with the last pass, that before it with the
  /// first; links_.size() for none. Collective.
  [[nodiscard]] std::vector<std::size_t> links_of_transforms(const PlanContext& context,
                                                             std::size_t out_of_place) const;
  void make_local_ffts(const PlanContext& context, std::size_t out_of_place);
  void make_slices(const PlanContext& context, std::size_t stage, std::size_t link, std::byte* data);
  /// All passes that go with no exchange; the first leads from one place to the other.
  void make_passes(const PlanContext& context, std::size_t stage, std::size_t sliced_with, std::byte* from,
                   std::byte* to);
  void declare_work();

  Options options_;
  std::vector<Link> links_;
  std::unique_ptr<Buffer> staging_;  ///< for all exchanges; null where there are none
  std::size_t next_ = 0;             ///< the stage with which a run in parts goes on
};

/// A variant whose plans are chains: it says its process grid and its stages.
class ChainVariant : public Variant {
 public:
  [[nodiscard]] VariantFacts facts() const override { return {.kinds = {Kind::c2c, Kind::r2c}}; }
  [[nodiscard]] Reason refuses_fields(const Problem& problem) const override;
  [[nodiscard]] std::unique_ptr<Plan> make_plan(const PlanContext& context) const override;
  [[nodiscard]] std::vector<RedistributionGroup> redistributions(const Problem& problem, int ranks,
                                                                 int rank) const override;

 protected:
  /// By default all ranks along the first axis. Nothing: none fits, and supports() says why. Throws InputError for a
  /// problem's grid that is none of so many ranks.
  [[nodiscard]] virtual std::optional<Grid> grid_of(const Problem& problem, int ranks) const;
  /// Arranged for the problem's contract.
  [[nodiscard]] virtual std::vector<ChainStage> stages(const Problem& problem, const Grid& grid) const = 0;
  /// The stages as they are planned: truncated where the problem truncates().
  [[nodiscard]] std::vector<ChainStage> stages_of_half(const Problem& problem, const Grid& grid) const;
  /// By default as many entries of the grid as grid_entries() says.
  [[nodiscard]] virtual TransformChain::Options options(const Problem& problem, const Grid& grid) const;
  /// Throws InputError with the reason of supports() where none fits.
  [[nodiscard]] Grid fitting_grid(const Problem& problem, int ranks) const;
};

}  // namespace fourscore
