#pragma once
// How the file of a program tells that fourscore's harness measures in it.

namespace fourscore {

/// Stands in every program with the harness's main(): fft_bench, also one's own, and the programs of components.
/// `fourscore run` looks for it in the file, and takes the word of no program for it.
inline constexpr char harness_mark[] =
    "fourscore-harness: this program samples, verifies and flags by fourscore's own code";

}  // namespace fourscore
