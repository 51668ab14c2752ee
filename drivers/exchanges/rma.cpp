// One-sided: every rank puts its packed blocks into the windows of the others, who match no message. The layer of
// active packets of eleftheriou2005, with what MPI has in its place. How the two sides agree that a window is free, and
// that all has arrived, is the parameter `epoch`; docs/algorithms/exchanges.md has what each costs.

#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

#include "core/parameters.hpp"
#include "mpi/error.hpp"
#include "redistribution/exchange_blocks.hpp"
#include "redistribution/one_sided.hpp"

namespace fourscore {

namespace {

constexpr const char* exchange_name = "rma";
constexpr int ready_tag = 0;
constexpr int done_tag = 1;

enum class Epoch { lock, fence };
const std::vector<std::string> epoch_names{"lock", "fence"};

Epoch epoch_of(const Problem& problem) {
  return choice_parameter(problem, "epoch", epoch_names) == "fence" ? Epoch::fence : Epoch::lock;
}

/// A target's window is free from the moment that it has packed, and in use from the end of the exchange until it packs
/// again: in each epoch the target says first that it is free, and learns at its end that all has arrived.
class Rma : public PackedExchange {
 public:
  explicit Rma(const ExchangeSpec& spec)
      : PackedExchange(spec, exchange_name), epoch_(epoch_of(spec.problem == nullptr ? Problem{} : *spec.problem)) {
    if (blocks().agreement().moves_nothing) return;
    plan_comm_ = mpi::duplicate(spec.plan_comm == MPI_COMM_NULL ? spec.comm : spec.plan_comm);
    if (mpi::size_of(plan_comm_.get()) == 1) return;  // Open MPI gives one rank no window
    require_int_count(blocks().agreement().largest_array, "a local array", exchange_name);
    exchange_places();
    make_window(spec);
    requests_.reserve(2 * (blocks().sends().size() + blocks().receives().size()));
    if (epoch_ == Epoch::lock)  // "free" to each sender, "done" to each target
      declared().volume.control_messages_sent =
          static_cast<Index>(blocks().sends().size() + blocks().receives().size());
  }
  ~Rma() override {
    if (locked_ && mpi::may_call_collectives()) FOURSCORE_MPI_NOTHROW(MPI_Win_unlock_all(window_.get()));
  }
  Rma(const Rma&) = delete;
  Rma& operator=(const Rma&) = delete;

  void start() override {
    if (window_.get() == MPI_WIN_NULL) return;
    if (epoch_ == Epoch::fence) {
      FOURSCORE_MPI(MPI_Win_fence(0, window_.get()));
    } else {
      FOURSCORE_MPI(MPI_Win_sync(window_.get()));
      notify(blocks().receives(), blocks().sends(), ready_tag);
    }
    for (std::size_t i = 0; i < blocks().sends().size(); ++i) {
      const auto& message = blocks().sends()[i];
      const auto count = static_cast<int>(message.count);
      FOURSCORE_MPI(MPI_Put(address_of_sent(message), count, type(), targets_[i], target_places_[i], count, type(),
                            window_.get()));
    }
  }

  void finish() override {
    if (window_.get() == MPI_WIN_NULL) return;
    if (epoch_ == Epoch::fence) {
      FOURSCORE_MPI(MPI_Win_fence(MPI_MODE_NOSUCCEED, window_.get()));
    } else {
      FOURSCORE_MPI(MPI_Win_flush_all(window_.get()));
      notify(blocks().sends(), blocks().receives(), done_tag);
      FOURSCORE_MPI(MPI_Win_sync(window_.get()));
    }
  }

 private:
  using Messages = std::vector<PackedBlocks::Message>;

