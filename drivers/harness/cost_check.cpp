#include "harness/cost_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "interfaces/truncation.hpp"

namespace fourscore {

namespace {

bool deals_evenly(const Problem& problem, Index ranks) {
  const Extents n = problem.complex_extents();
  return std::all_of(n.begin(), n.begin() + static_cast<std::ptrdiff_t>(problem.shape.size()),
                     [&](Index extent) { return extent % (ranks * ranks) == 0; });
}

bool sends_one_message_a_block(const ExchangeMethod* exchange, const std::vector<MessageVolume>& declared) {
  for (const char* cuts_blocks : {"pieces", "packet-bytes"})
    if (exchange != nullptr && std::ranges::count(names_of(exchange->parameters()), cuts_blocks) > 0) return false;
  return std::ranges::all_of(
      declared, [](const MessageVolume& volume) { return volume.bytes_relayed == 0 && volume.bytes_read_shared == 0; });
}

Index payload_bytes(const MessageVolume& volume) {
  return volume.bytes_sent + volume.bytes_read_shared - volume.bytes_relayed;
}

}  // namespace

std::vector<std::string> differences_from_formula(const Problem& problem, const Cost& formula,
                                                  const ExchangeMethod* exchange,
                                                  const std::vector<MessageVolume>& declared) {
  std::vector<std::string> lines;
  if (truncates(problem)) return lines;  // the formula is that of whole transforms
  if (problem.wire == Wire::zfp || !deals_evenly(problem, static_cast<Index>(declared.size()))) return lines;
  const auto compare = [&](const char* what, double by_formula, const auto& count) {
    const Index first = std::invoke(count, declared.front());
    if (!std::ranges::all_of(declared,
                             [&](const MessageVolume& volume) { return std::invoke(count, volume) == first; }))
      return;
    constexpr double rounding = 1e-9;  // from the formula's few operations
    if (std::abs(static_cast<double>(first) - by_formula) > rounding * std::max(1.0, by_formula))
      lines.push_back(fmt::format("{}: {} declared, {} by the formula of cost", what, first, by_formula));
  };
  if (sends_one_message_a_block(exchange, declared))
    compare("messages", formula.messages_per_rank, &MessageVolume::messages_sent);
  compare("bytes", formula.bytes_per_rank, payload_bytes);
  return lines;
}

}  // namespace fourscore
