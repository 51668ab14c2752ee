#include "local/split_fft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>
#include <utility>

#include "kernels/copy.hpp"
#include "local/contest.hpp"
#include "local/pass_fft.hpp"

namespace fourscore::local {

namespace {

using Clock = std::chrono::steady_clock;

/// Time for all candidates of one spec together; the candidate in hand is finished. It grows with the data, as one run
/// does: at 256^3 FFTW takes 3 to 13 s to plan the whole transform.
constexpr double measure_budget_s = 1.5;
constexpr double measure_budget_s_per_byte = 1.5 / (32 << 20);
constexpr double most_measure_budget_s = 4.0;
constexpr double patient_budget_s = 15.0;
/// Below this a library's planner is stopped before it has compared anything.
constexpr double min_limit_s = 0.5;
/// A turn in a contest takes at least this long, so that neither the clock nor a short disturbance decides it.
constexpr double shortest_turn_s = 200e-6;
constexpr double short_round_s = 20e-3;
constexpr std::size_t least_rounds_when_late = 3;
/// A plane beyond this is in no cache of a core when it is read again.
constexpr Index most_aside_bytes = Index{4} << 20;
/// Elements of a column at multiples of this stride fall into four sets of a first-level cache, or fewer.
constexpr Index crowding_stride_bytes = 1024;
constexpr const char* by_scratch = "by-plane-aside";

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Number of elements if the loops together cover them without a gap.
std::optional<Index> dense_elements(const Work& work) {
  std::vector<Loop> loops = work.axes;
  loops.insert(loops.end(), work.batch.begin(), work.batch.end());
  const std::vector<Loop> whole = merged(loops);
  if (whole.empty()) return 1;
  if (whole.size() == 1 && whole[0].in_stride == 1) return whole[0].count;
  return std::nullopt;
}

Index span_elements(const Work& work) {
  Index last = 0;
  for (const auto* loops : {&work.axes, &work.batch})
    for (const Loop& loop : *loops) last += (loop.count - 1) * loop.in_stride;
  return last + 1;
}

Work with_axes(const Work& work, std::size_t first, std::size_t last) {
  Work part = work;
  part.axes.assign(work.axes.begin() + static_cast<std::ptrdiff_t>(first),
                   work.axes.begin() + static_cast<std::ptrdiff_t>(last));
  for (std::size_t i = 0; i < work.axes.size(); ++i)
    if (i < first || i >= last) part.batch.push_back(work.axes[i]);
  if (first > 0) part.real_length = 0;  // the halved axis is among the others
  std::ranges::stable_sort(part.batch, {}, &Loop::in_stride);
  return part;
}

/// The same work in place where it reads, and where it writes, at all of its places.
Work within_in(Work work) {
  work.out = work.in;
  for (Work::Places& places : work.places) places.out_stride_bytes = places.in_stride_bytes;
  return work;
}
Work within_out(Work work) {
  work.in = work.out;
  for (Work::Places& places : work.places) places.in_stride_bytes = places.out_stride_bytes;
  return work;
}

double budget_s(const LocalFftSpec& spec) {
  if (spec.effort == Effort::patient) return patient_budget_s;
  double bytes = spec.precision == Precision::double_precision ? 16 : 8;
  for (const auto* loops : {&spec.axes, &spec.batch})
    for (const Loop& loop : *loops) bytes *= static_cast<double>(loop.count);
  return std::clamp(measure_budget_s_per_byte * bytes, measure_budget_s, most_measure_budget_s);
}

void run_at(const Pass& pass, const Work& work, std::size_t places, std::byte* in, std::byte* out) {
  if (places == 0) return pass.run(in, out);
  const Work::Places& outer = work.places[places - 1];
  for (Index i = 0; i < outer.count; ++i)
    run_at(pass, work, places - 1, in + i * outer.in_stride_bytes, out + i * outer.out_stride_bytes);
}

/// Seconds of one run at all places, the mean of `runs`.
double time_of(const Pass& pass, const Work& work, int runs) {
  const auto start = Clock::now();
  for (int run = 0; run < runs; ++run) run_at(pass, work, work.places.size(), work.in, work.out);
  return seconds_since(start) / runs;
}

}  // namespace

Index elements_written(const Work& work) {
  Index count = 1;
  for (const auto* loops : {&work.axes, &work.batch})
    for (const Loop& loop : *loops) count *= loop.count;
  for (const Work::Places& places : work.places)
    if (places.out_stride_bytes != 0) count *= places.count;
  return count;
}

SplitPlanner::SplitPlanner(const LocalFftSpec& spec, const PassPlanner& library, Decisions& decisions,
                           PlanningPeers* peers)
    : spec_(spec),
      library_(library),
      decisions_(decisions),
      peers_(peers),
      element_bytes_(spec.precision == Precision::double_precision ? 16 : 8),
      deadline_(Clock::now() +
                std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(budget_s(spec)))) {}

