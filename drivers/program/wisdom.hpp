#pragma once
// Wisdom of a launch: plans of the local FFT library that are kept in a file from launch to launch.

#include <mpi.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "harness/agreement.hpp"
#include "interfaces/local_fft.hpp"

namespace fourscore::bench {

/// What plans depend on beside the library.
struct PlanPlace {
  std::string machine;
  std::string ranks_of_node;  ///< which share its memory
};

/// The section of one library on one machine in a file of wisdom (results/wisdom_file.hpp).
class Wisdom {
 public:
  /// Collective: rank 0 reads the file and all ranks import its section. `place` is read on rank 0. A
  /// section that is damaged, or that the library does not accept, is ignored. A file that is none of wisdom, or that
  /// cannot be read or written, is an InputError of the agreement.
  Wisdom(MPI_Comm comm, Agreement& agreement, const LocalFftLibrary& library, std::filesystem::path file,
         const PlanPlace& place);

  /// Collective, after planning: where a rank planned something that it did not remember, rank 0 writes what the ranks
  /// know together into the file, beside what other launches have written meanwhile. Where both have a choice between
  /// passes, the file's is kept.
  void save();

  [[nodiscard]] const std::filesystem::path& file() const { return file_; }
  [[nodiscard]] const std::string& sha256() const { return sha256_; }    ///< the file's, as read; empty: none was there
  [[nodiscard]] const std::string& ignored() const { return ignored_; }  ///< on rank 0; empty: nothing
  [[nodiscard]] bool reused() const { return reused_; }  ///< after save(): no rank planned anything anew

 private:
  std::string read_section();
  [[nodiscard]] std::string why_none(const std::map<std::string, std::string>& sections) const;
  void import_section(const std::string& text);
  void gather();
  void write();

  MPI_Comm comm_;
  Agreement& agreement_;
  const LocalFftLibrary& library_;
  std::filesystem::path file_;
  std::string owner_on_machine_, owner_;
  std::string section_, sha256_, ignored_;
  std::set<std::string> before_;  ///< what the library knew on this rank before planning, by line
  bool reused_ = false;
};

}  // namespace fourscore::bench
