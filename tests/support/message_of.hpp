#pragma once
// What the error says with which a call ends.

#include <string>

#include "core/errors.hpp"

namespace fourscore::test {

/// "no error" where the call returns. Errors of other types pass.
template <class Error = InputError, class Call>
[[nodiscard]] std::string message_of(const Call& call) {
  try {
    (void)call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace fourscore::test