  /// Each rank tells its senders where in its window their blocks belong.
  void exchange_places() {
    mpi::Requests requests;
    requests.reserve(blocks().sends().size() + blocks().receives().size());
    target_places_.resize(blocks().sends().size());
    const std::vector<int> in_plan = mpi::translate_ranks(comm(), plan_comm_.get());
    for (const auto& message : blocks().sends()) targets_.push_back(in_plan[static_cast<std::size_t>(message.rank)]);
    std::vector<Index> own_places;
    for (const auto& message : blocks().receives()) own_places.push_back(message.displacement);
    std::vector<Index> told(blocks().sends().size());
    for (std::size_t i = 0; i < told.size(); ++i)
      FOURSCORE_MPI(MPI_Irecv(&told[i], 1, MPI_INT64_T, blocks().sends()[i].rank, ready_tag, comm(), requests.next()));
    for (std::size_t i = 0; i < own_places.size(); ++i)
      FOURSCORE_MPI(
          MPI_Isend(&own_places[i], 1, MPI_INT64_T, blocks().receives()[i].rank, ready_tag, comm(), requests.next()));
    requests.wait_all();
    for (std::size_t i = 0; i < told.size(); ++i) target_places_[i] = static_cast<MPI_Aint>(told[i]);
  }

  /// Over the buffer in which blocks arrive, in units of elements. All ranks of the plan share one: Open MPI 4.1
  /// (osc/rdma) names the file that the ranks of a window share after the number of the communicator, which is the same
  /// for all rows of a grid, so that windows of rows of one node fall together.
  void make_window(const ExchangeSpec& spec) {
    const int me = mpi::rank_in(spec.comm);
    const auto unit = static_cast<MPI_Aint>(spec.element_bytes);
    const auto elements = static_cast<MPI_Aint>(spec.to.box(me).volume());
    MPI_Win window = MPI_WIN_NULL;
    FOURSCORE_MPI(MPI_Win_create(blocks().receive_buffer(), elements * unit, static_cast<int>(unit), MPI_INFO_NULL,
                                 plan_comm_.get(), &window));
    window_ = mpi::Window(window);
    FOURSCORE_MPI(MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN));
    if (epoch_ != Epoch::lock) return;
    FOURSCORE_MPI(MPI_Win_lock_all(MPI_MODE_NOCHECK, window));
    locked_ = true;
  }

  /// Empty messages, to those of one list from those of the other.
  void notify(const Messages& to, const Messages& from, int tag) {
    for (const auto& message : from)
      FOURSCORE_MPI(MPI_Irecv(nullptr, 0, MPI_BYTE, message.rank, tag, comm(), requests_.next()));
    for (const auto& message : to)
      FOURSCORE_MPI(MPI_Isend(nullptr, 0, MPI_BYTE, message.rank, tag, comm(), requests_.next()));
    requests_.wait_all();
  }

  Epoch epoch_;
  mpi::Communicator plan_comm_;
  std::vector<int> targets_;             ///< ranks in the plan, by message sent
  std::vector<MPI_Aint> target_places_;  ///< by message sent
  mpi::Window window_;
  bool locked_ = false;
  mpi::Requests requests_;
};

class RmaMethod : public ExchangeMethod {
 public:
  [[nodiscard]] Card card() const override {
    return {exchange_name,
            "pack, MPI_Put into the partners' windows, unpack; one lock for all runs, or a fence around each",
            "eleftheriou2005"};
  }
  [[nodiscard]] std::vector<Parameter> parameters() const override {
    return {{"epoch", "how a rank's puts are known to be complete", epoch_names.front(), epoch_names}};
  }
  /// See make_window().
  [[nodiscard]] Reason supports(const Problem& problem) const override {
    (void)epoch_of(problem);
    return why_no_windows_of_subsets(problem, std::string("exchange '") + exchange_name + "'");
  }
  [[nodiscard]] Reason cannot_run_on(MPI_Comm comm) const override { return why_no_window(comm, WindowMemory::own); }
  [[nodiscard]] Divisible divisible() const override { return Divisible::copies; }
  [[nodiscard]] std::unique_ptr<Exchange> make(const ExchangeSpec& spec) const override {
    return std::make_unique<Rma>(spec);
  }
};

FOURSCORE_REGISTER_EXCHANGE(RmaMethod);

}  // namespace

}  // namespace fourscore
