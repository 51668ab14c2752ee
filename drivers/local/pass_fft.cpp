#include "local/pass_fft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace fourscore::local {

namespace {

bool any_loop(const LocalFftSpec& spec, bool (*test)(const Loop&)) {
  return std::ranges::any_of(spec.axes, test) || std::ranges::any_of(spec.batch, test);
}

}  // namespace

bool is_empty(const LocalFftSpec& spec) {
  return any_loop(spec, [](const Loop& loop) { return loop.count == 0; });
}

bool same_strides(const LocalFftSpec& spec) {
  return !any_loop(spec, [](const Loop& loop) { return loop.in_stride != loop.out_stride; });
}

double credited_flops_of(const LocalFftSpec& spec) {
  double points = 1;
  double transforms = 1;
  for (const Loop& loop : spec.axes) points *= static_cast<double>(loop.count);
  for (const Loop& loop : spec.batch) transforms *= static_cast<double>(loop.count);
  if (points * transforms == 0) return 0;
  if (spec.real_length == 0) return 5 * points * std::log2(points) * transforms;
  points *= static_cast<double>(spec.real_length) / static_cast<double>(spec.axes.front().count);
  return 2.5 * points * std::log2(points) * transforms;
}

std::vector<Loop> merged(std::vector<Loop> loops) {
  std::erase_if(loops, [](const Loop& loop) { return loop.count == 1; });
  std::ranges::stable_sort(loops, {}, &Loop::in_stride);
  std::vector<Loop> result;
  for (const Loop& loop : loops) {
    if (!result.empty() && loop.in_stride == result.back().in_stride * result.back().count &&
        loop.out_stride == result.back().out_stride * result.back().count)
      result.back().count *= loop.count;
    else
      result.push_back(loop);
  }
  return result;
}

std::string loops_text(const std::vector<Loop>& loops) {
  std::string text;
  for (const Loop& loop : loops) text += fmt::format(" {}:{}:{}", loop.count, loop.in_stride, loop.out_stride);
  return text;
}

PassFft::PassFft(PassPtr pass, void* in, void* out, double credited_flops)
    : pass_(std::move(pass)),
      in_(static_cast<std::byte*>(in)),
      out_(static_cast<std::byte*>(out)),
      credited_flops_(credited_flops) {}

void PassFft::execute_at(void* in, void* out) {
  if (pass_) pass_->run(static_cast<std::byte*>(in), static_cast<std::byte*>(out));
}

}  // namespace fourscore::local
