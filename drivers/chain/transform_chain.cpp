#include "chain/transform_chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "chain/limits_and_cost.hpp"
#include "interfaces/truncation.hpp"
#include "mpi/error.hpp"

namespace fourscore {

namespace {

bool contains(const std::vector<std::size_t>& axes, std::size_t axis) {
  return std::ranges::find(axes, axis) != axes.end();
}

/// Throws std::invalid_argument unless the halved axis of real data is transformed first from reals, or last to reals.
void check_halved_axis(const Problem& problem, const std::vector<ChainStage>& stages) {
  if (problem.kind == Kind::c2c) return;
  std::vector<Axes> passes;
  for (const ChainStage& stage : stages) std::ranges::copy(stage.passes(), std::back_inserter(passes));
  if (passes.empty() || !contains(problem.real_input() ? passes.front() : passes.back(), problem.last_axis()))
    throw std::invalid_argument("a chain that transforms the halved axis neither first from real nor last to real");
}

}  // namespace

LocalFftSpec local_fft_spec(const Problem& problem, const std::vector<std::size_t>& axes, const Extents& extents,
                            const Extents& strides) {
  LocalFftSpec spec = local_fft_spec(problem);
  for (std::size_t a = 0; a < 3; ++a) {
    Loop loop{extents[a], strides[a], strides[a]};
    if (problem.fields > 1 && a == axis_of_fields(problem)) {
      spec.batch.push_back({problem.fields, loop.in_stride, loop.out_stride});
      loop = {loop.count / problem.fields, loop.in_stride * problem.fields, loop.out_stride * problem.fields};
    }
    if (!contains(axes, a)) {
      spec.batch.push_back(loop);
    } else if (problem.kind == Kind::r2c && a == problem.last_axis()) {
      spec.axes.insert(spec.axes.begin(), loop);
      spec.real_length = problem.shape.back();
    } else {
      spec.axes.push_back(loop);
    }
  }
  return spec;
}

TransformChain::TransformChain(const PlanContext& context, std::vector<ChainStage> stages, Options options)
    : options_(std::move(options)) {
  if (stages.empty()) throw std::invalid_argument("a chain of no stages");
  if (stages.size() > 1 && context.exchange == nullptr)
    throw std::invalid_argument("a chain of several stages without an exchange");
  check_halved_axis(context.problem, stages);
  declare_layouts(context.problem, stages.front().arriving(), stages.back().leaving());
  declared().grid = options_.grid;
  interleave_fields(context.problem, mpi::rank_in(context.comm), stages);
  allocate_arrays(context, stages);
  make_links(context, std::move(stages));
  allocate_staging(context);
  make_local_ffts(context, out_of_place_stage(context.problem, make_exchanges(context)));
  declared().workspace_bytes += context.local_fft.share_workspace();
  declare_work();
}

void TransformChain::allocate_arrays(const PlanContext& context, const std::vector<ChainStage>& stages) {
  const bool exchanges = stages.size() > 1;
  const auto bytes =
      static_cast<std::size_t>(largest_box(stages, mpi::rank_in(context.comm))) * context.problem.element_bytes();
  allocate(context, bytes, exchanges, [&] {
    auto array = exchanges ? context.exchange->allocate(context.comm, bytes, BufferUse::array) : ordinary_buffer(bytes);
    return options_.arrays == nullptr ? std::move(array) : options_.arrays->adopt(std::move(array));
  });
  if (options_.arrays != nullptr)
    for (std::size_t i = 0; i < buffers(); ++i) options_.arrays->holds(buffer(i));
}

void TransformChain::make_links(const PlanContext& context, std::vector<ChainStage> stages) {
  const int me = mpi::rank_in(context.comm);
  std::vector<RedistributionGroup> groups = redistributions_between(stages, me);
  for (std::size_t i = 0; i < stages.size(); ++i) {
    Link& link = links_.emplace_back();
    link.bytes = stages[i].layout.box(me).volume() * static_cast<Index>(context.problem.element_bytes());
    link.stage = std::move(stages[i]);
    const ChainStage& stage = link.stage;
    const auto truncated = [&](const Decomposition& kept) {
      return TruncatedBox(stage.layout.box(me).extents(), kept.box(me).extents(), stage.layout.order,
                          context.problem.kind == Kind::r2c, context.problem.last_axis(),
                          context.problem.element_bytes());
    };
    if (stage.padded_from) link.pads = truncated(*stage.padded_from);
    if (stage.cut_to) link.drops = truncated(*stage.cut_to);
    if (i == groups.size()) break;
    link.comm = mpi::split(context.comm, groups[i].first, me);
    link.from = std::move(groups[i].from);
    link.to = std::move(groups[i].to);
  }
}

ExchangeSpec TransformChain::exchange_spec(const PlanContext& context, std::size_t number, std::size_t source) const {
  const Link& link = links_[number];
  ExchangeSpec spec{link.from,       link.to,
                    link.comm.get(), context.problem.element_bytes(),
                    buffer(source),  buffer(1 - source),
                    context.comm,    &context.problem,
                    staging_.get()};
  const ChainStage& next = links_[number + 1].stage;
  const Extents extents = next.layout.box(mpi::rank_in(context.comm)).extents();
  spec.transform_reads_parts = next.axes.size() == 1 && context.local_fft.reads_parts(extents[next.axes.front()]);
  return spec;
}

/// The exchanges run one after another, so that the one which needs most says how much there is.
void TransformChain::allocate_staging(const PlanContext& context) {
  if (links_.size() == 1) return;
  if (in_pieces() && piecewise(*context.exchange) == nullptr)
    throw std::invalid_argument("a chain in pieces with an exchange that is not");
  std::size_t bytes = 0;
  for (std::size_t i = 0; i + 1 < links_.size(); ++i) {
    const ExchangeSpec spec = exchange_spec(context, i, 0);
    bytes =
        std::max(bytes, in_pieces() ? PiecewiseExchange::staging_bytes(spec) : context.exchange->staging_bytes(spec));
  }
  staging_ = in_pieces() ? ordinary_buffer(bytes) : context.exchange->allocate(context.comm, bytes, BufferUse::staging);
}

/// Returns the buffer in which they end.
std::size_t TransformChain::make_exchanges(const PlanContext& context) {
  std::size_t place = 0;
  for (std::size_t i = 0; i + 1 < links_.size(); ++i) {
    make_exchange(context, i, place);
    if (!links_[i].exchange->lands_in_source()) place = 1 - place;
  }
  return place;
}

void TransformChain::make_exchange(const PlanContext& context, std::size_t number, std::size_t source) {
  Link& link = links_[number];
  const ExchangeSpec spec = exchange_spec(context, number, source);
  if (!in_pieces()) {
    link.exchange = context.exchange->make(spec);
  } else {
    auto in_pieces = piecewise(*context.exchange)->make_in_pieces(spec, {options_.pieces, std::size_t{0}});
    link.in_pieces = in_pieces.get();
    link.exchange = std::move(in_pieces);
  }
  link.copies = copies_on_any_rank(*link.exchange, context.comm);
  int gathers = can_gather(context, number, source) ? 1 : 0;
  FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, &gathers, 1, MPI_INT, MPI_MIN, context.comm));
  link.reads_in_fft = gathers != 0;
  if (!link.reads_in_fft) return;
  link.copies.unpacks = false;
  link.exchange->leave_copies_to_caller();
}

