#pragma once
// Ranks that agree on what went wrong on some of them, and leave an MPI program together.

#include <mpi.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "mpi/handles.hpp"

namespace fourscore {

/// What stopped a step: the exit code (2 for an InputError, 3 for anything else) and the message.
struct Failure {
  int code = 0;
  std::string message;
};

/// Collective. Each rank does its work, which may throw on some ranks only. Nothing, or on all ranks the failure of the
/// lowest rank that has one. `impatient`, where given, is called on a rank that failed when the others do not come
/// within `patience_s`: they may wait in a collective that this rank never reached.
[[nodiscard]] std::optional<Failure> failure_of_any(MPI_Comm comm, const std::function<void()>& work,
                                                    const std::function<void(const Failure&)>& impatient = {},
                                                    double patience_s = 5);

/// Thrown on all ranks at once: rank 0 prints the message, all leave through MPI_Finalize with the code.
struct LeaveTogether : Failure {};

/// Runs steps that may throw on some ranks only, without leaving the others in a collective for ever.
class Agreement {
 public:
  /// `program` speaks where the job has to be ended.
  Agreement(MPI_Comm comm, std::string program) : comm_(mpi::duplicate(comm)), program_(std::move(program)) {}

  /// Collective. Where work throws on any rank, throws LeaveTogether everywhere with the lowest such rank's message.
  /// Ranks whose work is a collective cannot return from it when another failed before; the failed one waits patience_s
  /// for them and then ends the job with MPI_Abort.
  void run(const std::function<void()>& work, double patience_s = 5);

  /// Collective. As run(), for work that rank 0 does for all.
  void run_on_root(const std::function<void()>& work);

  /// Work that throws on this rank ends the job at once, while all that the caller holds is still there: other ranks
  /// may yet write into it. What all ranks throw together passes.
  void run_or_end_job(const std::function<void()>& work) const;

 private:
  [[noreturn]] void end_job(const Failure& failure) const;

  mpi::Communicator comm_;
  std::string program_;
};

}  // namespace fourscore
