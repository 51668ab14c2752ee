#pragma once
// Errors that every part tells in the same way.

#include <stdexcept>

namespace fourscore {

/// What the user asked for cannot be used; the message says what was wrong and what is expected. Ends in exit code 2.
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace fourscore
