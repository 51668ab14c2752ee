// The exchanges of a distributed transform without the transform: on the rows or columns of a P1 x P2 grid, all at
// once, as the pencil method does them, or among all ranks; and MPI's own collectives beside them. The exchanges are
// those that the variants use, between real decompositions.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <stdexcept>

#include "components/exchange_work.hpp"
#include "components/messages.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace fourscore::component {
namespace {

/// The parameters of the exchanges themselves (pieces, epoch ...), each once. Here is no transform.
std::map<std::string, std::string> exchange_parameters() {
  std::map<std::string, std::string> names;
  for (const auto& exchange : ExchangeRegistry::instance().names())
    for (const Parameter& parameter : ExchangeRegistry::instance().find(exchange)->parameters())
      if (!parameter.of_transforms)
        names[parameter.name] += (names[parameter.name].empty() ? "of exchange " : ", ") + exchange;
  return names;
}

bool read_by_any(const std::vector<std::string>& exchanges, const std::string& parameter) {
  return std::ranges::any_of(exchanges, [&](const std::string& exchange) {
    const auto* method = ExchangeRegistry::instance().find(exchange);
    return method != nullptr && std::ranges::count(names_of(method->parameters()), parameter) > 0;
  });
}

std::vector<std::string> all_exchanges() {
  auto names = ExchangeRegistry::instance().names();
  names.insert(names.end(), collective_names().begin(), collective_names().end());
  return names;
}

/// What was asked for, understood.
struct Asked {
  std::vector<std::string> exchanges;
  std::vector<std::string> communicators;
  std::vector<std::string> parts;
  Grid grid;
  std::vector<Index> sizes;  ///< bytes from each rank to each; empty: those of the shape
  std::optional<Extents> shape;
  Index element_bytes = 8;
  Problem parameters;  ///< for the exchanges

  Asked(const Parameters& given, int ranks);

  /// The exchange of a rank's group; `size`: bytes, where there is no shape.
  [[nodiscard]] GroupExchange group(const std::string& communicator, int rank, Index size) const {
    const Among among = parse_among(communicator);
    if (shape) return pencil_exchange(*shape, grid, among, rank, element_bytes);
    return even_exchange(grid, among, rank, size);
  }

 private:
  static Grid grid_of(const Parameters& given, int ranks);
};

Asked::Asked(const Parameters& given, int ranks)
    : exchanges(given.list("exchange")),
      communicators(given.list("communicator")),
      parts(given.list("parts")),
      grid(grid_of(given, ranks)) {
  if (given.text("shape").empty()) {
    sizes = message_sizes(given, "sizes", element_bytes);
  } else {
    if (given.given("sizes")) given.refuse("sizes", "the parameter 'shape' says the sizes; expected one of the two");
    const auto extents = given.shape("shape");
    if (extents.size() != 3) given.refuse("shape", "the pencil method takes 3 extents, as 128x128x128");
    shape = Extents{extents[0], extents[1], extents[2]};
  }
  element_bytes = shape ? (given.text("precision") == "double" ? 16 : 8) : element_bytes;
  if (!shape && given.given("precision"))
    given.refuse("precision", "only the elements of a 'shape' have a precision; expected a shape, or no precision");
  for (const auto& [name, exchange] : exchange_parameters()) {
    if (!given.given(name)) continue;
    if (!read_by_any(exchanges, name)) given.refuse(name, fmt::format("it is {}, which is not asked for", exchange));
    parameters.parameters[name] = given.text(name);
  }
}

/// The most square of all grids that there are for so many ranks.
Grid Asked::grid_of(const Parameters& given, int ranks) {
  const std::string& text = given.text("grid");
  std::vector<int> extents;
  try {
    extents = parse_grid(text, "parameter 'grid'");
  } catch (const InputError& error) {
    throw ParameterError("grid", error.what());
  }
  if (extents.empty()) return two_dimensional_grids(ranks).front();
  if (extents.size() != 2) given.refuse("grid", "expected P1xP2 or auto");
  if (extents[0] * extents[1] != ranks)
    given.refuse("grid", fmt::format("it has {} places, there are {} ranks", extents[0] * extents[1], ranks));
  return {{extents[0], extents[1], 1}};
}

/// Which ranks share a node.
struct Nodes {
  mpi::Communicator own;     ///< the ranks of this one's
  std::vector<int> of_rank;  ///< the first rank of each rank's

