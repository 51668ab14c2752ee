#pragma once
// A record as one screen of text.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace fourscore::bench {

/// At most 100 columns. `warnings` are a line each; `record_path` is shown where it is not empty; `total_s` is the
/// program's whole run time.
[[nodiscard]] std::string summary(const nlohmann::json& record, const std::vector<std::string>& warnings,
                                  const std::string& record_path, double total_s);

/// "12.3 ms": three significant digits with a unit that fits.
[[nodiscard]] std::string seconds_text(double seconds);
[[nodiscard]] std::string bytes_text(double bytes);

}  // namespace fourscore::bench
