#pragma once
// The one place where a record that fourscore's harness did not write itself enters an archive: its flags follow from
// facts, and what its program says of itself stands beside them.

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/flags.hpp"

namespace fourscore {

/// Whether the record has something that a flag could make doubtful.
[[nodiscard]] bool has_times(const nlohmann::json& record);

/// Cores that other processes kept busy while "counters" were read, on the node where they were most; 0 where nobody
/// looked.
[[nodiscard]] double other_cores(const nlohmann::json& counters);

/// The facts of a record, whatever flags it has: from its raw samples and its provenance, its per-rank values in place.
/// What it does not say is unknown, and no flag follows from it. It says less of a node than a program sees there
/// (units and not cores, all caches and not those beside its ranks): the facts are such that every flag that follows
/// does hold. Throws json::exception for what is not of the schema.
[[nodiscard]] FlagFacts facts_of(const nlohmann::json& record);

/// validity_flags() of these facts, and those that the record has beside them; in the order of the table.
[[nodiscard]] std::vector<std::string> entry_flags(const nlohmann::json& record, const FlagFacts& facts);

/// "verified_by" of a record with times: the harness where one is known to have made it, else whoever checked the
/// results by its own word.
[[nodiscard]] std::string_view verifier_of(const nlohmann::json& record, bool of_harness);

/// What `fourscore run` sees itself of the launch of a program that is not of its harness.
struct SeenLaunch {
  nlohmann::json point;       ///< that was asked for
  nlohmann::json campaign;    ///< which launch this is
  nlohmann::json provenance;  ///< machine and code as the program told before, launcher, start
  nlohmann::json machine;     ///< Topology::identity() here
  int cores = 1;              ///< cores of a node that a launch may use
  double wall_s = 0;          ///< from its start to its end
};

/// The record of such a launch: point, campaign, provenance and flags as seen, and under "program_said" what the
/// program said instead. Throws InputError where it cannot be of this launch: another point, or more time than there
/// was.
[[nodiscard]] nlohmann::json foreign_record(nlohmann::json said, const SeenLaunch& seen);

}  // namespace fourscore
