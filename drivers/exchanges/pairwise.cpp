// One partner at a time. By the schedule `shift`, in step s every rank sends to the rank s further on and receives from
// the rank s before; by `xor` (gupta1993, section 5) it exchanges with the rank whose number is its own with the bits
// of s turned. So no two messages of a step meet at a rank.

#include <fmt/format.h>

#include <bit>
#include <map>
#include <vector>

#include "mpi/error.hpp"
#include "mpi/handles.hpp"
#include "redistribution/exchange_blocks.hpp"

namespace fourscore {

namespace {

constexpr const char* exchange_name = "pairwise";
constexpr int message_tag = 0;

bool turns_bits(const Problem* problem) {
  return problem != nullptr && choice_parameter(*problem, "schedule", {"shift", "xor"}) == "xor";
}

class Pairwise : public PackedExchange {
 public:
  explicit Pairwise(const ExchangeSpec& spec) : PackedExchange(spec, exchange_name) {
    const int ranks = spec.from.ranks();
    const int me = mpi::rank_in(spec.comm);
    const bool by_bits = turns_bits(spec.problem);
    const auto step_of = [&](int from, int to) { return by_bits ? from ^ to : (to - from + ranks) % ranks; };
    // Only steps in which this rank has a partner: few of many ranks may have elements for it.
    std::map<int, Step> steps;
    for (const auto& message : blocks().sends()) {
      Step& step = steps[step_of(me, message.rank)];
      step.to = message.rank;
      step.send_count = static_cast<int>(message.count);
      step.send = address_of_sent(message);
    }
    for (const auto& message : blocks().receives()) {
      Step& step = steps[step_of(message.rank, me)];
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
    return {exchange_name, "pack, MPI_Sendrecv with one partner at a time, unpack", "MPI 3.1, 3.10; gupta1993"};
  }
  [[nodiscard]] std::vector<Parameter> parameters() const override {
    return {{"schedule",
             "the order of the partners: the next rank first, or numbers that differ in the bits of a step",
             "shift",
             {"shift", "xor"}}};
  }
  [[nodiscard]] Reason supports(const Problem& problem) const override {
    (void)turns_bits(&problem);
    return std::nullopt;
  }
  [[nodiscard]] Reason supports_group(const Problem& problem, int ranks) const override {
    if (!turns_bits(&problem) || std::has_single_bit(static_cast<unsigned>(ranks))) return std::nullopt;
    return fmt::format("schedule=xor among {} ranks, which is no power of two; schedule=shift takes any number", ranks);
  }
  [[nodiscard]] Divisible divisible() const override { return Divisible::copies; }
  [[nodiscard]] std::unique_ptr<Exchange> make(const ExchangeSpec& spec) const override {
    return std::make_unique<Pairwise>(spec);
  }
};

FOURSCORE_REGISTER_EXCHANGE(PairwiseMethod);

}  // namespace

}  // namespace fourscore
