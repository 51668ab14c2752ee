// All messages at once, nonblocking: MPI may move them in any order.

#include <algorithm>
#include <vector>

#include "core/exchange_blocks.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace fourscore {

namespace {

constexpr const char* exchange_name = "p2p";
constexpr int message_tag = 0;

class PointToPoint : public PackedExchange {
 public:
  explicit PointToPoint(const ExchangeSpec& spec) : PackedExchange(spec, exchange_name), sends_(blocks().sends()) {
    // Each rank begins with the rank after it, so that not all send to rank 0 first.
    const int me = mpi::rank_in(spec.comm);
    const auto next = std::ranges::find_if(sends_, [me](const auto& message) { return message.rank > me; });
    std::rotate(sends_.begin(), next, sends_.end());  // std::ranges::rotate of g++ 12's library is beyond Clang 14
    requests_.reserve(sends_.size() + blocks().receives().size());
  }

  void start() override {
    for (const auto& message : blocks().receives())
      FOURSCORE_MPI(MPI_Irecv(address_of_received(message), static_cast<int>(message.count), type(), message.rank,
                              message_tag, comm(), requests_.next()));
    for (const auto& message : sends_)
      FOURSCORE_MPI(MPI_Isend(address_of_sent(message), static_cast<int>(message.count), type(), message.rank,
                              message_tag, comm(), requests_.next()));
  }
  void finish() override { requests_.wait_all(); }

 private:
  std::vector<PackedBlocks::Message> sends_;
  mpi::Requests requests_;
};

class PointToPointMethod : public ExchangeMethod {
 public:
  [[nodiscard]] Card card() const override {
    return {exchange_name, "pack, all MPI_Isend and MPI_Irecv at once, unpack", "MPI 3.1, 3.7"};
  }
  [[nodiscard]] std::unique_ptr<Exchange> make(const ExchangeSpec& spec) const override {
    return std::make_unique<PointToPoint>(spec);
  }
};

FOURSCORE_REGISTER_EXCHANGE(PointToPointMethod);

}  // namespace

}  // namespace fourscore
