#include "redistribution/one_sided.hpp"

#include <fmt/format.h>

#include <array>

#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace fourscore {

Reason why_no_window(MPI_Comm comm, WindowMemory memory) {
  if (mpi::size_of(comm) == 1) return {};
  const mpi::Communicator own = mpi::duplicate(comm);
  std::array<int, 1> created{};
  void* allocated = nullptr;
  MPI_Win window = MPI_WIN_NULL;
  try {
    if (memory == WindowMemory::own)
      FOURSCORE_MPI(MPI_Win_create(created.data(), sizeof created, 1, MPI_INFO_NULL, own.get(), &window));
    else
      FOURSCORE_MPI(MPI_Win_allocate(sizeof created, 1, MPI_INFO_NULL, own.get(), &allocated, &window));
  } catch (const MpiError& error) {
    return std::string("MPI makes no window between these ranks: ") + error.what();
  }
  const int* model = nullptr;
  int known = 0;
  const int asked = MPI_Win_get_attr(window, MPI_WIN_MODEL, static_cast<void*>(&model), &known);
  int separate = known != 0 && *model != MPI_WIN_UNIFIED ? 1 : 0;
  FOURSCORE_MPI(MPI_Win_free(&window));
  mpi::check(asked, "MPI_Win_get_attr");
  FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, &separate, 1, MPI_INT, MPI_MAX, own.get()));
  if (memory == WindowMemory::allocated && separate != 0)
    return "MPI's windows have the separate memory model here, in which a rank does not see what was put before it "
           "synchronises; expected MPI_WIN_UNIFIED";
  return {};
}

Reason why_no_windows_of_subsets([[maybe_unused]] const Problem& problem, [[maybe_unused]] const std::string& user) {
#ifdef OPEN_MPI
  if (problem.instances > 1 && problem.placement == Placement::subset)
    return fmt::format(
        "{} cannot serve instances on subsets of the ranks here: Open MPI's windows (osc/rdma, seen in "
        "4.1.4) of disjoint communicators fall together; allowed: placement all",
        user);
#endif
  return std::nullopt;
}

}  // namespace fourscore
