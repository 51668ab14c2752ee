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

/// A campaign that lacks records of its schedule, none of which was seen before: not measured yet.
struct Unfinished {
  std::string campaign;
  std::size_t missing = 0;
  std::size_t of = 0;
};

struct VerifyResult {
  std::size_t records = 0;
  std::size_t without_digest = 0;  ///< written before records had one: a change of a value in them cannot be noticed
  std::vector<Finding> findings;
  std::vector<Unfinished> unfinished;
};

/// What is wrong with one record, given the folder and name it is stored under; empty when nothing is.
[[nodiscard]] std::vector<std::string> problems_of(const nlohmann::json& record, const std::filesystem::path& file);

/// Checks every record of the campaigns, of all when none is named: its digest, its content and its name, that its
/// record_id is its own, and that each campaign has no record beside its schedule and has lost none that the index
/// knows.
[[nodiscard]] VerifyResult verify(const Archive& archive, const std::vector<std::string>& campaigns = {});

}  // namespace fourscore
