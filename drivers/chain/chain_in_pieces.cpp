// How the local transforms of a chain go with the pieces of its exchanges. A chain of whole exchanges, as `pencil`,
// needs nothing of it.

#include <algorithm>

#include "chain/transform_chain.hpp"
#include "mpi/error.hpp"

namespace fourscore {

namespace {

/// Whether, on every rank, what it holds in `a` and gives to or gets from any rank of `b` is all of its indices along
/// the first axis. Collective.
bool keeps_first_axis_whole(const Decomposition& a, const Decomposition& b, MPI_Comm comm) {
  const Box mine = a.box(mpi::rank_in(comm));
  const bool here = std::ranges::all_of(b.overlaps(mine), [&](const Overlap& part) {
    return part.box.low[0] == mine.low[0] && part.box.high[0] == mine.high[0];
  });
  int everywhere = here ? 1 : 0;
  FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, &everywhere, 1, MPI_INT, MPI_MIN, comm));
  return everywhere != 0;
}

}  // namespace

/// A transform along other axes than the first can go slice by slice with the pieces of a redistribution that are cut
/// along the first: before those it feeds, after those it follows. One between two such redistributions goes with the
/// one that has fewer.
std::vector<std::size_t> TransformChain::links_of_transforms(const PlanContext& context,
                                                             std::size_t out_of_place) const {
  const std::size_t none = links_.size();
  std::vector<std::size_t> result(links_.size(), none);
  std::vector<int> taken(links_.size(), 0);
  for (std::size_t i = 0; in_pieces() && i < links_.size(); ++i) {
    const std::vector<Axes> passes = links_[i].stage.passes();
    if (i == out_of_place || passes.empty()) continue;
    const auto goes_with = [&](std::size_t neighbour, const Axes& pass) {
      return std::ranges::find(pass, std::size_t{0}) == pass.end() &&
             keeps_first_axis_whole(links_[i].stage.layout, links_[neighbour].stage.layout, context.comm);
    };
    if (i > 0 && goes_with(i - 1, passes.front())) result[i] = i - 1;
    if (i + 1 < links_.size() && goes_with(i + 1, passes.back()) && (result[i] == none || taken[i] < taken[i - 1]))
      result[i] = i;
    if (result[i] != none) ++taken[result[i]];
  }
  return result;
}

void TransformChain::make_slices(const PlanContext& context, std::size_t stage, std::size_t link, std::byte* data) {
  const int me = mpi::rank_in(context.comm);
  const Decomposition& layout = links_[stage].stage.layout;
  const std::vector<Axes> passes = links_[stage].stage.passes();
  const Axes& axes = link == stage ? passes.back() : passes.front();
  const Index extent = layout.box(me).extents()[0];
  const Index bytes = layout.strides(me)[0] * static_cast<Index>(context.problem.element_bytes());
  auto& slices = link == stage ? links_[link].overlap.before_ : links_[link].overlap.after_;
  for (int k = 0; k < options_.pieces; ++k) {
    const Range slice = block_range(extent, options_.pieces, k);
    std::byte* const place = data + slice.low * bytes;
    LocalFftSpec spec = fft_spec(context, links_[stage].stage, axes, slice);
    spec.piece = slices.size();
    slices.push_back(context.local_fft.make(spec, place, place));
  }
}

void TransformChain::Overlap::before(int piece, PhaseClock& clock) {
  if (!queue(before_)) return execute(before_, piece, clock);
  if (piece == 0)
    for (const auto& slice : before_) slice->begin(clock);
  before_[static_cast<std::size_t>(piece)]->end(clock);
}

void TransformChain::Overlap::after(int piece, PhaseClock& clock) {
  if (!queue(after_)) return execute(after_, piece, clock);
  after_[static_cast<std::size_t>(piece)]->begin(clock);
  if (static_cast<std::size_t>(piece) + 1 == after_.size())
    for (const auto& slice : after_) slice->end(clock);
}

void TransformChain::Overlap::execute(const std::vector<std::unique_ptr<LocalFft>>& slices, int piece,
                                      PhaseClock& clock) {
  if (slices.empty()) return;
  const Region region(clock, Phase::fft, piece);
  slices[static_cast<std::size_t>(piece)]->execute();
}

}  // namespace fourscore
