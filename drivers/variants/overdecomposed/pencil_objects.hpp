#pragma once
// Pencils as objects (lee2018, chapter 2): several for each rank and state, each of which knows what it waits for and
// what it hands on. Here lies only the geometry and where everything is; who runs when is decided elsewhere.

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/decomposition.hpp"
#include "core/problem.hpp"
#include "interfaces/exchange.hpp"
#include "kernels/copy.hpp"

namespace fourscore {

/// One state of a transform: the pencils of all ranks. A pencil is of the one rank that has it in a box.
struct PencilState {
  Decomposition layout;             ///< a rank holds one box, the union of its pencils, or each of them as a box
  Decomposition pencils;            ///< over the numbers of the pencils, of which some may be empty
  std::optional<std::size_t> axis;  ///< transformed: every pencil is whole along it. Nothing: only passed through
  bool local_messages = false;      ///< what comes from a pencil of the same rank comes in a message as well
  [[nodiscard]] int owner(int pencil) const { return layout.overlaps(pencils.box(pencil)).front().rank; }
};

/// The one of the plan's two buffers in which a state's elements arrive and from which they go on: 0 is the input's.
struct StatePlaces {
  int lands_in = 0;
  int leaves_in = 0;
};
/// Where two states have the same boxes, and no messages within a rank, nothing is moved between them; all others lie
/// in alternate buffers. Where the
/// placement wants the result in the other one, the last state that is transformed goes there out of place.
[[nodiscard]] std::vector<StatePlaces> places_of(const std::vector<PencilState>& states, Buffers buffers);
[[nodiscard]] bool arrives_by_messages(const std::vector<PencilState>& states, std::size_t state);

struct TableRange {
  std::size_t first = 0;
  std::size_t last = 0;
};
[[nodiscard]] inline std::size_t length(TableRange range) { return range.last - range.first; }

/// One pencil of this rank.
struct PencilTask {
  std::size_t state = 0;
  Extents extents{0, 0, 0};
  Extents strides{0, 0, 0};
  std::byte* in = nullptr;   ///< its first element, before ...
  std::byte* out = nullptr;  ///< ... and after its transform
  int expected = 0;          ///< arrivals before it may run
  TableRange sends;          ///< in PencilTables::sends
  TableRange copies;         ///< in PencilTables::copies
  TableRange locals;         ///< in PencilTables::locals
  TableRange signals;        ///< in PencilTables::signals
};

/// Between two pencils of different ranks, one for each such pair that shares elements.
struct PencilMessage {
  std::size_t task = 0;         ///< on this rank: who sends it, or for whom it is
  int rank = 0;                 ///< on the other side
  int tag = 0;                  ///< no other message of the plan between the two ranks, in this direction, has it
  int count = 0;                ///< elements
  bool copied = true;           ///< packed before, unpacked after; else it lies at its place in the pencils
  CopyPlan copy;                ///< when copied
  std::byte* at = nullptr;      ///< as MPI sees it
  std::byte* pencil = nullptr;  ///< its first element in the pencils
};

/// Between two pencils of this rank that lie in different buffers.
struct PencilCopy {
  std::size_t from_task = 0;
  std::size_t to_task = 0;
  CopyPlan copy;
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
};

/// The same as a message: packed, handed to the scheduler, and unpacked when its turn comes.
struct LocalMessage {
  std::size_t from_task = 0;
  std::size_t to_task = 0;
  int count = 0;  ///< elements
  CopyPlan pack;
  CopyPlan unpack;
  const std::byte* from = nullptr;
  std::byte* at = nullptr;  ///< between the two
  std::byte* to = nullptr;
};

/// The memory for the tables of a rank with so many pencils that knows so many messages and copies.
[[nodiscard]] double table_bytes(double pencils, double messages);

/// Everything that one rank's pencils do, in the order of the states. Allocates the memory of the messages. They come
/// in any order, so that each that comes in has a place of its own, and each that goes out; but those that a pencil
/// sends lie where those lay that it waited for, and every second state has the same memory.
class PencilTables {
 public:
  /// buffers: the plan's two (the second may be null where no state uses it). Throws InputError where a message has
  /// more elements than MPI's int holds.
  PencilTables(const std::vector<PencilState>& states, const std::vector<StatePlaces>& places, int me,
               std::size_t element_bytes, const std::array<std::byte*, 2>& buffers);

  std::vector<PencilTask> tasks;
  std::vector<TableRange> tasks_of_state;
  std::vector<PencilMessage> sends;
  std::vector<PencilMessage> receives;  ///< grouped by state
  std::vector<TableRange> receives_of_state;
  std::vector<PencilCopy> copies;
  std::vector<LocalMessage> locals;
  std::vector<std::size_t> signals;  ///< tasks to which nothing needs to be moved
  int largest_tag = 0;
  MessageVolume traffic;

  /// The messages' memory, and the tables of them: their number grows with the cube of the decomposition.
  [[nodiscard]] std::size_t workspace_bytes() const;

 private:
  struct Redistribution;
  void add_tasks(std::size_t state);
  void connect(std::size_t from_state);
  void add_sends(const Redistribution& redistribution, std::size_t task);
  void add_receives(const Redistribution& redistribution);
  [[nodiscard]] std::size_t task_of(std::size_t state, int pencil) const;
  [[nodiscard]] PencilMessage message(const Redistribution& redistribution, const Box& common, int other,
                                      std::size_t task, bool outgoing);
  void add_local(const Redistribution& redistribution, std::size_t source, std::size_t target, const Box& common);
  void begin_with_the_next_rank(TableRange range, int ranks);
  void place_messages();
  [[nodiscard]] std::byte* address(std::size_t task, int buffer, const Box& part) const;

  /// The box of this rank's memory in which a pencil lies.
  struct Home {
    Box box;
    Extents strides{0, 0, 0};
    Index offset = 0;
  };

  const std::vector<PencilState>& states_;
  const std::vector<StatePlaces>& places_;
  const int me_;
  const std::size_t element_bytes_;
  const std::array<std::byte*, 2> buffers_;
  std::vector<Home> homes_;                    ///< by task
  std::vector<std::vector<int>> own_pencils_;  ///< by state, ascending: those of the state's tasks, in their order
  std::map<int, int> tags_out_;                ///< next, by rank
  std::map<int, int> tags_in_;
  std::array<std::unique_ptr<Buffer>, 2> spaces_;  ///< for the states with even numbers, and for the others
};

}  // namespace fourscore
