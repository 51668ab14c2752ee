// Within the node first, then between nodes: the ranks of a node lay their blocks for another node side by side in a
// shared window, one of them sends all as one message to its partner there, and the ranks of that node take their
// blocks out of the window. A node sends as many messages as there are other nodes, not ranks on them. Blocks for
// neighbours are read from the window. As in kandalla2009, the messages of a node may be dealt to several leaders.

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <map>
#include <memory>
#include <stdexcept>
#include <vector>

#include "core/parameters.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"
#include "redistribution/shared_buffer.hpp"
#include "redistribution/staging.hpp"

namespace fourscore {

namespace {

constexpr const char* exchange_name = "hierarchical";
constexpr int message_tag = 0;
constexpr Index max_leaders = 1024;

int leaders_of(const Problem& problem) {
  return static_cast<int>(integer_parameter(problem, "leaders", 1, 1, max_leaders));
}

/// Which ranks of the exchange share a node. Nodes are numbered by their first rank.
struct Nodes {
  std::vector<int> node_of;               ///< by rank
  std::vector<std::vector<int>> members;  ///< by node, ascending

  Nodes(MPI_Comm comm, MPI_Comm node) {
    int first = mpi::translate_ranks(node, comm).front();
    std::vector<int> firsts(static_cast<std::size_t>(mpi::size_of(comm)));
    FOURSCORE_MPI(MPI_Allgather(&first, 1, MPI_INT, firsts.data(), 1, MPI_INT, comm));
    std::map<int, int> numbers;
    for (std::size_t rank = 0; rank < firsts.size(); ++rank) {
      const auto [entry, is_new] = numbers.try_emplace(firsts[rank], static_cast<int>(members.size()));
      if (is_new) members.emplace_back();
      node_of.push_back(entry->second);
      members[static_cast<std::size_t>(entry->second)].push_back(static_cast<int>(rank));
    }
  }
  [[nodiscard]] int count() const { return static_cast<int>(members.size()); }
  [[nodiscard]] const std::vector<int>& of(int node) const { return members[static_cast<std::size_t>(node)]; }
  /// The number, within its node, of the rank that deals with another node.
  [[nodiscard]] int leader(int node, int other, int leaders) const {
    return other % std::min(leaders, static_cast<int>(of(node).size()));
  }
};

struct NodeMessages;

/// Where the blocks lie in the parts of the node's window, in elements. Every rank of the node computes the same.
struct WindowMap {
  struct Part {
    std::map<int, Index> to_neighbour;  ///< by rank of the exchange
    std::map<int, Index> to_node;
    std::map<int, Index> from_node;
    Index elements = 0;
  };
  std::vector<Part> parts;  ///< by number within the node

  WindowMap(const ExchangeSpec& spec, const Nodes& nodes, const NodeMessages& messages, int node, int leaders);
};

Index volume(const ExchangeSpec& spec, int sender, int receiver) {
  return block_between(spec.from, sender, spec.to, receiver).volume();
}

/// What goes between this rank's node and the others, in elements. A message from one node to another holds the blocks
/// by sender and then by receiver. It covers each pair of ranks one of which is on this node.
struct NodeMessages {
  std::vector<Index> to_node;  ///< by node: the whole message
  std::vector<Index> from_node;
  std::vector<Index> place_to;  ///< by rank: before this rank's block for it, in the message to its node
  std::vector<Index> place_from;

  NodeMessages(const ExchangeSpec& spec, const Nodes& nodes, int own, int me)
      : to_node(static_cast<std::size_t>(nodes.count()), 0),
        from_node(to_node),
        place_to(nodes.node_of.size(), 0),
        place_from(place_to) {
    const auto node_of = [&](int rank) {
      return static_cast<std::size_t>(nodes.node_of[static_cast<std::size_t>(rank)]);
    };
    for (const int sender : nodes.of(own))
      for (const Overlap& block : spec.to.overlaps(spec.from.box(sender))) {
        Index& filled = to_node[node_of(block.rank)];
        if (sender == me) place_to[static_cast<std::size_t>(block.rank)] = filled;
        filled += block.box.volume();
      }
    // By sender: what is for this rank's predecessors on the node, and for all of the node.
    std::vector<Index> before_me(nodes.node_of.size(), 0);
    std::vector<Index> for_all(before_me);
    for (const int receiver : nodes.of(own))
      for (const Overlap& block : spec.from.overlaps(spec.to.box(receiver))) {
        for_all[static_cast<std::size_t>(block.rank)] += block.box.volume();
        if (receiver < me) before_me[static_cast<std::size_t>(block.rank)] += block.box.volume();
      }
    for (std::size_t sender = 0; sender < for_all.size(); ++sender) {
      Index& filled = from_node[node_of(static_cast<int>(sender))];
      place_from[sender] = filled + before_me[sender];
      filled += for_all[sender];
    }
  }
};

WindowMap::WindowMap(const ExchangeSpec& spec, const Nodes& nodes, const NodeMessages& messages, int node,
                     int leaders) {
  const std::vector<int>& members = nodes.of(node);
  for (int number = 0; number < static_cast<int>(members.size()); ++number) {
    Part& part = parts.emplace_back();
    for (const int neighbour : members) {
      const int rank = members[static_cast<std::size_t>(number)];
      if (neighbour == rank) continue;
      part.to_neighbour[neighbour] = part.elements;
      part.elements += volume(spec, rank, neighbour);
    }
    for (int other = 0; other < nodes.count(); ++other) {
      if (other == node || nodes.leader(node, other, leaders) != number) continue;
      part.to_node[other] = part.elements;
      part.elements += messages.to_node[static_cast<std::size_t>(other)];
      part.from_node[other] = part.elements;
      part.elements += messages.from_node[static_cast<std::size_t>(other)];
    }
  }
}

/// What this rank knows of the nodes, which are those of the whole plan. Collective.
struct Surroundings {
  mpi::Communicator plan_node;  ///< the plan's ranks on this node: they share the window
  mpi::Communicator node;       ///< those of them that take part in the exchange
  Nodes nodes;
  int own;     ///< number of this rank's node
  int number;  ///< this rank's, within it
  int leaders;
  NodeMessages messages;
  WindowMap map;

