#pragma once
// Environment variables that a record keeps: those that change what is measured, by name, and no others.

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace fourscore {

/// Whether a variable of this name is kept. Any other may hold a secret, and records are made to be passed on.
[[nodiscard]] bool is_kept_variable(std::string_view name);

/// The value as it is kept: all before an @ is ***, since in an address (https://USER:PASSWORD@HOST) that is a secret.
[[nodiscard]] std::string kept_value(std::string_view value);

/// The variables of this process, by name.
[[nodiscard]] nlohmann::json environment_that_matters();

}  // namespace fourscore
