#pragma once
// What a core computes at most: multiplications and additions in registers, of which the efficiency of a local
// transform is a share.

#include <cstddef>
#include <cstdint>

namespace fourscore::component {

/// Chains of multiply-adds that wait for nobody: more than an addition takes cycles, times the units of any processor
/// there is, and fewer than its registers.
inline constexpr std::size_t multiply_add_chains = 12;
/// In a pass over each chain; even, so that x -> 3 - x gives x back.
inline constexpr std::int64_t multiply_add_steps = 1024;

/// Numbers in a vector of this build.
template <class Real>
[[nodiscard]] std::size_t multiply_add_lanes();

/// x[i] = x[i] * factor + addend, multiply_add_steps times, for multiply_add_chains * multiply_add_lanes() numbers that
/// are aligned to a cache line: two flops a number and step.
template <class Real>
void multiply_add_all(Real* x, Real factor, Real addend);

}  // namespace fourscore::component