  explicit Nodes(MPI_Comm comm) : own(mpi::split_by_node(comm)), of_rank(static_cast<std::size_t>(mpi::size_of(comm))) {
    int first = mpi::rank_in(comm);
    FOURSCORE_MPI(MPI_Bcast(&first, 1, MPI_INT, 0, own.get()));
    FOURSCORE_MPI(MPI_Allgather(&first, 1, MPI_INT, of_rank.data(), 1, MPI_INT, comm));
  }
};

/// What is sent in one exchange.
struct Sent {
  double bytes = 0;     ///< to other ranks
  double self = 0;      ///< stays
  double off_node = 0;  ///< share of bytes to ranks of other nodes
  double messages = 0;  ///< to other ranks, none of them empty
  double array = 0;     ///< bytes of the larger of the two arrays
};

Sent sent_by(const GroupExchange& group, int rank, const std::vector<int>& nodes) {
  Sent sent;
  const int place = group.place_of(rank);
  sent.array = static_cast<double>(group.array_bytes(place));
  for (int other = 0; other < group.size(); ++other) {
    const auto bytes = static_cast<double>(group.bytes_between(place, other));
    const auto partner = static_cast<std::size_t>(group.ranks[static_cast<std::size_t>(other)]);
    if (other == place) {
      sent.self = bytes;
      continue;
    }
    sent.bytes += bytes;
    sent.messages += bytes > 0 ? 1 : 0;
    if (nodes[partner] != nodes[static_cast<std::size_t>(rank)]) sent.off_node += bytes;
  }
  return sent;
}

/// Collective: number by number the largest of all ranks.
Sent max_of_a_rank(const Sent& mine, MPI_Comm comm) {
  std::array<double, 5> values{mine.bytes, mine.self, mine.off_node, mine.messages, mine.array};
  FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, values.data(), 5, MPI_DOUBLE, MPI_MAX, comm));
  return {values[0], values[1], values[2], values[3], values[4]};
}

/// Collective: bytes, and bytes to other nodes, of the node whose ranks send most together.
std::array<double, 2> max_of_a_node(const Sent& mine, const Nodes& nodes, MPI_Comm comm) {
  std::array<double, 2> values{mine.bytes, mine.off_node};
  FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, values.data(), 2, MPI_DOUBLE, MPI_SUM, nodes.own.get()));
  FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, values.data(), 2, MPI_DOUBLE, MPI_MAX, comm));
  return values;
}

class AlltoallBench : public Program {
 public:
  [[nodiscard]] ProgramCard card() const override {
    std::vector<Parameter> parameters{
        {"exchange", "the exchange; mpi-...: a collective of MPI; all: every one that can run", "alltoallv",
         all_exchanges(), true},
        {"communicator",
         "who exchanges: the rows (P2 ranks) or columns (P1) of the grid, all at once, or all ranks",
         "row",
         {"row", "column", "world"},
         true},
        {"grid", "P1xP2, or auto: the most square", "auto", {}, false},
        {"sizes",
         "bytes from each rank to each: 8, 4KiB, 64MiB joined by commas, or a range as 8..64MiB (by fours)",
         "8..64MiB",
         {},
         false},
        {"shape",
         "instead of sizes, those of the pencil method's exchanges for a grid of elements: 128x128x128",
         "",
         {},
         false},
        {"precision", "of the elements of a shape", "double", {"double", "single"}, false},
        {"parts",
         "pack, messages and unpack as in a transform, or the messages alone",
         "whole",
         {"whole", "transport"},
         true}};
    for (const auto& [name, exchange] : exchange_parameters()) parameters.push_back({name, exchange, "", {}, false});
    return {"alltoall_bench", "all-to-all exchanges on rows, columns or all of a grid of ranks, all at once",
            "czechowski2012", true, std::move(parameters)};
  }

  [[nodiscard]] Reason refuses(const Parameters& given, int ranks) const override {
    const Asked asked(given, ranks);
    for (const auto& communicator : asked.communicators) {
      const Among among = parse_among(communicator);
      if (group_size(asked.grid, among) == 1)
        return fmt::format("a {} of the grid {}x{} has one rank, which has nobody to exchange with", communicator,
                           asked.grid.extents[0], asked.grid.extents[1]);
      if (asked.shape)
        if (auto reason = too_small(*asked.shape, asked.grid, among)) return reason;
    }
    for (const auto& exchange : usable(given, asked))
      if (auto reason = refuses_exchange(given, asked, exchange)) return reason;
    return std::nullopt;
  }

  void add_benchmarks(Session& session) const override {
    const Asked asked(session.parameters(), session.ranks());
    const Nodes nodes(session.comm());
    const std::vector<Index> sizes = asked.shape ? std::vector<Index>{0} : asked.sizes;
    for (const auto& communicator : asked.communicators) {
      const Index largest = *std::max_element(sizes.begin(), sizes.end());
      const Sent most = max_of_a_rank(
          sent_by(asked.group(communicator, session.rank(), largest), session.rank(), nodes.of_rank), session.comm());
      session.require_memory(3 * most.array,
                             fmt::format("source, spare and as much for the exchange, {} each", size_text(most.array)));
      for (const auto& exchange : able(session, usable(session.parameters(), asked)))
        for (const auto& parts : asked.parts)
          for (const Index size : sizes)
            if (!is_collective(exchange) || parts == "whole")
              session.add(benchmark(session, asked, {exchange, communicator, parts, size}, nodes));
    }
  }