LocalArray TransformChain::array_of(const PlanContext& context, std::size_t stage, std::size_t buffer) const {
  const int me = mpi::rank_in(context.comm);
  const Decomposition& layout = links_[stage].stage.layout;
  return {layout.box(me).extents(), layout.strides(me), data(buffer)};
}

/// The first stage has to be left for a transform out of place, should the contract ask for one.
bool TransformChain::can_gather(const PlanContext& context, std::size_t number, std::size_t source) const {
  const ChainStage& stage = links_[number + 1].stage;
  if (in_pieces() || options_.arrays != nullptr || stage.padded_from || links_.front().stage.axes.empty() ||
      stage.axes.size() != 1)
    return false;
  if (context.problem.fields > 1 && stage.axes.front() == axis_of_fields(context.problem)) return false;
  const auto sources = links_[number].exchange->readable_sources();
  return sources && GatheredFft::serves(fft_spec(context, stage, stage.axes), array_of(context, number + 1, 1 - source),
                                        stage.axes.front(), *sources);
}

std::size_t TransformChain::out_of_place_stage(const Problem& problem, std::size_t ends_in) const {
  if (ends_in == output_buffer(problem)) return links_.size();
  // A pass along slow axes only goes through the library's scratch anyway, and may as well leave its result elsewhere.
  const auto strided = [](const ChainStage& stage) { return !stage.axes.empty() && !contains(stage.axes, 2); };
  const auto gathers = [this](std::size_t stage) { return stage > 0 && links_[stage - 1].reads_in_fft; };
  for (std::size_t i = links_.size(); i-- > 0;)
    if (strided(links_[i].stage) && !gathers(i)) return i;
  const auto first = std::ranges::find_if(links_, [](const Link& link) { return !link.stage.axes.empty(); });
  return static_cast<std::size_t>(first - links_.begin());
}

