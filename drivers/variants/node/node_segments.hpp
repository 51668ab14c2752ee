#pragma once
// The segments that the threads of a rank pack, send, receive and unpack in one exchange (lee2018, section 3.2).

#include <cstddef>
#include <vector>

#include "core/decomposition.hpp"
#include "interfaces/exchange.hpp"
#include "kernels/copy.hpp"

namespace fourscore {

struct NodeExchangeSpec;

/// The segments of a rank's messages, by partner, and of what stays.
struct NodeSegments {
  struct Segment {
    int rank = 0;
    int tag = 0;
    int count = 0;
    bool copied = true;  ///< else it lies in the buffer as in the message
    CopyPlan copy;
    std::size_t offset = 0;    ///< in the workspace, when copied
    std::byte* at = nullptr;   ///< as MPI sees it
    std::byte* box = nullptr;  ///< its first element in the buffer
  };
  struct OwnSegment {
    CopyPlan copy;
    const std::byte* from;
    std::byte* to;
  };

  explicit NodeSegments(const NodeExchangeSpec& spec);

  [[nodiscard]] Index bytes_packed() const;
  [[nodiscard]] Index bytes_unpacked() const;
  [[nodiscard]] Index bytes_received(Index element_bytes) const;

  std::vector<Segment> sends;
  std::vector<Segment> receives;
  std::vector<OwnSegment> own;
  MessageVolume volume;
  std::size_t workspace_bytes = 0;

 private:
  void plan_message(const NodeExchangeSpec& spec, const Overlap& part, bool outgoing);
};

}  // namespace fourscore