 private:
  struct Case {
    std::string exchange;
    std::string communicator;
    std::string parts;
    Index size;
  };

  /// Without those that MPI cannot do between these ranks, which is an error of one that was asked for by name.
  static std::vector<std::string> able(const Session& session, std::vector<std::string> exchanges) {
    const bool all = session.parameters().text("exchange") == "all";
    std::erase_if(exchanges, [&](const std::string& exchange) {
      if (is_collective(exchange)) return false;
      const auto reason = ExchangeRegistry::instance().find(exchange)->cannot_run_on(session.comm());
      if (reason && !all) throw std::runtime_error(fmt::format("exchange '{}': {}", exchange, *reason));
      return reason.has_value();
    });
    return exchanges;
  }

  /// "all" are all that can do what else is asked for; what is asked for by name must be able to.
  static std::vector<std::string> usable(const Parameters& given, const Asked& asked) {
    std::vector<std::string> exchanges = asked.exchanges;
    const bool whole = std::ranges::count(asked.parts, "whole") > 0;
    if (given.text("exchange") == "all")
      std::erase_if(exchanges, [&](const std::string& exchange) {
        return (is_collective(exchange) && !whole) || refuses_exchange(given, asked, exchange).has_value();
      });
    return exchanges;
  }

  static Reason refuses_exchange(const Parameters& given, const Asked& asked, const std::string& exchange) {
    if (!is_collective(exchange)) {
      const ExchangeMethod& method = *ExchangeRegistry::instance().find(exchange);
      if (const std::string reason = method.unavailable(); !reason.empty())
        return fmt::format("exchange '{}' cannot run here: {}", exchange, reason);
      try {
        (void)method.supports(asked.parameters);
      } catch (const InputError& error) {
        for (const auto& [name, value] : asked.parameters.parameters)
          if (std::ranges::count(names_of(method.parameters()), name) > 0) throw ParameterError(name, error.what());
        throw;
      }
      return std::nullopt;
    }
    if (std::ranges::count(asked.parts, "whole") == 0)
      given.refuse("parts", fmt::format("'{}' is one call of MPI; it takes whole", exchange));
    if (!asked.shape || !wants_even(exchange)) return std::nullopt;
    // Within one group all are equal or not, and the same holds for the others.
    for (const auto& communicator : asked.communicators)
      if (!asked.group(communicator, 0, 0).even())
        return fmt::format("the messages of a {} differ in size, and {} takes equal ones", communicator, exchange);
    return std::nullopt;
  }

  /// Collective: the numbers are those of the rank, or the node, that sends most.
  static Benchmark benchmark(const Session& session, const Asked& asked, const Case& what, const Nodes& nodes) {
    const GroupExchange group = asked.group(what.communicator, session.rank(), what.size);
    const Sent mine = sent_by(group, session.rank(), nodes.of_rank);
    const Sent most = max_of_a_rank(mine, session.comm());
    const auto of_node = max_of_a_node(mine, nodes, session.comm());

    Benchmark result;
    const std::string size = asked.shape ? session.parameters().text("shape") : std::to_string(what.size);
    result.name = fmt::format("{}/{}/{}{}", what.exchange, what.communicator,
                              what.parts == "whole" ? "" : what.parts + "/", size);
    result.kernel = "alltoall";
    result.labels = {{"exchange", what.exchange},
                     {"communicator", what.communicator},
                     {"grid", fmt::format("{}x{}", asked.grid.extents[0], asked.grid.extents[1])},
                     {"parts", what.parts}};
    if (asked.shape) result.labels["shape"] = size;
    if (asked.shape) result.labels["precision"] = session.parameters().text("precision");
    result.numbers = {{"bytes", most.bytes},
                      {"bytes_self", most.self},
                      {"bytes_node", of_node[0]},
                      {"bytes_off_node", of_node[1]},
                      {"messages", most.messages},
                      {"ranks_in_communicator", group.size()},
                      {"size_bytes", most.messages > 0 ? most.bytes / most.messages : 0},
                      {"working_set_bytes", 2 * most.array}};
    result.make = [comm = session.comm(), group, what, parameters = asked.parameters]() -> std::unique_ptr<Work> {
      if (is_collective(what.exchange)) return collective_work(comm, what.exchange, group);
      return exchange_work(comm, *ExchangeRegistry::instance().find(what.exchange), parameters, group,
                           what.parts == "whole" ? Parts::whole : Parts::transport);
    };
    return result;
  }
};

}  // namespace
}  // namespace fourscore::component

int main(int argc, char** argv) { return fourscore::component::run(argc, argv, fourscore::component::AlltoallBench()); }
