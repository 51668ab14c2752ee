#pragma once
// The instruction sets that `tiled` is compiled for. Comes before any of Highway's headers, some of which do not
// compile for a processor whose best set is one that Highway leaves out itself.

// Left out: vectors of a length that only the processor knows, because an array of them is not C++; what is better than
// AVX-512, of which only the first instructions are used; and AVX-512 where the whole build has none.
#ifdef FOURSCORE_WITHOUT_AVX512
#define FOURSCORE_BEST_TARGET HWY_AVX2  // what is better has a lower bit
#else
#define FOURSCORE_BEST_TARGET HWY_AVX3
#endif
#define HWY_DISABLED_TARGETS                                                                                        \
  ((FOURSCORE_BEST_TARGET - 1) | HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | HWY_WASM | \
   HWY_WASM_EMU256)
