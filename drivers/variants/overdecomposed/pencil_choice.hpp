#pragma once
// The pencils into which the states of an over-decomposed transform are cut, and the ranks that get them. Calls no MPI.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/grid.hpp"
#include "core/problem.hpp"
#include "variants/overdecomposed/pencil_objects.hpp"

namespace fourscore {

/// How many pieces the first and the second axis of a state's cut have.
using Cuts = std::array<Index, 2>;

struct PencilChoice {
  Cuts cuts{1, 1};
  int ranks = 1;
  std::optional<Grid> grid;     ///< a grid of ranks, when each gets the pencils of one box
  Dealing dealing{};            ///< when pencils are dealt by their linear numbers
  bool x_in_slabs = false;      ///< the state with whole x-lines is cut along z only
  bool local_messages = false;  ///< between pencils of one rank as well
};

/// Whether a problem's pencils are dealt by their linear numbers: then there is no grid of ranks. Throws InputError for
/// an unknown word.
[[nodiscard]] bool deals_linear_numbers(const Problem& problem);

/// Nothing where what the problem asks for does not fit. Throws InputError for parameters that cannot be read or that
/// exclude each other, or a grid of another number of ranks.
[[nodiscard]] std::optional<PencilChoice> choose_pencils(const Problem& problem, int ranks);
/// Why there is no choice.
[[nodiscard]] std::string reason_against_pencils(const Problem& problem, int ranks);

/// The states of the problem's transform from its input to its output (lee2018, Figure 2.1: Z, Y and X).
[[nodiscard]] std::vector<PencilState> pencil_states(const Problem& problem, const PencilChoice& choice);

/// How many slabs the X state has.
[[nodiscard]] Index slabs_of(const Problem& problem, const PencilChoice& choice);

/// Pairs of pencils of two states that share elements, and of them those of different ranks.
struct PencilPairs {
  double all = 0;
  double apart = 0;
  double bytes_apart = 0;
};
[[nodiscard]] PencilPairs pairs_between(const PencilState& from, const PencilState& to, std::size_t element_bytes);

}  // namespace fourscore
