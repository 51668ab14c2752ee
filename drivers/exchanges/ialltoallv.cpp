// MPI_Ialltoallv on packed blocks: the nonblocking collective. Alone it does what alltoallv does, by whatever algorithm
// MPI has for the nonblocking form; in pieces it can be in flight while others are computed.

#include <memory>
#include <vector>

#include "mpi/error.hpp"
#include "redistribution/piecewise_exchange.hpp"

namespace fourscore {

namespace {

constexpr const char* exchange_name = "ialltoallv";

class Ialltoallv : public PackedExchange {
 public:
  explicit Ialltoallv(const ExchangeSpec& spec)
      : PackedExchange(spec, exchange_name), counts_(spec.from.ranks(), blocks().sends(), blocks().receives()) {
    require_int_count(blocks().agreement().largest_array, "a local array", exchange_name);
    request_.reserve(1);
  }

  void start() override {
    if (blocks().agreement().moves_nothing) return;
    FOURSCORE_MPI(MPI_Ialltoallv(blocks().send_buffer(), counts_.send_counts.data(), counts_.send_displacements.data(),
                                 type(), blocks().receive_buffer(), counts_.receive_counts.data(),
                                 counts_.receive_displacements.data(), type(), comm(), request_.next()));
  }
  void finish() override { request_.wait_all(); }

 private:
  CollectiveCounts counts_;
  mpi::Requests request_{mpi::RequestsOf::collectives};
};

class IalltoallvPieces : public PiecewiseExchange {
 public:
  IalltoallvPieces(const ExchangeSpec& spec, const PieceSpec& pieces) : PiecewiseExchange(spec, pieces, exchange_name) {
    require_int_count(agreement().largest_array, "a local array",
                      pieces.exchange == nullptr ? exchange_name : pieces.exchange);
    for (int k = 0; k < this->pieces(); ++k) {
      counts_.emplace_back(spec.from.ranks(), sent(k), received(k));
      requests_.emplace_back(mpi::RequestsOf::collectives).reserve(1);
    }
  }

 private:
  void start_piece(int piece) override {
    const auto at = static_cast<std::size_t>(piece);
    if (piece > 0) requests_[at - 1].test_all();
    const CollectiveCounts& counts = counts_[at];
    FOURSCORE_MPI(MPI_Ialltoallv(send_buffer(), counts.send_counts.data(), counts.send_displacements.data(), type(),
                                 receive_buffer(), counts.receive_counts.data(), counts.receive_displacements.data(),
                                 type(), comm(), requests_[at].next()));
  }
  void finish_piece(int piece) override { requests_[static_cast<std::size_t>(piece)].wait_all(); }

  std::vector<CollectiveCounts> counts_;  ///< by piece
  std::vector<mpi::Requests> requests_;   ///< by piece, one each
};

class IalltoallvMethod : public ExchangeMethod, public PiecewiseMethod {
 public:
  [[nodiscard]] Card card() const override {
    return {exchange_name, "pack, one MPI_Ialltoallv and its wait, unpack", "MPI 3.1, 5.12"};
  }
  [[nodiscard]] Divisible divisible() const override { return Divisible::copies; }
  [[nodiscard]] std::unique_ptr<Exchange> make(const ExchangeSpec& spec) const override {
    return std::make_unique<Ialltoallv>(spec);
  }
  [[nodiscard]] std::unique_ptr<PiecewiseExchange> make_in_pieces(const ExchangeSpec& spec,
                                                                  const PieceSpec& pieces) const override {
    return std::make_unique<IalltoallvPieces>(spec, pieces);
  }
};

FOURSCORE_REGISTER_EXCHANGE(IalltoallvMethod);

}  // namespace

}  // namespace fourscore
