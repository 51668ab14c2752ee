#pragma once
// Options of its own that an entry has, and reading those of variants and exchanges (Problem::parameters). No MPI here.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/problem.hpp"

namespace fourscore {

/// An option of its own that a variant, an exchange or a component program reads: NAME=VALUE.
struct Parameter {
  std::string name;
  std::string summary;                 ///< one line, with what free text may be
  std::string fallback;                ///< the text taken where none is given
  std::vector<std::string> values{};   ///< what is allowed; empty: free text
  bool many = false;                   ///< several of them, joined by commas, and "all"; of component programs only
  bool of_transforms = false;          ///< exchanges only: says what the transform after it does; else nobody reads it
  std::vector<std::string> samples{};  ///< free text that tests try; the entry says or throws where one does not fit
  bool takes_map = false;              ///< also "file:PATH", a map of pieces to ranks (core/rank_map.hpp)
};
/// Values to try: those allowed, or the samples of free text.
[[nodiscard]] const std::vector<std::string>& tried_values(const Parameter& parameter);
/// For lists: name, summary, default, many, and values where not all are allowed.
[[nodiscard]] nlohmann::json parameters_json(const std::vector<Parameter>& parameters);
[[nodiscard]] std::vector<std::string> names_of(const std::vector<Parameter>& parameters);

/// The whole number that the problem gives for `name`, or `fallback` where it gives none. Throws InputError naming the
/// parameter, its value and what is allowed, unless it is in [least, most].
[[nodiscard]] Index integer_parameter(const Problem& problem, std::string_view name, Index fallback, Index least,
                                      Index most);

/// One of `choices`, the first of which is taken where the problem gives none. Throws InputError naming the parameter,
/// its value and the choices.
[[nodiscard]] std::string choice_parameter(const Problem& problem, std::string_view name,
                                           const std::vector<std::string>& choices);

/// Bits of a number in messages of Wire::zfp.
[[nodiscard]] Parameter zfp_rate_parameter();
/// What the problem gives for it, or its default. Throws InputError.
[[nodiscard]] int zfp_rate_of(const Problem& problem);
/// Bytes of a message over those of the elements in it, as the problem's wire has them.
[[nodiscard]] double wire_share(const Problem& problem);

}  // namespace fourscore
