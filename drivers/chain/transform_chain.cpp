#include "chain/transform_chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "mpi/error.hpp"

namespace fourscore {

namespace {

bool transforms(const ChainStage& stage, std::size_t axis) {
  return std::ranges::find(stage.axes, axis) != stage.axes.end();
}

/// Stages that follow each other in the same layout become one.
std::vector<ChainStage> merge_stages(std::vector<ChainStage> stages) {
  std::vector<ChainStage> merged;
  for (ChainStage& stage : stages) {
    if (!merged.empty() && merged.back().layout.same_boxes(stage.layout))
      merged.back().axes.insert(merged.back().axes.end(), stage.axes.begin(), stage.axes.end());
    else
      merged.push_back(std::move(stage));
  }
  return merged;
}

}  // namespace

std::vector<ChainStage> pencil_stages(const Extents& shape, const Grid& grid) {
  const int rows = grid.extents[0];
  const int columns = grid.extents[1];
  return {{decompose(shape, Grid{{rows, columns, 1}}), {2}},
          {decompose(shape, Grid{{rows, 1, columns}}), {1}},
          {decompose(shape, Grid{{1, rows, columns}}), {0}}};
}

std::vector<ChainStage> slab_stages(const Problem& problem, int ranks) {
  const Extents shape = problem.complex_extents();
  std::vector<std::size_t> others{1};
  if (problem.shape.size() == 3) others.push_back(2);
  return {{decompose(shape, Grid{{ranks, 1, 1}}), others}, {decompose(shape, Grid{{1, ranks, 1}}), {0}}};
}

std::vector<ChainStage> arrange_stages(const Problem& problem, std::vector<ChainStage> forward, Return way_back) {
  std::vector<ChainStage> stages = std::move(forward);
  const bool natural = problem.contract.layout == LayoutContract::natural;
  if (natural && way_back == Return::through_stages)
    for (std::size_t i = stages.size() - 1; i-- > 0;) stages.push_back({stages[i].layout, {}});
  else if (natural)
    stages.push_back({stages.front().layout, {}});
  if (problem.direction == Direction::backward && (!natural || problem.real_output())) std::ranges::reverse(stages);
  return merge_stages(std::move(stages));
}

std::vector<RedistributionGroup> redistributions_between(const std::vector<ChainStage>& stages, int rank) {
  std::vector<RedistributionGroup> groups;
  for (std::size_t i = 0; i + 1 < stages.size(); ++i)
    groups.push_back(redistribution_group(stages[i].layout, stages[i + 1].layout, rank));
  return groups;
}

TransformChain::TransformChain(const PlanContext& context, std::vector<ChainStage> stages, Options options)
    : options_(std::move(options)), stages_(std::move(stages)) {
  if (stages_.empty()) throw std::invalid_argument("a chain of no stages");
  if (stages_.size() > 1 && context.exchange == nullptr)
    throw std::invalid_argument("a chain of several stages without an exchange");
  set_layouts(context.problem);
  allocate(context);
  find_redistributions(context);
  allocate_staging(context);
  make_exchanges(context);
  const std::size_t out_of_place = out_of_place_stage(context.problem, ends_in_);
  make_local_ffts(context, out_of_place);
}

void TransformChain::set_layouts(const Problem& problem) {
  input_layout_ = stages_.front().layout;
  output_layout_ = stages_.back().layout;
  if (problem.kind == Kind::c2c) return;
  std::vector<const ChainStage*> transforming;
  for (const ChainStage& stage : stages_)
    if (!stage.axes.empty()) transforming.push_back(&stage);
  if (transforming.empty() ||
      !transforms(problem.real_input() ? *transforming.front() : *transforming.back(), problem.last_axis()))
    throw std::invalid_argument("a chain that transforms the halved axis neither first from real nor last to real");
  Decomposition& real = problem.real_input() ? input_layout_ : output_layout_;
  real = real_in_place_of(real, problem.last_axis(), problem.shape.back());
}

void TransformChain::allocate(const PlanContext& context) {
  const int me = mpi::rank_in(context.comm);
  Index volume = 0;
  for (const ChainStage& stage : stages_) {
    const Index here = stage.layout.box(me).volume();
    volume = std::max(volume, here);
    stage_bytes_.push_back(here * static_cast<Index>(context.problem.element_bytes()));
  }
  const std::size_t bytes = static_cast<std::size_t>(volume) * context.problem.element_bytes();
  const bool both = stages_.size() > 1 || context.problem.contract.buffers == Buffers::out_of_place;
  for (std::size_t i = 0; i < (both ? 2 : 1); ++i)
    buffers_.push_back(context.buffer(bytes, [&] {
      auto array = context.exchange == nullptr || stages_.size() == 1
                       ? ordinary_buffer(bytes)
                       : context.exchange->allocate(context.comm, bytes, BufferUse::array);
      return options_.arrays == nullptr ? std::move(array) : options_.arrays->adopt(std::move(array));
    }));
  if (options_.arrays != nullptr)
    for (const auto& buffer : buffers_) options_.arrays->holds(*buffer);
}

void TransformChain::find_redistributions(const PlanContext& context) {
  const int me = mpi::rank_in(context.comm);
  for (RedistributionGroup& group : redistributions_between(stages_, me)) {
    Redistribution& redistribution = redistributions_.emplace_back();
    redistribution.comm = mpi::split(context.comm, group.first, me);
    redistribution.from = std::move(group.from);
    redistribution.to = std::move(group.to);
  }
}

ExchangeSpec TransformChain::exchange_spec(const PlanContext& context, const Redistribution& redistribution,
                                           std::size_t source) const {
  return {redistribution.from,
          redistribution.to,
          redistribution.comm.get(),
          context.problem.element_bytes(),
          *buffers_[source],
          *buffers_[1 - source],
          context.comm,
          &context.problem,
          staging_.get()};
}

/// The exchanges run one after another, so that the one which needs most says how much there is.
void TransformChain::allocate_staging(const PlanContext& context) {
  if (redistributions_.empty()) return;
  if (in_pieces() && piecewise(*context.exchange) == nullptr)
    throw std::invalid_argument("a chain in pieces with an exchange that is not");
  std::size_t bytes = 0;
  for (const Redistribution& redistribution : redistributions_) {
    const ExchangeSpec spec = exchange_spec(context, redistribution, 0);
    bytes =
        std::max(bytes, in_pieces() ? PiecewiseExchange::staging_bytes(spec) : context.exchange->staging_bytes(spec));
  }
  staging_ = in_pieces() ? ordinary_buffer(bytes) : context.exchange->allocate(context.comm, bytes, BufferUse::staging);
}

void TransformChain::make_exchanges(const PlanContext& context) {
  std::size_t place = 0;
  for (std::size_t i = 0; i < redistributions_.size(); ++i) {
    make_exchange(context, i, place);
    if (!redistributions_[i].exchange->lands_in_source()) place = 1 - place;
  }
  ends_in_ = place;
}

void TransformChain::make_exchange(const PlanContext& context, std::size_t number, std::size_t source) {
  Redistribution& redistribution = redistributions_[number];
  const ExchangeSpec spec = exchange_spec(context, redistribution, source);
  if (!in_pieces()) {
    redistribution.exchange = context.exchange->make(spec);
  } else {
    auto in_pieces = piecewise(*context.exchange)->make_in_pieces(spec, {options_.pieces, std::size_t{0}});
    redistribution.in_pieces = in_pieces.get();
    redistribution.exchange = std::move(in_pieces);
  }
  std::array<int, 3> does{redistribution.exchange->facts().packs ? 1 : 0,
                          redistribution.exchange->facts().unpacks ? 1 : 0,
                          can_gather(context, number, source) ? 0 : 1};
  FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, does.data(), 3, MPI_INT, MPI_MAX, context.comm));
  redistribution.packs = does[0] != 0;
  redistribution.reads_in_fft = does[2] == 0;
  redistribution.unpacks = does[1] != 0 && !redistribution.reads_in_fft;
  if (redistribution.reads_in_fft) redistribution.exchange->leave_copies_to_caller();
}

