#include "kernels/copy.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/copy_kernels.hpp"

namespace fourscore {

namespace {

std::size_t cache_bytes(int name) {
  const long size = sysconf(name);
  return size > 0 ? static_cast<std::size_t>(size) : 0;
}

/// What a core may expect to find again after a pass: its share of the last-level cache. No more than a quarter of it,
/// because a virtual machine shows a cache that it shares with others, of up to hundreds of MiB.
std::size_t share_of_caches_bytes() {
#if defined(_SC_LEVEL2_CACHE_SIZE) && defined(_SC_LEVEL3_CACHE_SIZE)
  const auto cores = static_cast<std::size_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  const std::size_t own = cache_bytes(_SC_LEVEL2_CACHE_SIZE);
  const std::size_t shared = cache_bytes(_SC_LEVEL3_CACHE_SIZE) / std::max<std::size_t>(cores, 4);
  if (const std::size_t larger = std::max(own, shared); larger > 0) return larger;
#endif
  return std::size_t{1} << 20;
}

}  // namespace

Stores stores_for(std::size_t bytes) {
  static const std::size_t limit = share_of_caches_bytes();
  // Source and destination are both passed over.
  return 2 * bytes > limit ? Stores::streaming : Stores::ordinary;
}

CopyPlan::CopyPlan(const Extents& extents, const Extents& from_strides, const Extents& to_strides,
                   std::size_t element_bytes, Stores stores)
    : streaming_(stores == Stores::streaming), element_bytes_(element_bytes) {
  if (element_bytes != 8 && element_bytes != 16)
    throw std::invalid_argument("element of " + std::to_string(element_bytes) + " bytes; expected 8 or 16");
  const auto size = static_cast<Index>(element_bytes);
  bytes_ = Box{{0, 0, 0}, extents}.volume() * size;
  if (bytes_ == 0) return;

  std::vector<Loop> loops;
  for (std::size_t a = 0; a < 3; ++a)
    if (extents[a] > 1) loops.push_back({extents[a], from_strides[a] * size, to_strides[a] * size});
  std::ranges::sort(loops, std::greater{}, &Loop::to);
  for (std::size_t i = 0; i + 1 < loops.size();) {
    const Loop& inner = loops[i + 1];
    if (loops[i].to == inner.count * inner.to && loops[i].from == inner.count * inner.from) {
      loops[i] = {loops[i].count * inner.count, inner.from, inner.to};
      loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      i = i == 0 ? 0 : i - 1;
    } else {
      ++i;
    }
  }
  preserves_order_ = std::ranges::is_sorted(loops, std::greater{}, &Loop::from);

  run_bytes_ = element_bytes;
  const auto read = std::ranges::find(loops, size, &Loop::from);
  const auto write = std::ranges::find(loops, size, &Loop::to);
  if (read != loops.end() && read == write) {
    run_bytes_ *= static_cast<std::size_t>(read->count);
    loops.erase(read);
  } else if (read != loops.end() && write != loops.end()) {
    shape_ = Shape::transposition;
    read_ = *read;
    write_ = *write;
    std::erase_if(loops, [size](const Loop& loop) { return loop.from == size || loop.to == size; });
  }
  // What is streamed may be written in any order; what is read comes faster where it follows on.
  if (streaming_ && shape_ == Shape::runs) std::ranges::stable_sort(loops, std::greater{}, &Loop::from);
  loops_ = static_cast<int>(loops.size());
  std::ranges::copy(loops, outer_.begin());
}

std::array<CopyPlan::Loop, 3> CopyPlan::loops() const {
  std::array<Loop, 3> all{};
  std::size_t used = 0;
  for (const Loop& loop : outer_)
    if (loop.count > 1) all[used++] = loop;
  if (shape_ == Shape::transposition)
    for (const Loop& loop : {read_, write_}) all[used++] = loop;
  std::ranges::stable_sort(all,
                           [](const Loop& a, const Loop& b) { return a.count > 1 && (b.count == 1 || a.to > b.to); });
  return all;
}

Index CopyPlan::runs() const { return outer_[0].count * outer_[1].count * outer_[2].count; }

std::array<Index, 2> CopyPlan::offsets_of_run(Index run) const {
  std::array<Index, 2> result{0, 0};
  for (std::size_t level = 3; level-- > 0;) {
    const Index i = run % outer_[level].count;
    run /= outer_[level].count;
    result[0] += i * outer_[level].from;
    result[1] += i * outer_[level].to;
  }
  return result;
}

template <bool streaming>
void CopyPlan::copy_runs(const std::byte* from, std::byte* to) const {
  // The loops lie left-aligned, so that the innermost used one is loops_ - 1; walking them from there keeps the
  // inner loop long.
  const Loop inner = loops_ == 0 ? Loop{} : outer_[static_cast<std::size_t>(loops_ - 1)];
  const Loop middle = loops_ < 2 ? Loop{} : outer_[static_cast<std::size_t>(loops_ - 2)];
  const Loop slow = loops_ < 3 ? Loop{} : outer_[0];
  for (Index i = 0; i < slow.count; ++i)
    for (Index j = 0; j < middle.count; ++j) {
      const std::byte* source = from + i * slow.from + j * middle.from;
      std::byte* destination = to + i * slow.to + j * middle.to;
      for (Index k = 0; k < inner.count; ++k, source += inner.from, destination += inner.to) {
        if constexpr (streaming)
          copy_kernels::stream_run(source, destination, run_bytes_);
        else
          copy_kernels::copy_run(source, destination, run_bytes_);
      }
    }
}

template <bool streaming>
void CopyPlan::transpose(const std::byte* from, std::byte* to) const {
  for (Index i = 0; i < outer_[0].count; ++i) {
    const std::byte* source = from + i * outer_[0].from;
    std::byte* destination = to + i * outer_[0].to;
    if (element_bytes_ == 16)
      copy_kernels::transpose<16, streaming>(source, write_.from, destination, read_.to, read_.count, write_.count);
    else
      copy_kernels::transpose<8, streaming>(source, write_.from, destination, read_.to, read_.count, write_.count);
  }
}

void CopyPlan::run(const void* from, void* to) const {
  if (bytes_ == 0) return;
  const auto* source = static_cast<const std::byte*>(from);
  auto* destination = static_cast<std::byte*>(to);
  const bool stream = streaming_ && copy_kernels::is_aligned(to, element_bytes_);
  if (shape_ == Shape::transposition)
    stream ? transpose<true>(source, destination) : transpose<false>(source, destination);
  else
    stream ? copy_runs<true>(source, destination) : copy_runs<false>(source, destination);
  if (stream) copy_kernels::fence_stores();
}

void CopyPlan::run_overlapping(const void* from, void* to) const {
  if (!preserves_order_) throw std::logic_error("elements cannot be put in another order within one array");
  if (bytes_ == 0) return;
  const auto* source = static_cast<const std::byte*>(from);
  auto* destination = static_cast<std::byte*>(to);
  const Index count = runs();
  // In both arrays the runs lie in the same order. So a run that moves down can only land on runs before it that
  // move down too, and the other way round for those that move up: each group in its own direction loses nothing.
  for (Index run = 0; run < count; ++run) {
    const auto [read, write] = offsets_of_run(run);
    if (destination + write < source + read) std::memmove(destination + write, source + read, run_bytes_);
  }
  for (Index run = count; run-- > 0;) {
    const auto [read, write] = offsets_of_run(run);
    if (destination + write > source + read) std::memmove(destination + write, source + read, run_bytes_);
  }
}

void copy_box(const void* from, const Extents& from_strides, void* to, const Extents& to_strides,
              const Extents& extents, std::size_t element_bytes) {
  const auto bytes = static_cast<std::size_t>(Box{{0, 0, 0}, extents}.volume()) * element_bytes;
  CopyPlan(extents, from_strides, to_strides, element_bytes, stores_for(bytes)).run(from, to);
}

}  // namespace fourscore
