#pragma once
// How the threads of a rank move data from one layout to another together (lee2018, section 3.2).

#include <mpi.h>

#include <atomic>
#include <memory>
#include <vector>

#include "core/decomposition.hpp"
#include "core/phase.hpp"
#include "interfaces/exchange.hpp"
#include "variants/node/node_segments.hpp"
#include "variants/node/thread_team.hpp"

namespace fourscore {

/// Which threads call MPI. one: thread 0, for all. own: each for its own segments, sent and received. any: each for
/// those that it sends, and whichever is free takes the next that came in, as the cores of a node do with what is sent
/// to a nodegroup (lee2018, section 3.2).
enum class MpiCallers { one, own, any };

struct NodeExchangeSpec {
  const Decomposition& from;
  const Decomposition& to;
  MPI_Comm comm;
  std::size_t element_bytes;
  std::byte* source;
  std::byte* destination;  ///< another buffer
  const ThreadTeam& team;
  MpiCallers callers;
  bool one_packs;       ///< thread 0 packs and sends everything; with any other callers than `one`
  Index segments;       ///< most that a message is cut into
  Index segment_bytes;  ///< which each segment has at least
  int first_tag;        ///< and `segments` - 1 after it are no other exchange's of the communicator
};

/// A message between two ranks is cut into segments, each of them a message of MPI that one thread packs or unpacks.
/// One segment for each message is what Charm-NodeFFT does: with one or two nodes there are then fewer segments than
/// threads.
class NodeExchange {
 public:
  explicit NodeExchange(const NodeExchangeSpec& spec);

  /// For the messages that are packed before or unpacked after; free again once all threads are through with a run.
  [[nodiscard]] std::size_t workspace_bytes() const { return segments_.workspace_bytes; }
  /// Before the first run. Exchanges that run one after another may have the same workspace.
  void use_workspace(std::byte* space);

  /// The three steps of a run, each on all threads. A barrier of theirs must lie between them, and the destination be
  /// free from post() on. `clock` is the thread's own.
  void post(int thread);
  void move(int thread, PhaseClock& clock);
  /// move() in two halves, between which the messages are on their way; again a barrier lies between them.
  void start(int thread, PhaseClock& clock);
  void finish(int thread, PhaseClock& clock);

  /// Parts of it alone, each on all threads; the second after post() and a barrier.
  void pack(int thread) const;
  void send_and_wait(int thread);
  void unpack(int thread) const;

  [[nodiscard]] const MessageVolume& message_volume() const { return segments_.volume; }
  /// The bytes over all threads: what pack() and unpack() read, and write again, and what comes in as messages.
  [[nodiscard]] Index bytes_packed() const { return segments_.bytes_packed(); }
  [[nodiscard]] Index bytes_unpacked() const { return segments_.bytes_unpacked(); }
  [[nodiscard]] Index bytes_received() const { return segments_.bytes_received(element_bytes_); }

 private:
  using Segment = NodeSegments::Segment;
  using OwnSegment = NodeSegments::OwnSegment;

  void deal_to_threads(std::vector<Segment>& segments, std::vector<std::size_t>& first, std::size_t threads) const;
  void pack_segment(std::size_t i) const;
  void unpack_segment(std::size_t i) const;
  void send(std::size_t i);
  void receive(std::size_t i);
  void pack_and_send_own(int thread, PhaseClock& clock);
  void take_own(int thread, PhaseClock& clock);
  void wait_for_own(int thread, PhaseClock& clock, bool unpacks);
  void wait_for_some(std::size_t first, std::size_t last, int& count);
  void wait_for_sends(std::size_t first, std::size_t last);
  void take_arrivals(PhaseClock& clock);
  [[nodiscard]] bool next_arrival(std::size_t& segment);
  void lead(PhaseClock& clock, bool unpacks);
  [[nodiscard]] bool serve_mpi(PhaseClock& clock, bool receives);
  void pack_all(PhaseClock& clock);
  void unpack_all(PhaseClock& clock);
  void wait_for_arrival() const;
  [[nodiscard]] bool pack_next();
  [[nodiscard]] bool unpack_next();

  const ThreadTeam& team_;
  int threads_;
  Index element_bytes_;
  MpiCallers callers_;
  bool one_packs_;
  MPI_Comm comm_;
  MPI_Datatype type_;
  NodeSegments segments_;
  std::vector<std::size_t> first_send_;  ///< [thread], where each calls MPI; one more than threads
  std::vector<std::size_t> first_receive_;
  std::vector<MPI_Request> send_requests_;
  std::vector<MPI_Request> receive_requests_;
  std::vector<int> completed_;

  // Where only thread 0 calls MPI: what it and the others tell each other.
  std::size_t sent_ = 0;      ///< on thread 0 alone
  std::size_t received_ = 0;  ///< likewise
  std::unique_ptr<std::atomic<int>[]> packed_;
  std::vector<std::size_t> arrivals_;                  ///< receives, as they came in
  alignas(64) std::atomic<std::size_t> arrived_{0};    ///< how many of them are there
  alignas(64) std::atomic<std::size_t> next_pack_{0};  ///< sends, then own segments
  alignas(64) std::atomic<std::size_t> next_unpack_{0};

  // Where any thread takes what came in: arrived_ counts what was taken.
  std::atomic_flag asks_mpi_ = ATOMIC_FLAG_INIT;
};

}  // namespace fourscore
