#pragma once
// Processor time that other processes used on our node while we worked there.

#include <mpi.h>

#include <filesystem>
#include <optional>

namespace fourscore {

/// Processor time of all processors in user and system mode since the machine started; not of interrupts, which may be
/// those of our own messages. Nothing where `stat` (as /proc/stat) does not say.
[[nodiscard]] std::optional<double> busy_s(const std::filesystem::path& stat = "/proc/stat");

/// The mean number of cores that others kept busy: `busy` seconds of all processors, `own` of them ours, in `elapsed`.
[[nodiscard]] double other_cores(double busy_s, double own_s, double elapsed_s);

class OtherWork {
 public:
  /// Collective over the ranks of one node, as cores() is.
  explicit OtherWork(MPI_Comm node);
  /// From the constructor on; the same on all ranks. Nothing where the kernel does not say.
  [[nodiscard]] std::optional<double> cores() const;

 private:
  struct Moment {
    std::optional<double> busy_s;
    double own_s = 0;  ///< what this process used
    double at_s = 0;
  };
  static Moment now();

  MPI_Comm node_;
  Moment begin_;
};

}  // namespace fourscore
