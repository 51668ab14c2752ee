#pragma once
// Messages compressed by libzfp (lindstrom2014) to a fixed number of bits, where this build has it.

#include <memory>
#include <string>
#include <vector>

#include "redistribution/wired_method.hpp"

namespace fourscore {

/// Empty, or why no message can be compressed here.
[[nodiscard]] std::string zfp_unavailable();

/// Packed blocks, each compressed after packing and decompressed before unpacking, so that a message of n complex
/// numbers has 2 n times the parameter zfp-rate bits, in whole blocks of 4 numbers and whole words of 8 bytes. The
/// block that stays on its rank is not compressed, and an exchange without messages is the other method's own.
///
/// Numbers are compressed in one dimension: a block of 4, in order of the message, has one exponent. At r bits a number
/// 4 r - 12 bits are left for bit planes of the block, of which each takes at most 5, but for 4 more in all. So at
/// least (4 r - 16) / 5 planes are kept, and no number is off by more than 2^(2 - planes) times the largest of its
/// block: 2 for what the block's transform amplifies.
class ZfpMethod : public WiredMethod {
 public:
  using WiredMethod::WiredMethod;
  [[nodiscard]] std::vector<Parameter> parameters() const override;
  [[nodiscard]] Reason supports(const Problem& problem) const override;
  [[nodiscard]] std::unique_ptr<Exchange> make(const ExchangeSpec& spec) const override;
};

}  // namespace fourscore
