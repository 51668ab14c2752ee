#pragma once
// The scheduler of over-decomposed pencils: a pencil runs when all that it waits for is there, whatever others wait
// for.

#include <array>
#include <map>
#include <memory>
#include <vector>

#include "interfaces/plan.hpp"
#include "mpi/handles.hpp"
#include "offload/offloaded_fft.hpp"
#include "variants/overdecomposed/messages_in_flight.hpp"
#include "variants/overdecomposed/pencil_objects.hpp"

namespace fourscore {

/// none: whoever has its input begins, and ends with its own pencils. broadcast_reduce: as in lee2018, section 2.1,
/// rank 0 tells all to begin, and knows by a reduction that all are through.
enum class Synchronisation { none, broadcast_reduce };

struct MessageDrivenOptions {
  Synchronisation synchronisation = Synchronisation::none;
  std::vector<int> grid{};       ///< PlanFacts::grid
  double table_bytes = 0;        ///< that a rank's tables will take, about
  bool on_device = false;        ///< the local transforms are offloaded
  std::size_t device_bytes = 0;  ///< on the device, which all of them use in turn
};

/// Runs the pencils of all states without a barrier between them, on one rank in one thread, as a message-driven
/// processor does (lee2018, section 2.1): receives are posted as soon as their memory is free; whenever a pencil was
/// transformed and its messages were handed to MPI, what has come in meanwhile is unpacked; when no pencil is ready,
/// MPI is waited on.
///
/// Two buffers hold the states in turn, so that a state may arrive where an earlier one still lies. Such arrivals wait
/// in their messages until this rank's pencils of the earlier state are through ("gates"). The memory of messages is
/// that of the state before the last one too, which must have sent all of it. No two ranks can wait for each other by
/// that: a gate depends on earlier states only.
class MessageDrivenPlan : public Plan {
 public:
  /// Collective. `states` from input to output. Throws InputError where MPI's tags or counts are too small for so many
  /// or so large messages, or the memory of a node for the tables. `together`: makes one launch of the transforms of
  /// all pencils of a state that this rank has; null: each pencil is transformed when it is ready.
  MessageDrivenPlan(const PlanContext& context, std::vector<PencilState> states, MessageDrivenOptions options,
                    const OffloadingLibrary* together = nullptr);

  void execute(PhaseClock& clock) override;
  void begin(PhaseClock& clock) override;
  Advance advance(PhaseClock& clock) override { return go_on(clock, false); }
  [[nodiscard]] std::vector<Component> components() override;

 private:
  /// First in, first out, within memory reserved once: in one run no more is pushed than fits.
  class Queue {
   public:
    void reserve(std::size_t most) { items_.assign(most, 0); }
    void clear() { head_ = tail_ = 0; }
    void push(std::size_t item) { items_[tail_++] = item; }
    [[nodiscard]] bool empty() const { return head_ == tail_; }
    [[nodiscard]] std::size_t pushed() const { return tail_; }  ///< since clear()
    std::size_t pop() { return items_[head_++]; }

   private:
    std::vector<std::size_t> items_;
    std::size_t head_ = 0;
    std::size_t tail_ = 0;
  };
  /// States, as bits, with which this rank must be through.
  struct Gate {
    unsigned transformed = 0;  ///< all pencils read: what they were transformed from is free
    unsigned released = 0;     ///< all pencils handed on: what they were transformed to is free
    unsigned emptied = 0;      ///< all pencils' packed messages sent: the memory of messages is free
  };
  /// The progress of one state while a plan runs.
  struct Progress {
    Queue ready;              ///< tasks that may run
    Queue parked;             ///< tasks that wait for the place where they leave their result
    Queue landed;             ///< receives that wait for the place where they belong
    Queue copies;             ///< copies that do
    Queue delivered;          ///< messages of this rank to itself
    bool may_arrive = false;  ///< in memory of its own
    bool may_receive = false;
    bool may_leave = false;
    bool launched = false;  ///< the transforms of all its pencils at once, where they are one launch
    std::size_t untransformed = 0;
    std::size_t unreleased = 0;  ///< tasks, copies and messages that lie in the pencils themselves
    std::size_t unemptied = 0;   ///< tasks and packed messages
  };

  [[nodiscard]] static unsigned bit(std::size_t state) { return 1U << state; }
  void make_local_ffts(const PlanContext& context);
  void make_launches(const PlanContext& context, const OffloadingLibrary& library);
  void make_gates();
  void make_queues();
  void declare_work();
  [[nodiscard]] Gate gate_for(std::size_t state, int buffer) const;

  /// Where a run is.
  enum class Part { starts, runs, ends, rests };

  void reset();
  void start_pencils();
  [[nodiscard]] Advance go_on(PhaseClock& clock, bool wait);
  [[nodiscard]] bool run_pencils(bool wait);
  [[nodiscard]] bool unpack_locals();
  void start_synchronisation(bool ends);
  [[nodiscard]] bool synchronised(bool wait);
  void check_reduction() const;
  [[nodiscard]] bool next_ready(std::size_t& task);
  [[nodiscard]] bool waits_for_the_rest(std::size_t state) const;
  void run_task(std::size_t task);
  void transform(std::size_t task);
  void transform_alone(std::size_t task) const;
  void send_from(const PencilTask& task);
  void copy_from(const PencilTask& task);
  void run_copy(std::size_t copy);
  [[nodiscard]] bool progress(bool wait);
  void land(std::size_t receive);
  void arrive(std::size_t task);
  void release(std::size_t state);
  void empty(std::size_t state);
  void open_gates();
  void open_receive(std::size_t state);
  [[nodiscard]] bool is_open(const Gate& gate) const;
  void start_receives(std::size_t state, bool copied);
  void start_receive(std::size_t receive);
  void start_send(std::size_t send);
  void add_transforms(std::size_t state, int number, std::vector<Component>& list);
  void add_components_of_redistribution(std::size_t to_state, int number, std::vector<Component>& list);

  std::vector<PencilState> states_;
  MessageDrivenOptions options_;
  std::vector<StatePlaces> places_;
  std::unique_ptr<PencilTables> tables_;
  mpi::Communicator comm_;
  MessagesInFlight in_flight_;  ///< ids: below the number of receives a receive, else a send
  Index element_bytes_;
  std::vector<std::unique_ptr<LocalFft>> ffts_;      ///< by distinct shape and alignment
  std::vector<LocalFft*> fft_of_task_;               ///< null: passed through, or in its state's launch
  std::vector<std::unique_ptr<LocalFft>> launches_;  ///< by state, of all its pencils; null: each alone
  std::vector<std::size_t> order_;                   ///< the order of states in which ready pencils are looked for
  std::vector<Gate> arrival_gates_;
  std::vector<Gate> receive_gates_;
  std::vector<Gate> leaving_gates_;

  std::vector<Progress> progress_;
  std::vector<int> missing_;  ///< arrivals, by task
  unsigned transformed_ = 0;  ///< states, as bits
  unsigned released_ = 0;
  unsigned emptied_ = 0;
  std::size_t unfinished_ = 0;  ///< tasks
  Part part_ = Part::rests;
  mpi::Communicator sync_comm_;  ///< null without synchronisation, and where one rank has none to tell
  MPI_Request sync_ = MPI_REQUEST_NULL;
  int start_word_ = 0;
  std::array<Index, 2> pencils_done_{0, 0};  ///< in the last state: on this rank, and on rank 0 over all
  Index pencils_in_all_ = 0;                 ///< in the last state
  PhaseClock silent_{false};
  PhaseClock* clock_ = &silent_;
};

}  // namespace fourscore