LocalArray TransformChain::array_of(const PlanContext& context, std::size_t stage, std::size_t buffer) const {
  const int me = mpi::rank_in(context.comm);
  const Decomposition& layout = stages_[stage].layout;
  return {layout.box(me).extents(), layout.strides(me), static_cast<std::byte*>(buffers_[buffer]->data())};
}

/// The first stage has to be left for a transform out of place, should the contract ask for one.
bool TransformChain::can_gather(const PlanContext& context, std::size_t redistribution, std::size_t source) const {
  const std::size_t stage = redistribution + 1;
  if (in_pieces() || options_.arrays != nullptr || stages_.front().axes.empty() || stages_[stage].axes.size() != 1)
    return false;
  const auto sources = redistributions_[redistribution].exchange->readable_sources();
  return sources && GatheredFft::serves(local_fft_spec(context, stage), array_of(context, stage, 1 - source),
                                        stages_[stage].axes.front(), *sources);
}

std::size_t TransformChain::out_of_place_stage(const Problem& problem, std::size_t ends_in) const {
  const std::size_t wanted = problem.contract.buffers == Buffers::in_place ? 0 : 1;
  if (ends_in == wanted) return stages_.size();
  // A pass along slow axes only goes through the library's scratch anyway, and may as well leave its result elsewhere.
  const auto strided = [](const ChainStage& stage) {
    return !stage.axes.empty() && std::ranges::find(stage.axes, std::size_t{2}) == stage.axes.end();
  };
  const auto gathers = [this](std::size_t stage) { return stage > 0 && redistributions_[stage - 1].reads_in_fft; };
  for (std::size_t i = stages_.size(); i-- > 0;)
    if (strided(stages_[i]) && !gathers(i)) return i;
  const auto first = std::ranges::find_if(stages_, [](const ChainStage& stage) { return !stage.axes.empty(); });
  return static_cast<std::size_t>(first - stages_.begin());
}

