#pragma once
// The plan that most variants are: local transforms, and exchanges between them, over two buffers.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "interfaces/variant.hpp"
#include "mpi/handles.hpp"
#include "redistribution/piecewise_exchange.hpp"

namespace fourscore {

/// What is transformed while the data lies in one layout. Every rank's box is whole along `axes`.
struct ChainStage {
  Decomposition layout;
  std::vector<std::size_t> axes;  ///< may be empty: the layout is only passed through
};

/// The stages of a forward transform, from the natural input layout on, for a problem's contract: backwards where
/// the data starts transposed or the halved axis must come last, and led back to the input's layout where it must end
/// natural. Stages that follow each other in the same layout become one, so that all axes that are whole at once are
/// transformed at once.
[[nodiscard]] std::vector<ChainStage> arrange_stages(const Problem& problem, std::vector<ChainStage> forward);
/// Its last step: stages that follow each other in the same layout become one.
[[nodiscard]] std::vector<ChainStage> merge_stages(std::vector<ChainStage> stages);

/// Nothing, or why no chain can solve the problem: its number of extents. No MPI.
[[nodiscard]] std::optional<std::string> chain_limits(const Problem& problem, std::size_t min_extents,
                                                      std::size_t max_extents);
/// Throws InputError unless problem.grid is empty or has `entries` entries whose product is `ranks`.
void require_grid(const Problem& problem, int ranks, std::size_t entries);

/// Payload bytes and messages to other ranks when each rank deals its share of the complex elements evenly over a group
/// of `group` ranks, itself among them.
[[nodiscard]] Cost even_exchange_cost(const Problem& problem, int ranks, int group);

/// Collective in construction and destruction. Where the contract wants the result in the other buffer than that in
/// which the exchanges leave it, one local transform goes out of place.
class TransformChain : public Plan {
 public:
  struct Options {
    std::vector<int> grid{};   ///< what grid() returns
    bool single_plan = false;  ///< one plan of the local library for each stage
    /// More than 1: exchanges go in so many pieces along the first axis, and a local transform that has that axis in
    /// its batch goes with them, before or after. context.exchange must be a PiecewiseMethod.
    int pieces = 1;
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
  [[nodiscard]] std::size_t buffer_bytes() const override;
  [[nodiscard]] std::size_t workspace_bytes() const override;
  [[nodiscard]] std::vector<std::string> describe_local_ffts() const override;
  [[nodiscard]] std::vector<int> grid() const override { return options_.grid; }

 private:
  /// The way from one stage's layout to the next's, among the ranks that give each other something.
  struct Redistribution {
    mpi::Communicator comm;
    Decomposition from;
    Decomposition to;
    std::unique_ptr<Exchange> exchange;
    PiecewiseExchange* in_pieces = nullptr;  ///< the exchange, where it goes in pieces
    bool packs = true;                       ///< on some rank
    bool unpacks = true;                     ///< on some rank
  };

  void set_layouts(const Problem& problem);
  /// Each 1-D transform of a stage reads and writes the rank's data once.
  [[nodiscard]] Index min_bytes_of_fft(std::size_t stage) const {
    return 2 * static_cast<Index>(stages_[stage].axes.size()) * stage_bytes_[stage];
  }
  void allocate(const PlanContext& context);
  [[nodiscard]] bool in_pieces() const { return options_.pieces > 1 && stages_.size() > 1; }
  [[nodiscard]] std::size_t receive_buffer(const Problem& problem) const;
  void find_redistributions(const PlanContext& context);
  void allocate_staging(const PlanContext& context);
  [[nodiscard]] ExchangeSpec exchange_spec(const PlanContext& context, const Redistribution& redistribution,
                                           std::size_t source) const;
  void make_exchanges(const PlanContext& context);
  void make_exchange(const PlanContext& context, Redistribution& redistribution, std::size_t source);
  /// The local transforms of the stages around a redistribution that go with its pieces.
  class Overlap : public PieceWork {
   public:
    void before(int piece, PhaseClock& clock) override { execute(before_, piece, clock); }
    void after(int piece, PhaseClock& clock) override { execute(after_, piece, clock); }
    std::vector<std::unique_ptr<LocalFft>> before_;
    std::vector<std::unique_ptr<LocalFft>> after_;

   private:
    static void execute(const std::vector<std::unique_ptr<LocalFft>>& slices, int piece, PhaseClock& clock);
  };

  /// Which redistribution's pieces each stage's transform goes with: redistributions_.size() for none.
  [[nodiscard]] std::vector<std::size_t> redistributions_of_transforms(std::size_t out_of_place) const;
  void make_slices(const PlanContext& context, std::size_t stage, std::size_t redistribution, std::byte* data);
  /// The stage whose local transform goes out of place where the exchanges alone would end in buffer `ends_in`, or
  /// stages_.size().
  [[nodiscard]] std::size_t out_of_place_stage(const Problem& problem, std::size_t ends_in) const;
  void transform(std::size_t stage, PhaseClock& clock);
  void make_local_ffts(const PlanContext& context, std::size_t out_of_place);

  Options options_;
  std::vector<ChainStage> stages_;
  Decomposition input_layout_;
  Decomposition output_layout_;
  std::vector<std::unique_ptr<Buffer>> buffers_;  ///< the input's, and if needed the other
  std::vector<Index> stage_bytes_;                ///< of this rank, by stage
  std::unique_ptr<Buffer> staging_;               ///< of all exchanges; null where there are none
  std::vector<Redistribution> redistributions_;   ///< redistribution i leads from stage i to stage i + 1
  std::vector<std::unique_ptr<LocalFft>>
      ffts_;                       ///< by stage; null where none, or where it goes with a redistribution's pieces
  std::vector<Overlap> overlaps_;  ///< by redistribution, if in pieces
  std::size_t ends_in_ = 0;
};

}  // namespace fourscore