PassPtr SplitPlanner::plan(std::byte* in, std::byte* out) {
  Work work{spec_.axes, spec_.batch, in, out, false, spec_.real_length};
  if (work.real_length > 0) work.axes.erase(work.axes.begin());
  for (auto* loops : {&work.axes, &work.batch}) {
    std::erase_if(*loops, [](const Loop& loop) { return loop.count == 1; });
    std::ranges::stable_sort(*loops, {}, &Loop::in_stride);
  }
  if (work.real_length > 0) work.axes.insert(work.axes.begin(), spec_.axes.front());
  if (work.axes.empty()) work.axes.push_back({1, 1, 1});
  if (spec_.effort != Effort::estimate && peers_ != nullptr) {
    const auto bytes = static_cast<std::size_t>(span_elements(work) * element_bytes_);
    std::memset(in, 0, bytes);  // no trap values or denormals under the clock, and every page is there
    if (out != in) std::memset(out, 0, bytes);
  }
  return choose(work);
}

/// The first candidate is the one taken without timing.
PassPtr SplitPlanner::choose(const Work& work) {
  std::vector<Candidate> list = candidates(work);
  if (spec_.effort == Effort::estimate || (list.size() == 1 && peers_ == nullptr)) return list.front().plan();
  const std::string name = key(work);
  if (const auto decided = decisions_.find(name); decided != decisions_.end()) {
    const auto same = std::ranges::find(list, decided->second, &Candidate::name);
    if (same != list.end()) return same->plan();
  }
  if (peers_ == nullptr) throw NotRemembered{};
  std::erase_if(list, [](const Candidate& candidate) { return !candidate.contests; });
  return fastest(work, name, list);
}

PassPtr SplitPlanner::fastest(const Work& work, const std::string& name, const std::vector<Candidate>& list) {
  std::vector<PassPtr> passes;
  for (const Candidate& candidate : list) {
    double late_s = 0;
    peers_->agree("plan " + candidate.name + " of " + name,
                  [&] {
                    passes.push_back(candidate.plan());
                    late_s = -remaining_s();
                  },
                  {&late_s, 1});
    if (late_s >= 0) break;
  }
  if (!peers_->alone() && library_.share(*peers_)) {
    PlanningPeers* const peers = std::exchange(peers_, nullptr);  // all is decided, and the first rank plans nothing
    for (std::size_t i = 0; i < passes.size(); ++i) passes[i] = list[i].plan();
    peers_ = peers;
  }
  const std::size_t best = winner(work, name, passes);
  if (list.size() > 1) decisions_[name] = list[best].name;
  return std::move(passes[best]);
}

/// All peers run the same candidate at the same time, because they share the machine's memory, as they will in the
/// transform. The first run of each is no part of the contest; it tells how many runs a turn takes that a clock can
/// measure.
std::size_t SplitPlanner::winner(const Work& work, const std::string& name, const std::vector<PassPtr>& passes) {
  if (passes.size() == 1) return 0;
  std::vector<double> first_s(passes.size());
  const auto run_each = [&] {
    for (std::size_t i = 0; i < passes.size(); ++i) first_s[i] = time_of(*passes[i], work, 1);
  };
  peers_->agree("first runs of " + name, run_each, first_s);
  // Two rounds that are over within milliseconds may both be hit by one disturbance.
  const bool are_short = std::accumulate(first_s.begin(), first_s.end(), 0.0) < short_round_s;
  Contest contest(passes.size(), are_short ? Contest::least_rounds : 2);
  std::vector<double> view(Contest::numbers * passes.size() + 1);
  const auto run_round = [&] {
    for (const std::size_t i : contest.order())
      contest.add(i,
                  time_of(*passes[i], work, static_cast<int>(std::ceil(shortest_turn_s / std::max(first_s[i], 1e-9)))));
    std::ranges::copy(contest.view(), view.begin());
    view.back() = -remaining_s();
  };
  bool decided = false;
  while (!decided) {
    peers_->agree("a round of " + name, run_round, view);
    const bool late = view.back() >= 0 && contest.rounds() + 1 >= least_rounds_when_late;
    decided = contest.judge(view) || late;
  }
  return contest.winner();
}

/// Whether the library has passes of its own for each of the axes.
bool SplitPlanner::has_own_passes(const Work& work) const {
  if (work.axes.size() == 1) return !library_.candidates(work).empty();
  return std::ranges::all_of(halves(work), [this](const Work& part) { return has_own_passes(part); });
}

