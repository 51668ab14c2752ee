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

class PointToPoint : public PackedExchange, public PeerwiseExchange {
 public:
  explicit PointToPoint(const ExchangeSpec& spec) : PackedExchange(spec, exchange_name), sends_(blocks().sends()) {
    begin_behind(mpi::rank_in(spec.comm), sends_);
    receiving_.reserve(blocks().receives().size());
    sending_.reserve(sends_.size());
  }

  void start() override {
    post_receives();
    for (std::size_t number = 0; number < sends_.size(); ++number) send(number);
  }
  void finish() override {
    receiving_.wait_all();
    sending_.wait_all();
  }

  [[nodiscard]] PeerwiseExchange* by_peer() override { return this; }
  [[nodiscard]] std::vector<std::span<const std::byte>> sends() const override {
    std::vector<std::span<const std::byte>> list;
    for (const auto& message : sends_) list.emplace_back(address_of_sent(message), bytes_of(message));
    return list;
  }
  [[nodiscard]] std::vector<std::span<std::byte>> receives() const override {
    std::vector<std::span<std::byte>> list;
    for (const auto& message : blocks().receives()) list.emplace_back(address_of_received(message), bytes_of(message));
    return list;
  }
  [[nodiscard]] std::vector<int> receivers() const override { return ranks_of(sends_); }
  [[nodiscard]] std::vector<int> senders() const override { return ranks_of(blocks().receives()); }
  void post_receives() override {
    for (const auto& message : blocks().receives())
      FOURSCORE_MPI(MPI_Irecv(address_of_received(message), static_cast<int>(message.count), type(), message.rank,
                              message_tag, comm(), receiving_.next()));
  }
  void send(std::size_t number) override {
    const auto& message = sends_[number];
    FOURSCORE_MPI(MPI_Isend(address_of_sent(message), static_cast<int>(message.count), type(), message.rank,
                            message_tag, comm(), sending_.next()));
  }
  [[nodiscard]] std::optional<std::size_t> next_arrival(bool waits) override {
    return waits ? receiving_.wait_any() : receiving_.test_any();
  }
  void finish_sends() override { sending_.wait_all(); }

 private:
  static std::vector<int> ranks_of(const std::vector<PackedBlocks::Message>& messages) {
    std::vector<int> ranks;
    for (const auto& message : messages) ranks.push_back(message.rank);
    return ranks;
  }

  std::vector<PackedBlocks::Message> sends_;
  mpi::Requests receiving_;
  mpi::Requests sending_;
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
  [[nodiscard]] Divisible divisible() const override { return Divisible::messages; }
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
