#pragma once
// Reading the options that are a variant's own (Problem::parameters). No MPI here.

#include <string>
#include <string_view>
#include <vector>

#include "core/problem.hpp"

namespace fourscore {

/// An option that a variant or an exchange reads from Problem::parameters.
struct Parameter {
  std::string name;
  std::vector<std::string> samples;  ///< values that tests try; the entry says or throws where one does not fit
};
[[nodiscard]] std::vector<std::string> names_of(const std::vector<Parameter>& parameters);

/// The whole number that the problem gives for `name`, or `fallback` where it gives none. Throws InputError naming the
/// parameter, its value and what is allowed, unless it is in [least, most].
[[nodiscard]] Index integer_parameter(const Problem& problem, std::string_view name, Index fallback, Index least,
                                      Index most);

/// One of `choices`, the first of which is taken where the problem gives none. Throws InputError naming the parameter,
/// its value and the choices.
[[nodiscard]] std::string choice_parameter(const Problem& problem, std::string_view name,
                                           const std::vector<std::string>& choices);

}  // namespace fourscore
