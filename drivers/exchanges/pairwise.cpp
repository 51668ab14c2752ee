// One partner at a time: in step s every rank sends to the rank s further on and receives from the rank s before, so
// that no two messages of a step meet at a rank.

#include <vector>

#include "core/exchange_blocks.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace fourscore {

namespace {

constexpr const char* exchange_name = "pairwise";
constexpr int message_tag = 0;

class Pairwise : public Exchange {
 public:
  explicit Pairwise(const ExchangeSpec& spec)
      : blocks_(spec, exchange_name), comm_(mpi::duplicate(spec.comm)), type_(mpi::element_type(spec.element_bytes)) {
    const int ranks = spec.from.ranks();
    const int me = mpi::rank_in(spec.comm);
    const auto bytes = static_cast<Index>(spec.element_bytes);
    steps_.resize(static_cast<std::size_t>(ranks));
    for (const auto& message : blocks_.sends()) {
      Step& step = steps_[static_cast<std::size_t>((message.rank - me + ranks) % ranks)];
      step.to = message.rank;
      step.send_count = static_cast<int>(message.count);
      step.send = blocks_.send_buffer() + message.displacement * bytes;
    }
    for (const auto& message : blocks_.receives()) {
      Step& step = steps_[static_cast<std::size_t>((me - message.rank + ranks) % ranks)];
      step.from = message.rank;
      step.receive_count = static_cast<int>(message.count);
      step.receive = blocks_.receive_buffer() + message.displacement * bytes;
    }
    std::erase_if(steps_, [](const Step& step) { return step.to == MPI_PROC_NULL && step.from == MPI_PROC_NULL; });
  }

  void pack() override { blocks_.pack(); }
  void start() override {
    for (const Step& step : steps_)
      FOURSCORE_MPI(MPI_Sendrecv(step.send, step.send_count, type_, step.to, message_tag, step.receive,
                                 step.receive_count, type_, step.from, message_tag, comm_.get(), MPI_STATUS_IGNORE));
  }
  void unpack() override { blocks_.unpack(); }
  [[nodiscard]] bool packs() const override { return blocks_.packs(); }
  [[nodiscard]] bool unpacks() const override { return blocks_.unpacks(); }
  [[nodiscard]] bool lands_in_source() const override { return blocks_.lands_in_source(); }
  [[nodiscard]] Traffic traffic() const override { return blocks_.traffic(); }

 private:
  struct Step {
    int to = MPI_PROC_NULL;
    int from = MPI_PROC_NULL;
    int send_count = 0;
    int receive_count = 0;
    const std::byte* send = nullptr;
    std::byte* receive = nullptr;
  };

  PackedBlocks blocks_;
  mpi::Communicator comm_;
  MPI_Datatype type_;
  std::vector<Step> steps_;
};

class PairwiseMethod : public ExchangeMethod {
 public:
  [[nodiscard]] Card card() const override {
    return {exchange_name, "pack, MPI_Sendrecv with one partner at a time, unpack", "MPI 3.1, 3.10"};
  }
  [[nodiscard]] std::unique_ptr<Exchange> make(const ExchangeSpec& spec) const override {
    return std::make_unique<Pairwise>(spec);
  }
};

FOURSCORE_REGISTER_EXCHANGE(PairwiseMethod);

}  // namespace

}  // namespace fourscore