std::vector<Candidate> SplitPlanner::candidates(const Work& work) {
  std::vector<Candidate> list = library_.candidates(work);
  if (work.axes.size() > 1)
    add_splits(list, work);
  else
    add_buffered(list, work);
  const bool by_threads = spec_.threads > 1;
  list.push_back({"direct", [this, work, by_threads] { return by_threads ? plan_beside(work) : plan_within(work); }});
  // FFTW's own planes are the better guess where nothing is timed, by up to a seventh, but for those that it transforms
  // out of place or whose columns crowd the cache: at 256^3 these take four times as long as copied columns.
  const bool direct_is_better = work.axes.size() == 2 && spec_.effort == Effort::estimate &&
                                list.front().name != by_scratch &&
                                work.axes.back().in_stride * element_bytes_ % crowding_stride_bytes != 0;
  if ((by_threads || direct_is_better) && !has_own_passes(work)) std::rotate(list.begin(), list.end() - 1, list.end());
  if (work.in != work.out) add_copies(list, work);
  return list;
}

PassPtr SplitPlanner::plan_within(const Work& work) const {
  return library_.plan(work, spec_.effort == Effort::measure ? std::max(remaining_s(), min_limit_s) : -1);
}

/// Threads share one plan over everything with less waiting than one for each of its passes. Planning it takes long,
/// and a library that is stopped in it leaves a bad one: it has time of its own.
PassPtr SplitPlanner::plan_beside(const Work& work) {
  const auto start = Clock::now();
  PassPtr pass = library_.plan(work, spec_.effort == Effort::measure ? 2 * budget_s(spec_) : -1);
  deadline_ += Clock::now() - start;
  return pass;
}

/// Blocks of adjacent columns, for one axis with a stride. One thread only: blocks share a scratch.
void SplitPlanner::add_buffered(std::vector<Candidate>& list, const Work& work) {
  const Loop& axis = work.axes.front();
  const std::vector<Loop> batch = merged(work.batch);
  if (work.real_length > 0 || spec_.threads > 1 || axis.count < 8 || batch.empty() || batch.front().in_stride != 1)
    return;
  const Index columns = batch.front().count;
  // The clock of this pass does not see what the next one loses when its data has left the caches.
  const bool outgrows_caches =
      stores_for(static_cast<std::size_t>(elements_written(work) * element_bytes_)) == Stores::streaming;
  for (const Index width_bytes : {256, 128, 512}) {
    const Index width = width_bytes / element_bytes_;
    if (width > columns) continue;
    const std::string name = fmt::format("buffered-{}", width_bytes);
    list.push_back({name, [this, work, width] { return plan_buffered(work, width, false); }});
    if (work.in == work.out || columns % width != 0) continue;
    list.push_back(
        {name + "-streamed", [this, work, width] { return plan_buffered(work, width, true); }, outgrows_caches});
    if (outgrows_caches) std::swap(list.back(), list[list.size() - 2]);
  }
}

PassPtr SplitPlanner::plan_buffered(const Work& work, Index width, bool streaming) const {
  const Loop& axis = work.axes.front();
  const std::vector<Loop> batch = merged(work.batch);
  const Index columns = batch.front().count;
  auto scratch = std::make_shared<Scratch>(static_cast<std::size_t>(axis.count * width * element_bytes_));
  const auto plan_block = [&](Index block_width) {
    Work block{{{axis.count, block_width, block_width}}, {{block_width, 1, 1}}, scratch->data(), scratch->data()};
    return plan_within(block);
  };
  const Index rest = columns % width;
  PassPtr pass =
      buffered({axis.count, axis.in_stride * element_bytes_, width * element_bytes_}, columns / width,
               plan_block(width), rest * element_bytes_, rest > 0 ? plan_block(rest) : nullptr, scratch, streaming);
  for (std::size_t i = 1; i < batch.size(); ++i)
    pass = repeated(batch[i].count, batch[i].in_stride * element_bytes_, batch[i].out_stride * element_bytes_,
                    std::move(pass));
  return pass;
}