LocalFftSpec TransformChain::local_fft_spec(const PlanContext& context, std::size_t stage,
                                            std::optional<Range> slice) const {
  const int me = mpi::rank_in(context.comm);
  const Problem& problem = context.problem;
  const Decomposition& layout = stages_[stage].layout;
  LocalFftSpec spec;
  Extents extents = layout.box(me).extents();
  if (slice) extents[0] = slice->size();
  const Extents strides = layout.strides(me);
  for (std::size_t a = 0; a < 3; ++a) {
    const Loop loop{extents[a], strides[a], strides[a]};
    if (!transforms(stages_[stage], a)) {
      spec.batch.push_back(loop);
    } else if (problem.kind == Kind::r2c && a == problem.last_axis()) {
      spec.axes.insert(spec.axes.begin(), loop);
      spec.real_length = problem.shape.back();
    } else {
      spec.axes.push_back(loop);
    }
  }
  spec.precision = problem.precision;
  spec.direction = problem.direction;
  spec.effort = problem.contract.effort;
  spec.threads = problem.threads;
  spec.single_plan = options_.single_plan;
  return spec;
}

/// An exchange behind the stage that goes out of place starts in the other buffer than that for which it was made at
/// first.
void TransformChain::make_local_ffts(const PlanContext& context, std::size_t out_of_place) {
  const std::vector<std::size_t> redistribution_of = redistributions_of_transforms(context, out_of_place);
  if (in_pieces()) overlaps_.resize(redistributions_.size());
  gathered_.resize(redistributions_.size());
  std::size_t place = 0;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    if (stages_[i].axes.empty()) {
      ffts_.push_back(nullptr);
    } else if (i > 0 && redistributions_[i - 1].reads_in_fft) {
      ffts_.push_back(nullptr);
      gathered_[i - 1] =
          std::make_unique<GatheredFft>(context.local_fft, local_fft_spec(context, i), array_of(context, i, place),
                                        stages_[i].axes.front(), *redistributions_[i - 1].exchange->readable_sources());
    } else if (redistribution_of[i] < redistributions_.size()) {
      ffts_.push_back(nullptr);
      make_slices(context, i, redistribution_of[i], static_cast<std::byte*>(buffers_[place]->data()));
    } else {
      const std::size_t from = place;
      if (i == out_of_place) place = 1 - place;
      ffts_.push_back(
          context.local_fft.make(local_fft_spec(context, i), buffers_[from]->data(), buffers_[place]->data()));
    }
    if (i == redistributions_.size()) break;
    Redistribution& redistribution = redistributions_[i];
    const bool landed_in_source = redistribution.exchange->lands_in_source();
    if (i >= out_of_place) {
      redistribution.exchange.reset();
      make_exchange(context, i, place);
      if (redistribution.exchange->lands_in_source() != landed_in_source)
        throw std::logic_error("an exchange lands elsewhere when its two buffers change places");
    }
    if (!landed_in_source) place = 1 - place;
  }
  ends_in_ = place;
}

