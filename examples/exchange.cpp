// The smallest exchange: no send waits, and each rank receives its messages one after another, by rank. PackedExchange
// does all but the messages.

#include "mpi/error.hpp"
#include "redistribution/exchange_blocks.hpp"

namespace {

using namespace fourscore;

class InOrder : public PackedExchange {
 public:
  explicit InOrder(const ExchangeSpec& spec) : PackedExchange(spec, "in-order") {
    requests_.reserve(blocks().sends().size());
  }
  void start() override {
    for (const auto& message : blocks().sends())
      FOURSCORE_MPI(MPI_Isend(address_of_sent(message), static_cast<int>(message.count), type(), message.rank, 0,
                              comm(), requests_.next()));
    for (const auto& message : blocks().receives())
      FOURSCORE_MPI(MPI_Recv(address_of_received(message), static_cast<int>(message.count), type(), message.rank, 0,
                             comm(), MPI_STATUS_IGNORE));
  }
  void finish() override { requests_.wait_all(); }

 private:
  mpi::Requests requests_;
};

class InOrderMethod : public ExchangeMethod {
 public:
  Card card() const override { return {"in-order", "messages received one after another, by rank", "an example"}; }
  std::unique_ptr<Exchange> make(const ExchangeSpec& spec) const override { return std::make_unique<InOrder>(spec); }
};

FOURSCORE_REGISTER_EXCHANGE(InOrderMethod);

}  // namespace
