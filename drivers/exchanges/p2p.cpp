// All messages at once, nonblocking: MPI may move them in any order.

#include <algorithm>
#include <vector>

#include "mpi/error.hpp"
#include "mpi/handles.hpp"
#include "redistribution/piecewise_exchange.hpp"

namespace fourscore {

namespace {

constexpr const char* exchange_name = "p2p";
constexpr int message_tag = 0;

/// Each rank begins with the rank after it, so that not all send to rank 0 first.
void begin_behind(int me, std::vector<PackedBlocks::Message>& sends) {
  const auto next = std::ranges::find_if(sends, [me](const auto& message) { return message.rank > me; });
  std::rotate(sends.begin(), next, sends.end());  // std::ranges::rotate of g++ 12's library is beyond Clang 14
}

class PointToPoint : public PackedExchange {
 public:
  explicit PointToPoint(const ExchangeSpec& spec) : PackedExchange(spec, exchange_name), sends_(blocks().sends()) {
    begin_behind(mpi::rank_in(spec.comm), sends_);
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

/// The piece is the tag. What is sent must not be waited for before the end: nothing is written over it.
class PointToPointPieces : public PiecewiseExchange {
 public:
  PointToPointPieces(const ExchangeSpec& spec, const PieceSpec& pieces)
      : PiecewiseExchange(spec, pieces, exchange_name), receives_(static_cast<std::size_t>(pieces.pieces)) {
    std::size_t sends = 0;
    for (int k = 0; k < this->pieces(); ++k) {
      begin_behind(mpi::rank_in(spec.comm), sends_.emplace_back(sent(k)));
      sends += sent(k).size();
      receives_[static_cast<std::size_t>(k)].reserve(received(k).size());
    }
    sending_.reserve(sends);
  }

 private:
  void start_piece(int piece) override {
    if (piece == 0)
      for (int k = 0; k < pieces(); ++k)
        for (const auto& message : received(k))
          FOURSCORE_MPI(MPI_Irecv(address_of_received(message), static_cast<int>(message.count), type(), message.rank,
                                  k, comm(), receives_[static_cast<std::size_t>(k)].next()));
    sending_.test_all();
    for (const auto& message : sends_[static_cast<std::size_t>(piece)])
      FOURSCORE_MPI(MPI_Isend(address_of_sent(message), static_cast<int>(message.count), type(), message.rank, piece,
                              comm(), sending_.next()));
  }
  void finish_piece(int piece) override {
    receives_[static_cast<std::size_t>(piece)].wait_all();
    if (piece == pieces() - 1) sending_.wait_all();
  }

  std::vector<std::vector<Message>> sends_;  ///< by piece
  std::vector<mpi::Requests> receives_;      ///< by piece
  mpi::Requests sending_;
};

class PointToPointMethod : public ExchangeMethod, public PiecewiseMethod {
 public:
  [[nodiscard]] Card card() const override {
    return {exchange_name, "pack, all MPI_Isend and MPI_Irecv at once, unpack", "MPI 3.1, 3.7"};
  }
  [[nodiscard]] std::unique_ptr<Exchange> make(const ExchangeSpec& spec) const override {
    return std::make_unique<PointToPoint>(spec);
  }
  [[nodiscard]] std::unique_ptr<PiecewiseExchange> make_in_pieces(const ExchangeSpec& spec,
                                                                  const PieceSpec& pieces) const override {
    return std::make_unique<PointToPointPieces>(spec, pieces);
  }
};

FOURSCORE_REGISTER_EXCHANGE(PointToPointMethod);

}  // namespace

}  // namespace fourscore
