#pragma once
// Whether plans declare what the paper's formula of their variant says.

#include <string>
#include <vector>

#include "interfaces/variant.hpp"

namespace fourscore {

/// One line for each number in which they differ: "messages: 6 declared, 4 by the formula of cost". `declared` is by
/// rank, all instances; `formula` is cost_of_instances().
///
/// A formula deals evenly. So only an even case is compared: every extent (of the complex data) is a multiple of the
/// square of the number of ranks, so that each rank has something for each other one wherever an axis is cut twice, and
/// every rank declares the same, and not where compression fills whole words. What is relayed counts once. Messages are
/// compared where the exchange sends one for each block: it relays nothing, reads no shared memory and has no parameter
/// `pieces`.
[[nodiscard]] std::vector<std::string> differences_from_formula(const Problem& problem, const Cost& formula,
                                                                const ExchangeMethod* exchange,
                                                                const std::vector<MessageVolume>& declared);

}  // namespace fourscore
