#pragma once
// Several nodes pretended on one machine.

namespace fourscore::test {

/// While one lives, each rank is a node of its own to whoever asks MPI which ranks share one.
class EachRankIsANode {
 public:
  EachRankIsANode();
  ~EachRankIsANode();
  EachRankIsANode(const EachRankIsANode&) = delete;
  EachRankIsANode& operator=(const EachRankIsANode&) = delete;
};

}  // namespace fourscore::test
