#pragma once
// The plan that most variants are: local transforms, and exchanges between them, over two buffers.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "chain/gathered_fft.hpp"
#include "interfaces/variant.hpp"
#include "mpi/handles.hpp"
#include "redistribution/piecewise_exchange.hpp"

namespace fourscore {

/// What is transformed while the data lies in one layout. Every rank's box is whole along `axes`.
struct ChainStage {
  Decomposition layout;
  std::vector<std::size_t> axes;  ///< may be empty: the layout is only passed through
};

/// z-pencils, y-pencils and x-pencils, each transformed along its own axis: the stages of a forward transform.
[[nodiscard]] std::vector<ChainStage> pencil_stages(const Extents& shape, const Grid& grid);

/// Slabs along the first axis, all other axes transformed; slabs along the second, transformed along the first.
[[nodiscard]] std::vector<ChainStage> slab_stages(const Problem& problem, int ranks);

/// The way back to the input's layout where the result must be in natural order.
enum class Return {
  through_stages,  ///< back through every layout: each redistribution once more
  direct,          ///< one redistribution from the last layout to the first
};

/// The stages of a forward transform, from the natural input layout on, for a problem's contract: backwards where
/// the data starts transposed or the halved axis must come last, and led back to the input's layout where it must end
/// natural. Stages that follow each other in the same layout become one, so that all axes that are whole at once are
/// transformed at once.
[[nodiscard]] std::vector<ChainStage> arrange_stages(const Problem& problem, std::vector<ChainStage> forward,
                                                     Return way_back = Return::through_stages);

/// What `rank` exchanges with whom from stage to stage.
[[nodiscard]] std::vector<RedistributionGroup> redistributions_between(const std::vector<ChainStage>& stages, int rank);

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
    std::vector<int> grid{};   ///< what grid() returns
    bool single_plan = false;  ///< one plan of the local library for each stage
    /// More than 1: exchanges go in so many pieces along the first axis, and a local transform that has that axis in
    /// its batch goes with them, before or after. context.exchange must be a PiecewiseMethod.
    int pieces = 1;
    ArrayKeeper* arrays = nullptr;  ///< null: the arrays are those of the exchange; needed only while it is constructed
  };
  /// stages: from input to output, at least one, in natural storage order, of the problem's complex extents; real data
  /// lies in the place of complex data, and its halved axis is transformed in the first transform of all or (backward)
  /// the last. context.exchange may be null for one stage.
  TransformChain(const PlanContext& context, std::vector<ChainStage> stages, Options options);

  [[nodiscard]] const Decomposition& input_layout() const override { return input_layout_; }
  [[nodiscard]] const Decomposition& output_layout() const override { return output_layout_; }
  [[nodiscard]] void* input() const override { return buffers_[0]->data(); }
  [[nodiscard]] void* output() const override { return buffers_[ends_in_]->data(); }
  void execute(PhaseClock& clock) override;
  /// One step a stage: the end of the exchange into it, its transform, and the beginning of the exchange out of it.
  [[nodiscard]] std::size_t steps() const override { return stages_.size(); }
  void step(std::size_t number, PhaseClock& clock) override;
  [[nodiscard]] std::vector<Component> components() override;
  [[nodiscard]] MessageVolume message_volume() const override;
  [[nodiscard]] DeviceWork device_work() const override;
  [[nodiscard]] std::size_t buffer_bytes() const override;
  [[nodiscard]] std::size_t workspace_bytes() const override;
  [[nodiscard]] std::vector<std::string> describe_local_ffts() const override;
  [[nodiscard]] std::vector<int> grid() const override { return options_.grid; }

 private:
  void add_transform(std::vector<Component>& list, LocalFft& fft, int number, Index min_bytes) const;
  void add_exchange(std::vector<Component>& list, std::size_t number);
  /// The way from one stage's layout to the next's, among this rank's group.
  struct Redistribution {
    mpi::Communicator comm;
    Decomposition from;
    Decomposition to;
    std::unique_ptr<Exchange> exchange;
    PiecewiseExchange* in_pieces = nullptr;  ///< the exchange, where it goes in pieces
    bool packs = true;                       ///< on some rank
    bool unpacks = true;                     ///< on some rank
    bool reads_in_fft = false;  ///< the transform after it gathers what it exchanges; the same on all ranks
  };

  void set_layouts(const Problem& problem);
  /// Each 1-D transform of a stage reads and writes the rank's data once.
  [[nodiscard]] Index min_bytes_of_fft(std::size_t stage) const {
    return 2 * static_cast<Index>(stages_[stage].axes.size()) * stage_bytes_[stage];
  }
  /// The spec of a stage's axes, on the part `slice` of this rank's indices along the first axis.
  [[nodiscard]] LocalFftSpec local_fft_spec(const PlanContext& context, std::size_t stage,
                                            std::optional<Range> slice = std::nullopt) const;
  void allocate(const PlanContext& context);
  [[nodiscard]] bool in_pieces() const { return options_.pieces > 1 && stages_.size() > 1; }
  void find_redistributions(const PlanContext& context);
  void allocate_staging(const PlanContext& context);
  [[nodiscard]] ExchangeSpec exchange_spec(const PlanContext& context, const Redistribution& redistribution,
                                           std::size_t source) const;
  void make_exchanges(const PlanContext& context);
  void make_exchange(const PlanContext& context, std::size_t number, std::size_t source);
  [[nodiscard]] LocalArray array_of(const PlanContext& context, std::size_t stage, std::size_t buffer) const;
  /// Whether the transform after a redistribution can gather what that exchanges, on this rank.
  [[nodiscard]] bool can_gather(const PlanContext& context, std::size_t redistribution, std::size_t source) const;
  /// The local transforms of the stages around a redistribution that go with its pieces.
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

  /// Which redistribution's pieces each stage's transform goes with: redistributions_.size() for none. Collective.
  [[nodiscard]] std::vector<std::size_t> redistributions_of_transforms(const PlanContext& context,
                                                                       std::size_t out_of_place) const;
  void make_slices(const PlanContext& context, std::size_t stage, std::size_t redistribution, std::byte* data);
  /// The stage whose local transform goes out of place where the exchanges alone would end in buffer `ends_in`, or
  /// stages_.size().
  [[nodiscard]] std::size_t out_of_place_stage(const Problem& problem, std::size_t ends_in) const;
  void transform(std::size_t stage, PhaseClock& clock);
  void end_exchange(std::size_t number, PhaseClock& clock);
  void make_local_ffts(const PlanContext& context, std::size_t out_of_place);

  Options options_;
  std::vector<ChainStage> stages_;
  Decomposition input_layout_;
  Decomposition output_layout_;
  std::vector<std::shared_ptr<Buffer>> buffers_;  ///< the input's, and if needed the other
  std::vector<Index> stage_bytes_;                ///< on this rank, by stage
  std::unique_ptr<Buffer> staging_;               ///< for all exchanges; null where there are none
  std::vector<Redistribution> redistributions_;   ///< redistribution i leads from stage i to stage i + 1
  std::vector<std::unique_ptr<LocalFft>>
      ffts_;                       ///< by stage; null where none, or where it goes with a redistribution's pieces
  std::vector<Overlap> overlaps_;  ///< by redistribution, if in pieces
  std::vector<std::unique_ptr<GatheredFft>> gathered_;  ///< by redistribution; null where reads_in_fft is not
  std::size_t ends_in_ = 0;
};

}  // namespace fourscore