LocalFftSpec TransformChain::fft_spec(const PlanContext& context, const ChainStage& stage, const Axes& axes,
                                      std::optional<Range> slice) const {
  const int me = mpi::rank_in(context.comm);
  Extents extents = stage.layout.box(me).extents();
  if (slice) extents[0] = slice->size();
  LocalFftSpec spec = local_fft_spec(context.problem, axes, extents, stage.layout.strides(me));
  spec.single_plan = options_.single_plan;
  return spec;
}

/// An exchange behind the stage that goes out of place starts in the other buffer than that for which it was made at
/// first.
void TransformChain::make_local_ffts(const PlanContext& context, std::size_t out_of_place) {
  const std::vector<std::size_t> link_of = links_of_transforms(context, out_of_place);
  std::size_t place = 0;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    Link& link = links_[i];
    const ChainStage& stage = link.stage;
    link.pads_at = data(place);
    if (i > 0 && links_[i - 1].reads_in_fft) {
      Link& before = links_[i - 1];
      before.gathered = std::make_unique<GatheredFft>(context.local_fft, fft_spec(context, stage, stage.axes),
                                                      array_of(context, i, place), stage.axes.front(),
                                                      *before.exchange->readable_sources());
    } else if (!stage.axes.empty()) {
      if (link_of[i] < links_.size()) make_slices(context, i, link_of[i], data(place));
      const std::size_t from = place;
      if (i == out_of_place) place = 1 - place;
      make_passes(context, i, link_of[i], data(from), data(place));
    }
    link.drops_at = data(place);
    if (!link.exchange) break;
    const bool landed_in_source = link.exchange->lands_in_source();
    if (i >= out_of_place) {
      link.exchange.reset();
      make_exchange(context, i, place);
      if (link.exchange->lands_in_source() != landed_in_source)
        throw std::logic_error("an exchange lands elsewhere when its two buffers change places");
    }
    if (!landed_in_source) place = 1 - place;
  }
}

void TransformChain::make_passes(const PlanContext& context, std::size_t stage, std::size_t sliced_with,
                                 std::byte* from, std::byte* to) {
  Link& link = links_[stage];
  const std::vector<Axes> passes = link.stage.passes();
  const bool sliced = sliced_with < links_.size();
  const std::size_t first = sliced && sliced_with != stage ? 1 : 0;
  const std::size_t last = passes.size() - (sliced_with == stage ? 1 : 0);
  for (std::size_t pass = first; pass < last; ++pass) {
    link.ffts.push_back(context.local_fft.make(fft_spec(context, link.stage, passes[pass]), from, to));
    from = to;
  }
}

void TransformChain::declare_work() {
  PlanFacts& facts = declared();
  const auto add = [&](const LocalFft& fft) {
    facts.device_work += fft.device_work();
    facts.workspace_bytes += fft.workspace_bytes();
  };
  std::vector<std::string> of_slices;
  if (staging_) facts.workspace_bytes += staging_->bytes();
  for (const Link& link : links_) {
    for (const auto& fft : link.ffts) {
      add(*fft);
      facts.local_ffts.push_back(fft->describe());
    }
    if (link.exchange) {
      facts.message_volume += link.exchange->message_volume();
      facts.device_work += link.exchange->device_work();
      facts.workspace_bytes += link.exchange->facts().workspace_bytes;
    }
    if (link.gathered) {
      facts.device_work += link.gathered->device_work();
      facts.workspace_bytes += link.gathered->workspace_bytes();
      facts.local_ffts.push_back(link.gathered->describe());
    }
    for (const auto* slices : {&link.overlap.before_, &link.overlap.after_}) {
      for (const auto& slice : *slices) add(*slice);
      if (!slices->empty())
        of_slices.push_back(fmt::format("{} slices, first: {}", slices->size(), slices->front()->describe()));
    }
  }
  facts.local_ffts.insert(facts.local_ffts.end(), of_slices.begin(), of_slices.end());
}

void TransformChain::execute(PhaseClock& clock) {
  for (Link& link : links_) {
    link.transform(clock);
    if (link.in_pieces != nullptr) {
      link.in_pieces->run_around(clock, link.overlap);
    } else if (link.gathered) {
      link.exchange->begin(clock);
      link.end_exchange(clock);
    } else if (link.exchange) {
      link.exchange->run(clock);
    }
  }
}

void TransformChain::Link::transform(PhaseClock& clock) {
  if (pads) {
    const Region region(clock, Phase::unpack);
    pads->pad(pads_at);
  }
  for (const auto& fft : ffts) fft->run(clock);
  if (drops) {
    const Region region(clock, Phase::pack);
    drops->drop(drops_at);
  }
}

void TransformChain::Link::end_exchange(PhaseClock& clock) {
  if (gathered) gathered->execute(clock);
  exchange->end(clock);
}

