#pragma once
// Is what the archive holds what it should hold?

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "results/archive.hpp"

namespace fourscore {

struct Finding {
  std::string file;     ///< relative to the archive
  std::string problem;  ///< one sentence
};

struct VerifyResult {
  std::size_t records = 0;
  std::vector<Finding> findings;
};

/// What is wrong with one record, given the folder and name it is stored under; empty when nothing is.
[[nodiscard]] std::vector<std::string> problems_of(const nlohmann::json& record, const std::filesystem::path& file);

/// Checks every record of the campaigns, of all when none is named.
[[nodiscard]] VerifyResult verify(const Archive& archive, const std::vector<std::string>& campaigns = {});

}  // namespace fourscore
