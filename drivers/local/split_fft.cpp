#include "local/split_fft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

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

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Fastest first; a loop that continues the one before is merged into it.
std::vector<Loop> merged(std::vector<Loop> loops) {
  std::erase_if(loops, [](const Loop& loop) { return loop.count == 1; });
  std::ranges::stable_sort(loops, {}, &Loop::in_stride);
  std::vector<Loop> result;
  for (const Loop& loop : loops) {
    if (!result.empty() && loop.in_stride == result.back().in_stride * result.back().count)
      result.back().count *= loop.count;
    else
      result.push_back(loop);
  }
  return result;
}

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

double budget_s(const LocalFftSpec& spec) {
  if (spec.effort == Effort::patient) return patient_budget_s;
  double bytes = spec.precision == Precision::double_precision ? 16 : 8;
  for (const auto* loops : {&spec.axes, &spec.batch})
    for (const Loop& loop : *loops) bytes *= static_cast<double>(loop.count);
  return std::clamp(measure_budget_s_per_byte * bytes, measure_budget_s, most_measure_budget_s);
}

/// Seconds of one run, the best of several; gives up early on what is far slower than `best_s`.
double time_of(const Pass& pass, const Work& work, double best_s) {
  double shortest_s = std::numeric_limits<double>::infinity();
  double spent_s = 0;
  for (int run = 0; run < 3 || (spent_s < 0.005 && run < 50); ++run) {
    const auto start = Clock::now();
    pass.run(work.in, work.out);
    const double run_s = seconds_since(start);
    shortest_s = std::min(shortest_s, run_s);
    spent_s += run_s;
    if (run > 0 && shortest_s > 1.5 * best_s) break;
  }
  return shortest_s;
}

}  // namespace

SplitPlanner::SplitPlanner(const LocalFftSpec& spec, const PassPlanner& library, Decisions& decisions)
    : spec_(spec),
      library_(library),
      decisions_(decisions),
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
  if (spec_.effort != Effort::estimate) {
    const auto bytes = static_cast<std::size_t>(span_elements(work) * element_bytes_);
    std::memset(in, 0, bytes);  // no trap values or denormals under the clock, and every page is there
    if (out != in) std::memset(out, 0, bytes);
  }
  return choose(work);
}

/// The first candidate is the one taken without timing.
PassPtr SplitPlanner::choose(const Work& work) {
  std::vector<Candidate> list = candidates(work);
  if (list.size() == 1 || spec_.effort == Effort::estimate) return list.front().plan();
  const std::string name = key(work);
  if (const auto decided = decisions_.find(name); decided != decisions_.end()) {
    const auto same = std::ranges::find(list, decided->second, &Candidate::name);
    if (same != list.end()) return same->plan();
  }
  return fastest(work, list, decisions_[name]);
}

/// The two that were fastest meet again, in turns: a disturbance during the one short timing must not decide.
PassPtr SplitPlanner::fastest(const Work& work, std::vector<Candidate>& list, std::string& name) const {
  struct Timed {
    PassPtr pass{};
    double time_s = std::numeric_limits<double>::infinity();
    std::string name{};
  };
  Timed best;
  Timed second;
  for (const Candidate& candidate : list) {
    if (best.pass && remaining_s() <= 0) break;
    Timed timed{candidate.plan(), 0, candidate.name};
    timed.time_s = time_of(*timed.pass, work, best.time_s);
    if (timed.time_s < best.time_s) std::swap(timed, best);
    if (timed.time_s < second.time_s) std::swap(timed, second);
  }
  constexpr double near = 1.15;
  if (second.pass && second.time_s < near * best.time_s)
    for (int turn = 0; turn < 2 && remaining_s() > 0.5 * budget_s(spec_); ++turn)
      for (Timed* timed : {&second, &best})
        timed->time_s = std::min(timed->time_s, time_of(*timed->pass, work, near * best.time_s));
  if (second.time_s < best.time_s) std::swap(best, second);
  name = best.name;
  return std::move(best.pass);
}