  explicit Surroundings(const ExchangeSpec& spec)
      : plan_node(mpi::split_by_pretended_node(spec.agreeing_comm())),
        node(mpi::split(spec.comm, mpi::translate_ranks(plan_node.get(), spec.agreeing_comm()).front(),
                        mpi::rank_in(spec.comm))),
        nodes(spec.comm, node.get()),
        own(nodes.node_of[static_cast<std::size_t>(mpi::rank_in(spec.comm))]),
        number(mpi::rank_in(node.get())),
        leaders(leaders_of(spec.problem == nullptr ? Problem{} : *spec.problem)),
        messages(spec, nodes, own, mpi::rank_in(spec.comm)),
        map(spec, nodes, messages, own, leaders) {}
  [[nodiscard]] const WindowMap::Part& part(int of) const { return map.parts[static_cast<std::size_t>(of)]; }
  [[nodiscard]] std::size_t window_bytes(std::size_t element_bytes) const {
    return static_cast<std::size_t>(part(number).elements) * element_bytes;
  }
};

class Hierarchical : public StagedExchange {
 public:
  Hierarchical(const ExchangeMethod& method, const ExchangeSpec& spec) : StagedExchange(spec, exchange_name) {
    if (moves_nothing()) return;
    Surroundings around(spec);
    agree_on_counts(spec, around);
    stage(spec, method, around.window_bytes(spec.element_bytes));
    find_segments(around.node.get());
    plan_pack(spec, around);
    plan_messages(around);
    plan_reads(spec, around);
    add_own_block(spec, unpack_steps());
    state_copies();
    shares_window_ =
        spec.staging != nullptr && mpi::size_of(around.plan_node.get()) < mpi::size_of(spec.agreeing_comm());
    declared().unpacks = declared().unpacks || shares_window_;
    node_ = std::move(around.node);
    plan_node_ = std::move(around.plan_node);
  }

  /// Neighbours meet twice in a run: when all have packed, and when all has been read and received. What unpack() reads
  /// is written again only after the first meeting of the next run.
  void start() override {
    if (moves_nothing()) return;
    meet(node_.get());
    for (const Message& message : receives_)
      FOURSCORE_MPI(
          MPI_Irecv(message.place, message.count, type(), message.rank, message_tag, comm(), requests_.next()));
    for (const Message& message : sends_)
      FOURSCORE_MPI(
          MPI_Isend(message.place, message.count, type(), message.rank, message_tag, comm(), requests_.next()));
    reads_.run();
  }
  void finish() override {
    if (moves_nothing()) return;
    requests_.wait_all();
    meet(node_.get());
  }
  /// Where the next exchange of the plan lays its blocks into the same window, and ranks write into that of their
  /// leader, none may begin while another on the node still unpacks.
  void unpack() override {
    StagedExchange::unpack();
    if (shares_window_) meet(plan_node_.get());
  }

 private:
  struct Message {
    int rank;
    int count;
    std::byte* place;
  };

  static void agree_on_counts(const ExchangeSpec& spec, const Surroundings& around) {
    Index largest = 0;
    for (int other = 0; other < around.nodes.count(); ++other)
      if (other != around.own) largest = std::max(largest, around.messages.to_node[static_cast<std::size_t>(other)]);
    FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_INT64_T, MPI_MAX, spec.agreeing_comm()));
    require_int_count(largest, "the blocks from one node to another", exchange_name);
  }

  void find_segments(MPI_Comm node) {
    const Buffer& window = staging().memory();
    for (const int rank : mpi::translate_ranks(node, window.allocating_comm())) {
      auto* segment = rank == MPI_UNDEFINED ? nullptr : static_cast<std::byte*>(window.peer(rank));
      if (segment == nullptr)
        throw std::invalid_argument("exchange 'hierarchical': staging that neighbours do not see");
      segments_.push_back(segment);
    }
  }
  [[nodiscard]] std::byte* place(int number_in_node, Index element) const {
    return segments_[static_cast<std::size_t>(number_in_node)] + element * element_bytes();
  }

