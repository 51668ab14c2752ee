#include "support/pretended_nodes.hpp"

#include <mpi.h>

namespace {
bool each_rank_is_a_node = false;
}

/// What tells which ranks share a node.
extern "C" int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* part) {
  if (!each_rank_is_a_node) return PMPI_Comm_split_type(comm, type, key, info, part);
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  return PMPI_Comm_split(comm, rank, key, part);
}

namespace fourscore::test {

EachRankIsANode::EachRankIsANode() { each_rank_is_a_node = true; }
EachRankIsANode::~EachRankIsANode() { each_rank_is_a_node = false; }

}  // namespace fourscore::test
