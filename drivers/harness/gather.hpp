#pragma once
// Values of all ranks on rank 0. Numbers of every rank; text only of a few.

#include <mpi.h>

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace fourscore {

/// Collective: one value of each rank, in rank order, on rank 0; empty elsewhere.
template <class Value>
[[nodiscard]] std::vector<Value> gather_values(MPI_Comm comm, const Value& mine) {
  static_assert(std::is_trivially_copyable_v<Value>);
  std::vector<Value> all(mpi::rank_in(comm) == 0 ? static_cast<std::size_t>(mpi::size_of(comm)) : 0);
  FOURSCORE_MPI(MPI_Gather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, 0, comm));
  return all;
}

/// Collective: as many numbers of each rank as of any other, [rank][number] on rank 0.
[[nodiscard]] std::vector<std::vector<double>> gather_rows(MPI_Comm comm, const std::vector<double>& mine);
/// Collective: [rank][number] on rank 0, each rank with as many as it has.
[[nodiscard]] std::vector<std::vector<int>> gather_lists(MPI_Comm comm, const std::vector<int>& mine);
/// Collective over the few ranks of a node, or over one of each instance: their values as text, on rank 0.
[[nodiscard]] std::vector<nlohmann::json> gather_json(MPI_Comm comm, const nlohmann::json& value);

}  // namespace fourscore
