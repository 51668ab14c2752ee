#include "harness/agreement.hpp"

#include <chrono>
#include <exception>
#include <thread>

#include "core/errors.hpp"
#include "harness/simulated.hpp"
#include "mpi/broadcast.hpp"
#include "mpi/error.hpp"

namespace fourscore {
namespace {

/// LeaveTogether passes.
std::optional<Failure> failure_of(const std::function<void()>& work) {
  try {
    work();
    return std::nullopt;
  } catch (const InputError& error) {
    return Failure{2, error.what()};
  } catch (const std::exception& error) {
    return Failure{3, error.what()};
  }
}

/// Polls, so that a failed rank does not wait for ranks that cannot come.
bool completes_within(MPI_Request& request, double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  int done = 0;
  while (done == 0 && std::chrono::steady_clock::now() < end) {
    FOURSCORE_MPI(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    if (done == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return done != 0;
}

}  // namespace

std::optional<Failure> failure_of_any(MPI_Comm comm, const std::function<void()>& work,
                                      const std::function<void(const Failure&)>& impatient, double patience_s) {
  const auto own = failure_of(work);
  // The lowest failing rank speaks; its message is the one that is shown.
  const int ranks = mpi::size_of(comm);
  const int speaker = own ? mpi::rank_in(comm) : ranks;
  int lowest = 0;
  if (simulated_machine() != nullptr) {
    // SimGrid's MPI_Iallreduce sends from every rank to every rank. Patience is not needed: where ranks wait for each
    // other in vain, the simulator notices.
    if (own && impatient) note_of_deadlock(own->message);
    FOURSCORE_MPI(MPI_Allreduce(&speaker, &lowest, 1, MPI_INT, MPI_MIN, comm));
  } else {
    MPI_Request request = MPI_REQUEST_NULL;
    FOURSCORE_MPI(MPI_Iallreduce(&speaker, &lowest, 1, MPI_INT, MPI_MIN, comm, &request));
    if (own && impatient && !completes_within(request, patience_s)) impatient(*own);
    FOURSCORE_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
  }
  if (lowest == ranks) return std::nullopt;
  Failure told = own.value_or(Failure{});
  FOURSCORE_MPI(MPI_Bcast(&told.code, 1, MPI_INT, lowest, comm));
  told.message = mpi::broadcast_text(comm, lowest, std::move(told.message));
  return told;
}

void Agreement::end_job(const Failure& failure) const { mpi::abort_job(program_, failure.message, failure.code); }

void Agreement::run(const std::function<void()>& work, double patience_s) {
  const auto end = [&](const Failure& failure) { end_job(failure); };
  if (const auto failure = failure_of_any(comm_.get(), work, end, patience_s)) throw LeaveTogether{*failure};
}

void Agreement::run_or_end_job(const std::function<void()>& work) const {
  if (const auto failure = failure_of(work)) end_job(*failure);
}

void Agreement::run_on_root(const std::function<void()>& work) {
  const bool root = mpi::rank_in(comm_.get()) == 0;
  run([&] {
    if (root) work();
  });
}

}  // namespace fourscore