std::vector<SplitPlanner::Candidate> SplitPlanner::candidates(const Work& work) {
  std::vector<Candidate> list;
  if (work.axes.size() > 1)
    add_splits(list, work);
  else
    add_buffered(list, work);
  const bool direct_first = spec_.threads > 1;
  list.push_back(
      {"direct", [this, work, direct_first] { return direct_first ? plan_beside(work) : plan_within(work); }});
  if (direct_first) std::rotate(list.begin(), list.end() - 1, list.end());
  // FFTW's own planes are the better guess where nothing is timed.
  if (!direct_first && work.axes.size() == 2 && spec_.effort == Effort::estimate)
    std::rotate(list.begin(), list.end() - 1, list.end());
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
  for (const Index width_bytes : {256, 128, 512}) {
    const Index width = width_bytes / element_bytes_;
    if (width > columns) continue;
    const std::string name = fmt::format("buffered-{}", width_bytes);
    if (work.in != work.out && columns % width == 0)
      list.push_back({name + "-streamed", [this, work, width] { return plan_buffered(work, width, true); }});
    list.push_back({name, [this, work, width] { return plan_buffered(work, width, false); }});
  }
}

PassPtr SplitPlanner::plan_buffered(const Work& work, Index width, bool streaming) const {
  const Loop& axis = work.axes.front();
  const std::vector<Loop> batch = merged(work.batch);
  const Index columns = batch.front().count;
  auto scratch = std::make_shared<Scratch>(static_cast<std::size_t>(axis.count * width * element_bytes_));
  const auto plan_block = [&](Index block_width) {
    Work block{
        {{axis.count, block_width, block_width}}, {{block_width, 1, 1}}, scratch->data(), scratch->data(), false, 0};
    return plan_within(block);
  };
  const Index rest = columns % width;
  PassPtr pass =
      buffered({axis.count, axis.in_stride * element_bytes_, width * element_bytes_}, columns / width,
               plan_block(width), rest * element_bytes_, rest > 0 ? plan_block(rest) : nullptr, scratch, streaming);
  for (std::size_t i = 1; i < batch.size(); ++i)
    pass = repeated(batch[i].count, batch[i].in_stride * element_bytes_, std::move(pass));
  return pass;
}

/// Two axes: both passes over one plane after another, or each over everything. Three axes: planes, then the slowest.
void SplitPlanner::add_splits(std::vector<Candidate>& list, const Work& work) {
  const std::vector<std::size_t> leaving =
      work.in == work.out ? std::vector<std::size_t>{0} : std::vector<std::size_t>{1, 0};
  for (const std::size_t leaves_at : leaving) {
    const std::string suffix = work.in == work.out ? "" : fmt::format("-leave-{}", leaves_at);
    if (work.axes.size() == 2 && !work.batch.empty() && work.batch.back().in_stride > work.axes.back().in_stride)
      list.push_back({"by-plane" + suffix, [this, work, leaves_at] {
                        return over_outermost(work, [&](const Work& plane) { return plan_split(plane, leaves_at); });
                      }});
    list.push_back({"by-axis" + suffix, [this, work, leaves_at] { return plan_split(work, leaves_at); }});
  }
}

PassPtr SplitPlanner::plan_split(const Work& work, std::size_t leaves_at) {
  const std::size_t axes = work.axes.size();
  Work first = with_axes(work, 0, axes - 1);
  Work second = with_axes(work, axes - 1, axes);
  // Real data is made complex before anything else, and real again after all else.
  if (work.real_length > 0 && spec_.direction == Direction::backward) std::swap(first, second);
  if (leaves_at == 0)
    second.in = second.out;
  else
    first.out = first.in;
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
  Work in_place = work;
  in_place.in = in_place.out;
  std::vector<PassPtr> passes;
  passes.push_back(copied(static_cast<std::size_t>(*dense_elements(work) * element_bytes_)));
  passes.push_back(choose(in_place));
  return in_sequence(std::move(passes), 0);
}

PassPtr SplitPlanner::over_outermost(const Work& work, const Body& body) const {
  Work inner = work;
  const Loop outer = inner.batch.back();
  inner.batch.pop_back();
  const Index stride_bytes = outer.in_stride * element_bytes_;
  inner.any_alignment = inner.any_alignment || !library_.same_alignment(work.in, stride_bytes) ||
                        !library_.same_alignment(work.out, stride_bytes);
  return repeated(outer.count, stride_bytes, body(inner));
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
  return text;
}

}  // namespace fourscore::local