void TransformChain::execute(PhaseClock& clock) {
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    transform(i, clock);
    if (i == redistributions_.size()) break;
    if (redistributions_[i].in_pieces != nullptr) {
      redistributions_[i].in_pieces->run_around(clock, overlaps_[i]);
    } else if (gathered_[i]) {
      redistributions_[i].exchange->begin(clock);
      end_exchange(i, clock);
    } else {
      redistributions_[i].exchange->run(clock);
    }
  }
}

void TransformChain::end_exchange(std::size_t number, PhaseClock& clock) {
  if (gathered_[number]) gathered_[number]->execute(clock);
  redistributions_[number].exchange->end(clock);
}

void TransformChain::step(std::size_t number, PhaseClock& clock) {
  const auto run_slices = [&](void (Overlap::*run)(int, PhaseClock&), std::size_t redistribution) {
    if (!overlaps_.empty())
      for (int k = 0; k < options_.pieces; ++k) (overlaps_[redistribution].*run)(k, clock);
  };
  if (number > 0) {
    end_exchange(number - 1, clock);
    run_slices(&Overlap::after, number - 1);
  }
  transform(number, clock);
  if (number == redistributions_.size()) return;
  run_slices(&Overlap::before, number);
  redistributions_[number].exchange->begin(clock);
}

void TransformChain::transform(std::size_t stage, PhaseClock& clock) {
  if (ffts_[stage]) ffts_[stage]->run(clock);
}

/// One component, or one for each of its parts, all of one number.
void TransformChain::add_transform(std::vector<Component>& list, LocalFft& fft, int number, Index min_bytes) const {
  auto parts = fft.parts();
  if (parts.empty()) list.push_back({fmt::format("fft-{}", number), Phase::fft, [&fft] { fft.execute(); }, min_bytes});
  for (WorkPart& part : parts)
    list.push_back({fmt::format("{}-{}", part.name(), number), part.phase, std::move(part.run), part.min_bytes});
}

