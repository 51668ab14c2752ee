// p2p and ialltoallv in pieces: piece k + 1 is packed while piece k is in flight, and what has arrived is unpacked
// while later pieces still are.

#include <memory>
#include <string>

#include "redistribution/piecewise_exchange.hpp"

namespace fourscore {

namespace {

/// The pipelined form of an exchange that goes in pieces.
class Pipelined : public ExchangeMethod {
 public:
  explicit Pipelined(std::string plain) : plain_(std::move(plain)), name_(plain_ + "-pipelined") {}

  [[nodiscard]] Card card() const override {
    return {name_, plain_ + " with the blocks cut in pieces: packing and unpacking overlap the flight",
            "gupta1993, appendix E"};
  }
  [[nodiscard]] std::vector<Parameter> parameters() const override { return {pieces_parameter()}; }
  [[nodiscard]] Reason supports(const Problem& problem) const override {
    (void)pieces_of(problem);
    return std::nullopt;
  }
  [[nodiscard]] std::size_t staging_bytes(const ExchangeSpec& spec) const override {
    return PiecewiseExchange::staging_bytes(spec);
  }
  [[nodiscard]] std::unique_ptr<Exchange> make(const ExchangeSpec& spec) const override {
    PieceSpec pieces;
    pieces.pieces = pieces_of(spec.problem == nullptr ? Problem{} : *spec.problem);
    pieces.exchange = name_.c_str();
    return piecewise(ExchangeRegistry::instance().get(plain_, "exchange"))->make_in_pieces(spec, pieces);
  }

 private:
  std::string plain_;
  std::string name_;
};

class PointToPointPipelined : public Pipelined {
 public:
  PointToPointPipelined() : Pipelined("p2p") {}
};
class IalltoallvPipelined : public Pipelined {
 public:
  IalltoallvPipelined() : Pipelined("ialltoallv") {}
};

FOURSCORE_REGISTER_EXCHANGE(PointToPointPipelined);
FOURSCORE_REGISTER_EXCHANGE(IalltoallvPipelined);

}  // namespace

}  // namespace fourscore
