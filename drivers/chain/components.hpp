#pragma once
// The components that local transforms and exchanges are.

#include <functional>
#include <vector>

#include "interfaces/plan.hpp"

namespace fourscore {

/// Adds "fft-2", or each of the transform's parts by the same number. `min_bytes`: of the transform itself.
void add_transform(std::vector<Component>& list, LocalFft& fft, int number, Index min_bytes);

/// The copies of an exchange that are components of a plan.
struct ExchangeCopies {
  bool packs = true;    ///< on some rank of the plan
  bool unpacks = true;  ///< on some rank of the plan
};
/// Collective over the ranks of the plan.
[[nodiscard]] ExchangeCopies copies_on_any_rank(const Exchange& exchange, MPI_Comm comm);

/// Adds "pack-1", "exchange-1" or its parts, "unpack-1". `min_bytes`: of the exchange itself. `between`: is run between
/// start() and finish(); null: nothing.
void add_exchange(std::vector<Component>& list, Exchange& exchange, const ExchangeCopies& copies, int number,
                  Index min_bytes, const std::function<void()>& between = nullptr);

}  // namespace fourscore
