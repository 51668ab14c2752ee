#pragma once
// An archive without what is private, to be passed on.

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "results/archive.hpp"

namespace fourscore {

/// What took the place of what: {"hosts", {"login03.cluster": "host-1"}}. Rules: hosts, users, paths, jobs, words.
using Removed = std::map<std::string, std::map<std::string, std::string>>;

struct ScrubResult {
  std::size_t records = 0;
  std::size_t changed = 0;  ///< records in which something was replaced
  Removed removed;
  std::vector<std::string> left_out;  ///< files of the archive that are not in the other, sorted
};

/// Writes what travels (results/portable_files.hpp) of the archive into `target`, which must not exist, with each text
/// scrubbed: names of hosts as host-1, host-2 ... over the whole archive; names of users, as the folder below /home or
/// /users, as user-1 ...; folders of paths, of which the file's name stays; ids of jobs; and each of `words`, which
/// the user knows to be private. Each changed record says so ("scrubbed"), with the digest that it had, and has a new
/// one. Plans, qualifications and rates are left out.
///
/// What a point or an identity is stays, since ids and hashes are made of it. Throws InputError where these hold
/// something private, naming each, and nothing is written; ArchiveError where reading or writing fails.
[[nodiscard]] ScrubResult scrub_archive(const Archive& archive, const Archive& target,
                                        const std::vector<std::string>& words);

}  // namespace fourscore