Advance TransformChain::advance(PhaseClock& clock) {
  Link& link = links_[next_];
  if (next_ > 0) {
    Link& before = links_[next_ - 1];
    before.end_exchange(clock);
    for (int k = 0; k < options_.pieces; ++k) before.overlap.after(k, clock);
  }
  link.transform(clock);
  next_ = (next_ + 1) % links_.size();
  if (next_ == 0) return Advance::complete;
  for (int k = 0; k < options_.pieces; ++k) link.overlap.before(k, clock);
  link.exchange->begin(clock);
  return Advance::worked;
}

std::vector<Component> TransformChain::components() {
  std::vector<Component> list;
  int ffts = 0;
  const auto add = [&](std::function<void()> run, Index min_bytes) {
    list.push_back({fmt::format("fft-{}", ++ffts), Phase::fft, std::move(run), min_bytes});
  };
  // Each 1-D transform of a stage reads and writes the rank's data once.
  const auto min_bytes_of = [](const Link& link, const Axes& pass) {
    return 2 * static_cast<Index>(pass.size()) * link.bytes;
  };
  const auto add_slices = [&](const std::vector<std::unique_ptr<LocalFft>>& slices, Index min_bytes) {
    add(
        [&slices] {
          for (const auto& slice : slices) slice->execute();
        },
        min_bytes);
  };
  for (std::size_t i = 0; i < links_.size(); ++i) {
    Link& link = links_[i];
    const int number = static_cast<int>(i) + 1;
    if (link.pads)
      list.push_back({fmt::format("pad-{}", number), Phase::unpack, [&link] { link.pads->pad(link.pads_at); },
                      link.pads->kept_bytes() + link.pads->whole_bytes()});
    const std::vector<Axes> passes = link.stage.passes();
    const std::size_t sliced_before = i > 0 && !links_[i - 1].overlap.after_.empty() ? 1 : 0;
    for (std::size_t k = 0; k < link.ffts.size(); ++k)
      add_transform(list, *link.ffts[k], ++ffts, min_bytes_of(link, passes[sliced_before + k]));
    if (link.drops)
      list.push_back({fmt::format("drop-{}", number), Phase::pack, [&link] { link.drops->drop(link.drops_at); },
                      2 * link.drops->kept_bytes()});
    if (!link.exchange) break;
    if (!link.overlap.before_.empty()) add_slices(link.overlap.before_, min_bytes_of(link, passes.back()));
    if (GatheredFft* const gathered = link.gathered.get()) {
      add_exchange(list, *link.exchange, link.copies, number, gathered->gathered_bytes(),
                   [gathered] { gathered->gather(); });
      if (LocalFft* const whole = gathered->whole())
        add_transform(list, *whole, ++ffts, gathered->transformed_bytes());
      else
        add([gathered] { gathered->transform(); }, gathered->transformed_bytes());
    } else {
      add_exchange(list, *link.exchange, link.copies, number,
                   min_bytes_of_exchange(*link.exchange, links_[i + 1].arriving_bytes()));
    }
    const Link& next = links_[i + 1];
    if (!link.overlap.after_.empty()) add_slices(link.overlap.after_, min_bytes_of(next, next.stage.passes().front()));
  }
  return list;
}

std::unique_ptr<Plan> ChainVariant::make_plan(const PlanContext& context) const {
  const Grid grid = fitting_grid(context.problem, mpi::size_of(context.comm));
  return std::make_unique<TransformChain>(context, stages_of_half(context.problem, grid),
                                          options(context.problem, grid));
}

std::vector<RedistributionGroup> ChainVariant::redistributions(const Problem& problem, int ranks, int rank) const {
  return redistributions_between(stages_of_half(problem, fitting_grid(problem, ranks)), rank);
}

std::vector<ChainStage> ChainVariant::stages_of_half(const Problem& problem, const Grid& grid) const {
  return truncates(problem) ? truncated_stages(problem, stages(problem, grid)) : stages(problem, grid);
}

std::optional<Grid> ChainVariant::grid_of(const Problem& problem, int ranks) const {
  require_grid(problem, ranks, 1);
  return Grid{{ranks, 1, 1}};
}

TransformChain::Options ChainVariant::options(const Problem& problem, const Grid& grid) const {
  const auto entries = static_cast<std::ptrdiff_t>(grid_entries(problem, grid.ranks()));
  return {.grid = {grid.extents.begin(), grid.extents.begin() + entries}};
}

Grid ChainVariant::fitting_grid(const Problem& problem, int ranks) const {
  const auto grid = grid_of(problem, ranks);
  if (!grid) throw InputError(supports(problem, ranks).value_or("no grid fits"));
  return *grid;
}

}  // namespace fourscore
