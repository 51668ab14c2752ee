#pragma once
// What alltoall_bench times: an exchange of the project, or a collective of MPI, in all groups at once.

#include <memory>
#include <string>
#include <vector>

#include "components/component_main.hpp"
#include "components/exchange_layouts.hpp"
#include "interfaces/exchange.hpp"

namespace fourscore::component {

/// Which parts of an exchange are timed: pack, start, finish and unpack, as a transform runs them, or start and finish,
/// between which the messages go.
enum class Parts { whole, transport };

/// Collective over world. Throws InputError where counts overflow what MPI takes.
[[nodiscard]] std::unique_ptr<Work> exchange_work(MPI_Comm world, const ExchangeMethod& method, Problem parameters,
                                                  GroupExchange group, Parts parts);

/// The names of MPI's own collectives, with which the exchanges are compared.
[[nodiscard]] const std::vector<std::string>& collective_names();
[[nodiscard]] bool is_collective(const std::string& name);
/// mpi-alltoallv takes any sizes, the others want all equal.
[[nodiscard]] bool wants_even(const std::string& collective);

/// Collective over world. The blocks lie in order of rank, so that nothing is packed.
[[nodiscard]] std::unique_ptr<Work> collective_work(MPI_Comm world, const std::string& name, GroupExchange group);

}  // namespace fourscore::component
