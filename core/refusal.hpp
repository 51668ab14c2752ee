#pragma once
// Why a point is not measured: what every door between a point and its measurement answers in the same way.

#include <optional>
#include <string>
#include <utility>

#include "core/errors.hpp"

namespace fourscore {

/// What a door says: nothing where it is open, else why it is closed. Only unavailable(), which lists print of each
/// entry, is a text, empty where the entry can be used.
using Reason = std::optional<std::string>;

/// Nothing where the point may be measured, else the first door that is closed. Such a point is skipped and not failed.
struct Refusal {
  enum class Kind {
    absent,       ///< an entry cannot run on this machine or in this build
    unsupported,  ///< the method cannot solve this problem on so many ranks
    misfit,       ///< the process grid has not as many places as there are ranks
    placement,    ///< not with the MPI or on the nodes of this launch
    memory,       ///< the memory does not suffice
  };
  Kind kind = Kind::unsupported;
  std::string key;  ///< the point's key that is to blame: "variant", "grid"
  std::string reason;
};

/// A point that cannot be used, and which of its keys is to blame: "variant", "grid", "parameters.NAME"; of a
/// component, which of its parameters: "NAME".
struct PointError : InputError {
  PointError(std::string of, const std::string& message) : InputError(message), key(std::move(of)) {}
  std::string key;
};

}  // namespace fourscore