void TransformChain::add_exchange(std::vector<Component>& list, std::size_t number) {
  Exchange* exchange = redistributions_[number].exchange.get();
  GatheredFft* gathered = gathered_[number].get();
  if (redistributions_[number].packs)
    list.push_back({fmt::format("pack-{}", number + 1), Phase::pack, [exchange] { exchange->pack(); },
                    2 * exchange->facts().bytes_packed});
  const Index min_bytes = gathered != nullptr
                              ? gathered->bytes()
                              : min_bytes_of_exchange(exchange->message_volume(), stage_bytes_[number + 1]);
  auto parts = exchange->parts();
  for (WorkPart& part : parts)
    list.push_back({fmt::format("{}-{}{}", part.name(), part.phase == Phase::exchange ? "" : "exchange-", number + 1),
                    part.phase, std::move(part.run), part.phase == Phase::exchange ? min_bytes : part.min_bytes});
  if (parts.empty())
    list.push_back({fmt::format("exchange-{}", number + 1), Phase::exchange,
                    [exchange, gathered] {
                      exchange->start();
                      if (gathered != nullptr) gathered->gather();
                      exchange->finish();
                    },
                    min_bytes});
  if (redistributions_[number].unpacks)
    list.push_back({fmt::format("unpack-{}", number + 1), Phase::unpack, [exchange] { exchange->unpack(); },
                    2 * exchange->facts().bytes_unpacked});
}

std::vector<Component> TransformChain::components() {
  std::vector<Component> list;
  int fft = 0;
  const auto add_slices = [&](std::size_t stage, const std::vector<std::unique_ptr<LocalFft>>& slices) {
    if (slices.empty()) return;
    list.push_back({fmt::format("fft-{}", ++fft), Phase::fft,
                    [&slices] {
                      for (const auto& slice : slices) slice->execute();
                    },
                    min_bytes_of_fft(stage)});
  };
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    if (ffts_[i]) add_transform(list, *ffts_[i], ++fft, min_bytes_of_fft(i));
    if (i > 0 && gathered_[i - 1])
      list.push_back({fmt::format("fft-{}", ++fft), Phase::fft, [plan = gathered_[i - 1].get()] { plan->transform(); },
                      gathered_[i - 1]->bytes()});
    if (i > 0 && !overlaps_.empty()) add_slices(i, overlaps_[i - 1].after_);
    if (i == redistributions_.size()) break;
    if (!overlaps_.empty()) add_slices(i, overlaps_[i].before_);
    add_exchange(list, i);
  }
  return list;
}

MessageVolume TransformChain::message_volume() const {
  MessageVolume total;
  for (const Redistribution& redistribution : redistributions_) total += redistribution.exchange->message_volume();
  return total;
}

DeviceWork TransformChain::device_work() const {
  DeviceWork total;
  for (const Redistribution& redistribution : redistributions_) total += redistribution.exchange->device_work();
  for (const auto& fft : ffts_)
    if (fft) total += fft->device_work();
  for (const Overlap& overlap : overlaps_)
    for (const auto* slices : {&overlap.before_, &overlap.after_})
      for (const auto& slice : *slices) total += slice->device_work();
  return total;
}

std::size_t TransformChain::buffer_bytes() const {
  std::size_t total = 0;
  for (const auto& buffer : buffers_) total += buffer->bytes();
  return total;
}

std::size_t TransformChain::workspace_bytes() const {
  std::size_t total = staging_ ? staging_->bytes() : 0;
  for (const Redistribution& redistribution : redistributions_)
    total += redistribution.exchange->facts().workspace_bytes;
  for (const auto& gathered : gathered_)
    if (gathered) total += gathered->workspace_bytes();
  for (const auto& fft : ffts_)
    if (fft) total += fft->workspace_bytes();
  for (const Overlap& overlap : overlaps_)
    for (const auto* slices : {&overlap.before_, &overlap.after_})
      for (const auto& slice : *slices) total += slice->workspace_bytes();
  return total;
}

std::vector<std::string> TransformChain::describe_local_ffts() const {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    if (ffts_[i]) texts.push_back(ffts_[i]->describe());
    if (i > 0 && gathered_[i - 1]) texts.push_back(gathered_[i - 1]->describe());
  }
  for (const Overlap& overlap : overlaps_)
    for (const auto* slices : {&overlap.before_, &overlap.after_})
      if (!slices->empty())
        texts.push_back(fmt::format("{} slices, first: {}", slices->size(), slices->front()->describe()));
  return texts;
}

}  // namespace fourscore
