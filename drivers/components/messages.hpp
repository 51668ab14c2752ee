#pragma once
// What the programs that time messages share: their sizes, and contents by which every received element is known.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "components/component_parameters.hpp"

namespace fourscore::component {

/// Sizes in bytes as Parameters::sizes(), or a range as "8..64MiB": the first, four times that, and so on below the
/// last, and the last. Throws a ParameterError naming the parameter; also for what is no multiple of `multiple_of`.
[[nodiscard]] std::vector<Index> message_sizes(const Parameters& parameters, const std::string& name,
                                               Index multiple_of);

/// The largest message that the programs send: counts stay within MPI's int.
inline constexpr Index largest_message = Index{1} << 30;

/// What word number `word` of the message from one rank to another holds.
[[nodiscard]] std::uint64_t message_word(int from, int to, Index word);

/// Fills with the message from one rank to another; bytes after the last whole word are its first ones.
void write_message(std::span<std::byte> message, int from, int to);
/// Bytes that differ from it.
[[nodiscard]] Index wrong_bytes(std::span<const std::byte> message, int from, int to);
/// Fills with what no message of this pair holds.
void spoil(std::span<std::byte> message, int from, int to);

}  // namespace fourscore::component