  void plan_pack(const ExchangeSpec& spec, const Surroundings& around) {
    const int me = mpi::rank_in(spec.comm);
    for (const int rank : receivers_of(spec)) {
      const Block block = block_between(spec.from, me, spec.to, rank);
      const int other = around.nodes.node_of[static_cast<std::size_t>(rank)];
      if (other == around.own) {
        pack_into(spec, block, place(around.number, around.part(around.number).to_neighbour.at(rank)));
      } else {
        const int leader = around.nodes.leader(around.own, other, around.leaders);
        pack_into(spec, block,
                  place(leader, around.part(leader).to_node.at(other) +
                                    around.messages.place_to[static_cast<std::size_t>(rank)]));
      }
    }
  }

  /// A leader's messages, to and from the leaders of other nodes that deal with this one.
  void plan_messages(const Surroundings& around) {
    const Nodes& nodes = around.nodes;
    const WindowMap::Part& mine = around.part(around.number);
    for (const auto& [other, element] : mine.to_node) {
      const int partner = nodes.of(other)[static_cast<std::size_t>(nodes.leader(other, around.own, around.leaders))];
      if (const Index count = around.messages.to_node[static_cast<std::size_t>(other)]; count > 0) {
        sends_.push_back({partner, static_cast<int>(count), place(around.number, element)});
        declared().volume.bytes_sent += count * element_bytes();
        declared().volume.messages_sent += 1;
      }
      if (const Index count = around.messages.from_node[static_cast<std::size_t>(other)]; count > 0)
        receives_.push_back({partner, static_cast<int>(count), place(around.number, mine.from_node.at(other))});
    }
    requests_.reserve(sends_.size() + receives_.size());
  }

  void plan_reads(const ExchangeSpec& spec, const Surroundings& around) {
    const int me = mpi::rank_in(spec.comm);
    const Nodes& nodes = around.nodes;
    for (const int rank : starting_after(me, senders_to(spec))) {
      const Block block = block_between(spec.from, rank, spec.to, me);
      const Index bytes = block.volume() * element_bytes();
      const int other = nodes.node_of[static_cast<std::size_t>(rank)];
      if (other == around.own) {
        const auto& members = nodes.of(around.own);
        const auto number = static_cast<int>(std::ranges::find(members, rank) - members.begin());
        reads_.push_back(copy_out(spec, block, place(number, around.part(number).to_neighbour.at(me))));
        declared().volume.bytes_read_shared += bytes;
        continue;
      }
      const int leader = nodes.leader(around.own, other, around.leaders);
      unpack_from(spec, block,
                  place(leader, around.part(leader).from_node.at(other) +
                                    around.messages.place_from[static_cast<std::size_t>(rank)]));
      if (leader == around.number) continue;
      declared().volume.bytes_read_shared += bytes;
      declared().volume.bytes_relayed += bytes;
    }
  }

  void meet(MPI_Comm ranks) const {
    if (mpi::size_of(ranks) == 1) return;
    staging().memory().sync();
    FOURSCORE_MPI(MPI_Barrier(ranks));
    staging().memory().sync();
  }

  mpi::Communicator node_;
  mpi::Communicator plan_node_;
  bool shares_window_ = false;        ///< with other exchanges of a plan that spans several nodes
  std::vector<std::byte*> segments_;  ///< in the window, by number within the node
  CopySteps reads_;                   ///< copy neighbours' blocks
  std::vector<Message> sends_;
  std::vector<Message> receives_;
  mpi::Requests requests_;
};

class HierarchicalMethod : public ExchangeMethod {
 public:
  [[nodiscard]] Card card() const override {
    return {exchange_name, "within the node through a shared window, between nodes one message for each pair of nodes",
            "kandalla2009"};
  }
  [[nodiscard]] std::vector<Parameter> parameters() const override {
    return {{.name = "leaders",
             .summary =
                 fmt::format("ranks of a node over which its messages to other nodes are dealt: 1 to {}", max_leaders),
             .fallback = "1",
             .samples = {"1", "2"}}};
  }
  [[nodiscard]] Reason supports(const Problem& problem) const override {
    (void)leaders_of(problem);
    return std::nullopt;
  }
  [[nodiscard]] std::size_t staging_bytes(const ExchangeSpec& spec) const override {
    return Surroundings(spec).window_bytes(spec.element_bytes);
  }
  /// The staging is a window of the node.
  [[nodiscard]] std::unique_ptr<Buffer> allocate(MPI_Comm comm, std::size_t bytes, BufferUse use) const override {
    if (use != BufferUse::staging) return ordinary_buffer(bytes);
    return std::make_unique<SharedBuffer>(comm, mpi::split_by_pretended_node(comm), bytes);
  }
  [[nodiscard]] std::unique_ptr<Exchange> make(const ExchangeSpec& spec) const override {
    return std::make_unique<Hierarchical>(*this, spec);
  }
};

FOURSCORE_REGISTER_EXCHANGE(HierarchicalMethod);

}  // namespace

}  // namespace fourscore
