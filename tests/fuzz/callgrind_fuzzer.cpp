// The reader of Callgrind's dumps: counts, or a CounterError.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "hwcounters/callgrind_dump.hpp"
#include "hwcounters/counter.hpp"

// libFuzzer's name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {  // NOLINT(readability-identifier-naming)
  using namespace fourscore;
  try {
    for (const CallgrindDump& dump : parse_callgrind_dumps({reinterpret_cast<const char*>(data), size}))
      if (dump.totals.empty()) __builtin_trap();  // promised to be refused
  } catch (const CounterError&) {
    return 0;
  }
  return 0;
}
