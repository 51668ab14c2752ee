// One partner at a time: in step s every rank sends to the rank s further on and receives from the rank s before, so
// that no two messages of a step meet at a rank.

#include <map>
#include <vector>

#include "mpi/error.hpp"
#include "mpi/handles.hpp"
#include "redistribution/exchange_blocks.hpp"

namespace fourscore {

namespace {

constexpr const char* exchange_name = "pairwise";
constexpr int message_tag = 0;

class Pairwise : public PackedExchange {
 public:
  explicit Pairwise(const ExchangeSpec& spec) : PackedExchange(spec, exchange_name) {
    const int ranks = spec.from.ranks();
    const int me = mpi::rank_in(spec.comm);
    // Only steps in which this rank has a partner: of many ranks few may have elements for it.
    std::map<int, Step> steps;
    for (const auto& message : blocks().sends()) {
      Step& step = steps[(message.rank - me + ranks) % ranks];
      step.to = message.rank;
      step.send_count = static_cast<int>(message.count);
      step.send = address_of_sent(message);
    }
    for (const auto& message : blocks().receives()) {
      Step& step = steps[(me - message.rank + ranks) % ranks];
      step.from = message.rank;
      step.receive_count = static_cast<int>(message.count);
      step.receive = address_of_received(message);
    }
    for (const auto& [number, step] : steps) steps_.push_back(step);
  }

  void start() override {
    for (const Step& step : steps_)
      FOURSCORE_MPI(MPI_Sendrecv(step.send, step.send_count, type(), step.to, message_tag, step.receive,
                                 step.receive_count, type(), step.from, message_tag, comm(), MPI_STATUS_IGNORE));
  }

 private:
  struct Step {
    int to = MPI_PROC_NULL;
    int from = MPI_PROC_NULL;
    int send_count = 0;
    int receive_count = 0;
    const std::byte* send = nullptr;
    std::byte* receive = nullptr;
  };

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
