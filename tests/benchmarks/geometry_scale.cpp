// The geometry that one rank of an imaginary machine computes to know its exchanges: for each variant, on p ranks,
// the layouts of a transform and its partners in each redistribution. No MPI is called.
//
// Usage: geometry_scale RANKS...    as in geometry_scale 16384 131072

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "interfaces/variant.hpp"

namespace {

std::size_t heap_in_use = 0;
std::size_t heap_peak = 0;

void give_back(void* block) {
  heap_in_use -= malloc_usable_size(block);
  std::free(block);
}

}  // namespace

void* operator new(std::size_t bytes) {
  void* block = std::malloc(bytes);
  if (block == nullptr) throw std::bad_alloc();
  heap_in_use += malloc_usable_size(block);
  heap_peak = std::max(heap_peak, heap_in_use);
  return block;
}
void operator delete(void* block) noexcept { give_back(block); }
void operator delete(void* block, std::size_t /*bytes*/) noexcept { give_back(block); }

namespace {

using namespace fourscore;

/// 2^40 elements, of as many extents as the variant takes, from three on downwards. Nothing where it cannot run.
std::vector<Problem> problem_for(const Variant& variant, int ranks) {
  for (const std::vector<Index>& shape :
       {std::vector<Index>{Index{1} << 14, Index{1} << 13, Index{1} << 13},
        std::vector<Index>{Index{1} << 20, Index{1} << 20}, std::vector<Index>{Index{1} << 40}}) {
    Problem problem;
    problem.shape = shape;
    if (!variant.supports(problem, ranks)) return {problem};
  }
  return {};
}

struct Found {
  std::size_t redistributions = 0;
  std::size_t receivers = 0;  ///< over all redistributions
  double bytes = 0;           ///< sent
};

Found look(const Variant& variant, const Problem& problem, int ranks, int rank) {
  Found found;
  for (const RedistributionGroup& group : variant.redistributions(problem, ranks, rank)) {
    ++found.redistributions;
    for (const Box& held : group.from.boxes(group.member))
      for (const Overlap& part : group.to.overlaps(held)) {
        if (part.rank == group.member) continue;
        ++found.receivers;
        found.bytes += static_cast<double>(part.box.volume()) * static_cast<double>(problem.element_bytes());
      }
    for (const Box& held : group.to.boxes(group.member)) (void)group.from.overlaps(held);  // from whom something comes
  }
  return found;
}

void report(int ranks) {
  for (const std::string& name : VariantRegistry::instance().names()) {
    const Variant& variant = *VariantRegistry::instance().find(name);
    if (!variant.unavailable().empty()) continue;
    for (const Problem& problem : problem_for(variant, ranks)) {
      const std::size_t heap_before = heap_peak = heap_in_use;
      const auto begin = std::chrono::steady_clock::now();
      const Found found = look(variant, problem, ranks, ranks / 2);
      const double time_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      fmt::print("| {} | {} | {} | {} | {} | {:.3g} | {:.2g} | {:.2g} |\n", ranks, name, shape_text(problem.shape),
                 found.redistributions, found.receivers, found.bytes / 0x1p20, time_s,
                 static_cast<double>(heap_peak - heap_before) / 0x1p20);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  fmt::print("| ranks | variant | shape | redistributions | receivers | sent_mib | time_s | heap_mib |\n");
  fmt::print("|---|---|---|---|---|---|---|---|\n");
  for (int i = 1; i < argc; ++i) {
    const int ranks = std::atoi(argv[i]);
    if (ranks < 1) {
      fmt::print(stderr, "geometry_scale: '{}' is no number of ranks; expected as in geometry_scale 16384\n", argv[i]);
      return 2;
    }
    report(ranks);
  }
}
