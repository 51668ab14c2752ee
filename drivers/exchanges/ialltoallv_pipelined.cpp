// ialltoallv in pieces: piece k + 1 is packed while piece k is in flight, and what has arrived is unpacked while later
// pieces still are.

#include <memory>

#include "core/parameters.hpp"
#include "core/piecewise_exchange.hpp"

namespace fourscore {

namespace {

constexpr const char* exchange_name = "ialltoallv-pipelined";

int pieces_of(const Problem& problem) {
  return static_cast<int>(integer_parameter(problem, "pieces", default_pieces, 1, most_pieces));
}

class IalltoallvPipelinedMethod : public ExchangeMethod {
 public:
  [[nodiscard]] Card card() const override {
    return {exchange_name, "ialltoallv with the blocks cut in pieces: packing and unpacking overlap the flight",
            "gupta1993, appendix E"};
  }
  [[nodiscard]] std::vector<std::string> parameters() const override { return {"pieces"}; }
  [[nodiscard]] std::map<std::string, std::vector<std::string>> sample_parameters() const override {
    return {{"pieces", {"1", "3", "9"}}};
  }
  void check_parameters(const Problem& problem) const override { (void)pieces_of(problem); }
  [[nodiscard]] std::unique_ptr<Exchange> make(const ExchangeSpec& spec) const override {
    PieceSpec pieces;
    pieces.pieces = spec.problem == nullptr ? default_pieces : pieces_of(*spec.problem);
    pieces.exchange = exchange_name;
    return ExchangeRegistry::instance().get("ialltoallv", "exchange").make_in_pieces(spec, pieces);
  }
};

FOURSCORE_REGISTER_EXCHANGE(IalltoallvPipelinedMethod);

}  // namespace

}  // namespace fourscore
