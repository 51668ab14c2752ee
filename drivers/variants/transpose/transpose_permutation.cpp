// The local pass of the transpose method between contiguous blocks in natural order and the order in which an exchange
// deals them.

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "redistribution/exchange_blocks.hpp"
#include "variants/transpose/transpose_steps.hpp"

namespace fourscore {

namespace {

/// Copies of three loops each: the fastest of either side and the longest other one; a copy for each place of the rest.
void add_copies(CopySteps& copies, const DealtBox& box, bool from_natural, std::size_t element_bytes,
                const std::byte* from, std::byte* to) {
  struct Copied {
    Index count;
    Index from;
    Index to;
  };
  std::vector<Copied> loops;
  for (const DealtLoop& loop : box.loops)
    loops.push_back(from_natural ? Copied{loop.count, loop.natural, loop.dealt}
                                 : Copied{loop.count, loop.dealt, loop.natural});
  std::ranges::sort(loops, {}, &Copied::from);
  std::ranges::sort(loops.begin() + 1, loops.end(), {}, &Copied::to);
  std::ranges::sort(loops.begin() + 2, loops.end(), std::greater{}, &Copied::count);
  loops.resize(std::max<std::size_t>(loops.size(), 3), {1, 1, 1});
  Extents extents{};
  Extents from_strides{};
  Extents to_strides{};
  Index places = 1;
  for (std::size_t i = 0; i < loops.size(); ++i) {
    if (i >= 3) {
      places *= loops[i].count;
      continue;
    }
    extents[i] = loops[i].count;
    from_strides[i] = loops[i].from;
    to_strides[i] = loops[i].to;
  }
  const auto bytes = static_cast<Index>(element_bytes);
  const Stores stores = stores_for(static_cast<std::size_t>(places * extents[0] * extents[1] * extents[2] * bytes));
  const CopyPlan plan(extents, from_strides, to_strides, element_bytes, stores);
  for (Index place = 0; place < places; ++place) {
    Index read = from_natural ? box.natural_offset : box.dealt_offset;
    Index write = from_natural ? box.dealt_offset : box.natural_offset;
    Index rest = place;
    for (std::size_t i = 3; i < loops.size(); ++i) {
      read += rest % loops[i].count * loops[i].from;
      write += rest % loops[i].count * loops[i].to;
      rest /= loops[i].count;
    }
    copies.push_back({plan, from + read * bytes, to + write * bytes});
  }
}

class Permutation : public TransposeStep {
 public:
  Permutation(Phase phase, CopySteps copies) : phase_(phase), copies_(std::move(copies)) {}
  void run(PhaseClock& clock) override {
    const Region region(clock, phase_);
    copy();
  }
  void add_components(std::vector<Component>& list, int number) override {
    list.push_back({fmt::format("permute-{}", number), phase_, [this] { copy(); }, 2 * copies_.bytes()});
  }
  [[nodiscard]] Sort sort() const override { return Sort::permutation; }
  [[nodiscard]] bool lands_in_source() const override { return false; }

 private:
  void copy() const { copies_.run(); }
  Phase phase_;
  CopySteps copies_;
};

}  // namespace

std::unique_ptr<TransposeStep> permutation(const std::vector<DealtBox>& boxes, bool from_natural,
                                           std::size_t element_bytes, const Buffer& from, const Buffer& to) {
  CopySteps copies;
  for (const DealtBox& box : boxes)
    add_copies(copies, box, from_natural, element_bytes, static_cast<const std::byte*>(from.data()),
               static_cast<std::byte*>(to.data()));
  return std::make_unique<Permutation>(from_natural ? Phase::pack : Phase::unpack, std::move(copies));
}

}  // namespace fourscore
