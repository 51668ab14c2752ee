#pragma once
// How much of the C library's heap is in use, by whomever: MPI and FFTW too.

#include <malloc.h>

#include <cstddef>
#include <vector>

namespace fourscore::testing_support {

inline std::size_t heap_bytes() {
  const auto state = mallinfo2();
  return state.uordblks + state.hblkhd;
}

/// Address sanitizers bring a heap of their own.
inline bool heap_is_seen() {
  const std::size_t before = heap_bytes();
  const std::vector<char> block(1 << 20, 'x');
  return heap_bytes() >= before + block.size();
}

}  // namespace fourscore::testing_support
