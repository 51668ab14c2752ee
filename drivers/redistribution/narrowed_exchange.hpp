#pragma once
// Data of double precision in messages of single precision: half the bytes, for a rounding of every element in every
// exchange (czechowski2012, section 7, names compression as a way past the network).

#include <memory>

#include "redistribution/wired_method.hpp"

namespace fourscore {

/// Exchanges of another method, of arrays that are narrowed before and widened after:
///   pack     source -> spare, each number rounded; then what the other method packs, spare as its source
///   unpack   what the other method unpacks; then from where that leaves it -> the other array
/// An exchange without messages on any rank is the other method's own, and rounds nothing. The block that stays on
/// its rank is rounded with the others.
class NarrowedMethod : public WiredMethod {
 public:
  using WiredMethod::WiredMethod;
  [[nodiscard]] std::size_t staging_bytes(const ExchangeSpec& spec) const override;
  [[nodiscard]] std::unique_ptr<Exchange> make(const ExchangeSpec& spec) const override;
};

}  // namespace fourscore
