#include "redistribution/wired_method.hpp"

#include <complex>
#include <stdexcept>

#include "redistribution/exchange_blocks.hpp"
#include "redistribution/narrowed_exchange.hpp"
#include "redistribution/zfp_exchange.hpp"

namespace fourscore {

bool WiredMethod::sends_nothing(const ExchangeSpec& spec) {
  if (spec.element_bytes != sizeof(std::complex<double>))
    throw std::invalid_argument("smaller messages of elements that are no complex numbers of double precision");
  return agree(spec).largest_block == 0;
}

std::unique_ptr<ExchangeMethod> wired(const Problem& problem, const ExchangeMethod& inner) {
  if (problem.wire == Wire::single) return std::make_unique<NarrowedMethod>(inner);
  if (problem.wire == Wire::zfp) return std::make_unique<ZfpMethod>(inner);
  throw std::logic_error("messages that hold the data as it is are the exchange's own");
}

}  // namespace fourscore
