#pragma once
// What a rank computes beside its transforms, as programs do between and during them (lee2018, section 3.3.5 and
// chapter 5). No MPI here.

#include <cstdint>
#include <string>
#include <string_view>

namespace fourscore {

/// compute: on registers alone. memory: a stream over an array that no cache holds.
enum class WorkLoad { compute, memory };  // "compute", "memory"
/// between: an equal part after each transform of the rank, of each direction and instance. during: in slices while
/// messages of a plan are under way, and what is left of it after the last transform.
enum class WorkPlace { between, during };  // "between", "during"

struct WorkBeside {
  std::int64_t time_ns = 0;  ///< a rank and run, where nothing else runs; 0: none
  WorkLoad load = WorkLoad::compute;
  WorkPlace place = WorkPlace::between;
  [[nodiscard]] bool any() const { return time_ns > 0; }
  [[nodiscard]] double seconds() const { return 1e-9 * static_cast<double>(time_ns); }
  bool operator==(const WorkBeside&) const = default;
};

/// "none", or a time from 1us to 100s with its unit, as 2ms: nanoseconds. Throws InputError naming `what`.
[[nodiscard]] std::int64_t parse_work_time(std::string_view text, std::string_view what = "other_work");
/// "2ms": by the largest unit of s, ms, us and ns that leaves a whole number. Empty for none.
[[nodiscard]] std::string work_time_text(std::int64_t time_ns);

}  // namespace fourscore
