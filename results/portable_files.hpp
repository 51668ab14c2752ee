#pragma once
// What of an archive travels: records and what explains them. Locks, staging, the jobs of a campaign and the index
// belong to the place where the archive is.

#include <optional>
#include <string>
#include <vector>

#include "results/archive.hpp"

namespace fourscore {

struct PortableFile {
  enum class Role {
    record,
    columns,   ///< the per-rank values of a record (results/rank_columns.hpp)
    document,  ///< written once: a campaign, its suite, a comparison
    latest,    ///< the newest of its kind: plans of the local FFT libraries, a qualification, the rates of a gate
    origins,   ///< which archives were merged into this one (results/merge.hpp)
  };
  std::string name;  ///< relative to the archive, with forward slashes
  Role role = Role::record;
};

/// The role of a file of this name; nothing for one that does not travel, and so for every name that would lead
/// elsewhere.
[[nodiscard]] std::optional<PortableFile::Role> role_of(const std::string& name);

/// Sorted by name, what has a role. Throws ArchiveError for a folder that cannot be listed.
[[nodiscard]] std::vector<PortableFile> portable_files(const Archive& archive);

}  // namespace fourscore