/// Two axes: both passes over one plane after another, or each over everything. Three axes: planes, then the slowest.
void SplitPlanner::add_splits(std::vector<Candidate>& list, const Work& work) {
  const std::vector<std::size_t> leaving =
      work.in == work.out ? std::vector<std::size_t>{0} : std::vector<std::size_t>{1, 0};
  const bool by_plane =
      work.axes.size() == 2 && !work.batch.empty() && work.batch.back().in_stride > work.axes.back().in_stride;
  Work inner = work;
  if (by_plane) inner.batch.pop_back();
  const Index plane_bytes = span_elements(inner) * element_bytes_;
  for (const std::size_t leaves_at : leaving) {
    const std::string suffix = work.in == work.out ? "" : fmt::format("-leave-{}", leaves_at);
    if (by_plane && work.in != work.out && leaves_at == 1 && plane_bytes <= most_aside_bytes)
      list.push_back({by_scratch, [this, work] {
                        return over_outermost(work, [&](const Work& plane) { return plan_aside(plane); });
                      }});
    if (by_plane)
      list.push_back({"by-plane" + suffix, [this, work, leaves_at] {
                        return over_outermost(work, [&](const Work& plane) { return plan_split(plane, leaves_at); });
                      }});
    list.push_back({"by-axis" + suffix, [this, work, leaves_at] { return plan_split(work, leaves_at); }});
  }
}

std::array<Work, 2> SplitPlanner::halves(const Work& work) const {
  const std::size_t axes = work.axes.size();
  std::array<Work, 2> parts{with_axes(work, 0, axes - 1), with_axes(work, axes - 1, axes)};
  // Real data is made complex before anything else, and real again after all else.
  if (work.real_length > 0 && spec_.direction == Direction::backward) std::swap(parts[0], parts[1]);
  return parts;
}

/// A plane after another, each by way of a scratch, so that neither the pass that leaves nor the other one writes the
/// plane back to where it came from.
PassPtr SplitPlanner::plan_aside(const Work& plane) {
  auto [first, second] = halves(plane);
  auto scratch = std::make_shared<Scratch>(static_cast<std::size_t>(span_elements(plane) * element_bytes_));
  first.out = second.in = scratch->data();
  for (Work::Places& places : first.places) places.out_stride_bytes = 0;
  for (Work::Places& places : second.places) places.in_stride_bytes = 0;
  PassPtr to_scratch = choose(first);
  return by_way_of(std::move(scratch), std::move(to_scratch), choose(second));
}

PassPtr SplitPlanner::plan_split(const Work& work, std::size_t leaves_at) {
  auto [first, second] = halves(work);
  if (leaves_at == 0)
    second = within_out(second);
  else
    first = within_in(first);
  std::vector<PassPtr> passes;
  passes.push_back(choose(first));
  passes.push_back(choose(second));
  return in_sequence(std::move(passes), leaves_at);
}

void SplitPlanner::add_copies(std::vector<Candidate>& list, const Work& work) {
  if (!dense_elements(work)) return;
  list.push_back({"copy", [this, work] { return plan_copy(work); }});
  if (work.batch.empty()) return;
  Work inner = work;
  inner.batch.pop_back();
  if (dense_elements(inner))
    list.push_back({"copy-by-plane", [this, work] {
                      return over_outermost(work, [this](const Work& plane) { return plan_copy(plane); });
                    }});
}

PassPtr SplitPlanner::plan_copy(const Work& work) {
  std::vector<PassPtr> passes;
  passes.push_back(copied(static_cast<std::size_t>(*dense_elements(work) * element_bytes_)));
  passes.push_back(choose(within_out(work)));
  return in_sequence(std::move(passes), 0);
}

PassPtr SplitPlanner::over_outermost(const Work& work, const Body& body) const {
  Work inner = work;
  const Loop outer = inner.batch.back();
  inner.batch.pop_back();
  const Index stride_bytes = outer.in_stride * element_bytes_;
  inner.places.push_back({outer.count, stride_bytes, stride_bytes});
  inner.any_alignment = inner.any_alignment || !library_.same_alignment(work.in, stride_bytes) ||
                        !library_.same_alignment(work.out, stride_bytes);
  return repeated(outer.count, stride_bytes, stride_bytes, body(inner));
}

double SplitPlanner::remaining_s() const { return std::chrono::duration<double>(deadline_ - Clock::now()).count(); }

std::string SplitPlanner::key(const Work& work) const {
  std::string text = spec_.precision == Precision::double_precision ? "double" : "single";
  text += fmt::format(" {} threads={}", to_string(spec_.effort), spec_.threads);
  text += work.in == work.out ? " in-place" : " out-of-place";
  if (work.any_alignment) text += " any-alignment";
  if (work.real_length > 0)
    text += fmt::format(" {}-{}", spec_.direction == Direction::forward ? "r2c" : "c2r", work.real_length);
  for (const auto* loops : {&work.axes, &work.batch}) {
    text += loops == &work.axes ? " axes" : " batch";
    for (const Loop& loop : *loops) text += fmt::format(" {}:{}", loop.count, loop.in_stride);
  }
  for (const Work::Places& places : work.places)
    text += fmt::format(" places {}:{}:{}", places.count, places.in_stride_bytes / element_bytes_,
                        places.out_stride_bytes / element_bytes_);
  return text;
}

}  // namespace fourscore::local
