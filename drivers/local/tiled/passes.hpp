#pragma once
// Passes over one axis by tiles of neighbouring lines.

#include <memory>
#include <vector>

#include "interfaces/local_fft.hpp"
#include "local/split_fft.hpp"

namespace fourscore::local::tiled {

/// The ways to do this work by tiles, best guess first. None for several axes at once, for an odd number of reals, and
/// for a length that has no line_plan().
[[nodiscard]] std::vector<Candidate> candidates_of(const Work& work, const LocalFftSpec& spec);

/// As LocalFftLibrary::make_from_parts(). Null for what candidates_of() has nothing for, and for threads.
[[nodiscard]] std::unique_ptr<LocalFft> fft_of_parts(const LocalFftSpec& spec, const std::vector<AxisPart>& parts,
                                                     void* out);

/// Whether a pass can have several threads: those of OpenMP.
[[nodiscard]] bool has_threads();

}  // namespace fourscore::local::tiled
