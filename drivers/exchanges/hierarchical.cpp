// Within the node first, then between nodes: the ranks of a node lay their blocks for another node side by side in a
// shared window, one of them sends all as one message to its partner there, and the ranks of that node take their
// blocks out of the window. A node sends as many messages as there are other nodes, not ranks on them. Blocks for
// neighbours are read from the window. As in kandalla2009, the messages of a node may be dealt to several leaders.

#include <mpi.h>

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "core/exchange_blocks.hpp"
#include "core/parameters.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace fourscore {

namespace {

constexpr const char* exchange_name = "hierarchical";
constexpr int message_tag = 0;
constexpr Index most_leaders = 1024;

int leaders_of(const ExchangeSpec& spec) {
  const Problem defaults;
  const Problem& problem = spec.problem == nullptr ? defaults : *spec.problem;
  return static_cast<int>(integer_parameter(problem, "leaders", 1, 1, most_leaders));
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

/// Where the blocks lie in the parts of the node's window, in elements. Every rank of the node computes the same.
struct WindowMap {
  struct Part {
    std::map<int, Index> to_neighbour;  ///< by rank of the exchange
    std::map<int, Index> to_node;
    std::map<int, Index> from_node;
    Index elements = 0;
  };
  std::vector<Part> parts;  ///< by number within the node

  WindowMap(const ExchangeSpec& spec, const Nodes& nodes, int node, int leaders);
};

Index volume(const ExchangeSpec& spec, int sender, int receiver) {
  return block_between(spec.from, sender, spec.to, receiver).volume();
}

/// Elements from one node to another; the blocks lie by sender and then by receiver.
Index volume_between(const ExchangeSpec& spec, const Nodes& nodes, int from, int to) {
  Index sum = 0;
  for (const int sender : nodes.of(from))
    for (const int receiver : nodes.of(to)) sum += volume(spec, sender, receiver);
  return sum;
}

/// Elements before the block of this sender for this receiver, of another node.
Index place_between(const ExchangeSpec& spec, const Nodes& nodes, int sender, int receiver) {
  const int from = nodes.node_of[static_cast<std::size_t>(sender)];
  const int to = nodes.node_of[static_cast<std::size_t>(receiver)];
  Index sum = 0;
  for (const int s : nodes.of(from))
    for (const int r : nodes.of(to)) {
      if (s == sender && r == receiver) return sum;
      sum += volume(spec, s, r);
    }
  return sum;
}

WindowMap::WindowMap(const ExchangeSpec& spec, const Nodes& nodes, int node, int leaders) {
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
      part.elements += volume_between(spec, nodes, node, other);
      part.from_node[other] = part.elements;
      part.elements += volume_between(spec, nodes, other, node);
    }
  }
}

class Hierarchical : public Exchange {
 public:
  explicit Hierarchical(const ExchangeSpec& spec)
      : moves_nothing_(agreed_moves_nothing(spec)),
        comm_(mpi::duplicate(spec.comm)),
        node_(mpi::split_by_pretended_node(spec.comm)),
        type_(mpi::element_type(spec.element_bytes)),
        element_bytes_(static_cast<Index>(spec.element_bytes)) {
    const int me = mpi::rank_in(spec.comm);
    const Block own = block_between(spec.from, me, spec.to, me);
    traffic_.bytes_self = own.volume() * element_bytes_;
    if (moves_nothing_) return;

    has_neighbours_ = mpi::size_of(node_.get()) > 1;
    const Nodes nodes(spec.comm, node_.get());
    const int node = nodes.node_of[static_cast<std::size_t>(me)];
    const int leaders = leaders_of(spec);
    const WindowMap map(spec, nodes, node, leaders);
    const auto& mine = map.parts[static_cast<std::size_t>(mpi::rank_in(node_.get()))];
    agree_on_counts(spec, nodes, node);
    window_bytes_ = static_cast<std::size_t>(mine.elements * element_bytes_);
    window_ = std::make_unique<mpi::SharedWindow>(node_, window_bytes_);
    plan_pack(spec, nodes, map, leaders);
    plan_messages(spec, nodes, node, mine);
    plan_reads(spec, nodes, map, leaders);
    if (own.volume() > 0)
      unpack_.push_back({CopyPlan(own.extents, own.from_strides, own.to_strides, spec.element_bytes,
                                  stores_for(static_cast<std::size_t>(own.volume() * element_bytes_))),
                         static_cast<const std::byte*>(spec.source.data()) + own.from_offset * element_bytes_,
                         static_cast<std::byte*>(spec.spare.data()) + own.to_offset * element_bytes_});
  }

  void pack() override { run(pack_); }
  /// Neighbours meet twice in a run: when all have packed, and when all has been read and received. What unpack() reads
  /// is written again only after the first meeting of the next run.
  void start() override {
    if (moves_nothing_) return;
    meet_neighbours();
    for (const Message& message : receives_)
      FOURSCORE_MPI(
          MPI_Irecv(message.place, message.count, type_, message.rank, message_tag, comm_.get(), requests_.next()));
    for (const Message& message : sends_)
      FOURSCORE_MPI(
          MPI_Isend(message.place, message.count, type_, message.rank, message_tag, comm_.get(), requests_.next()));
    run(reads_);
  }
  void finish() override {
    if (moves_nothing_) return;
    requests_.wait_all();
    meet_neighbours();
  }
  void unpack() override { run(unpack_); }
  [[nodiscard]] bool packs() const override { return !pack_.empty(); }
  [[nodiscard]] bool unpacks() const override { return !unpack_.empty(); }
  [[nodiscard]] bool lands_in_source() const override { return moves_nothing_; }
  [[nodiscard]] Traffic traffic() const override { return traffic_; }
  [[nodiscard]] Index bytes_packed() const override { return bytes_of(pack_); }
  [[nodiscard]] Index bytes_unpacked() const override { return bytes_of(unpack_); }
  [[nodiscard]] std::size_t workspace_bytes() const override { return window_bytes_; }

 private:
  struct Message {
    int rank;
    int count;
    std::byte* place;
  };

  static bool agreed_moves_nothing(const ExchangeSpec& spec) {
    const ExchangeAgreement agreement = agree(spec);
    require_int_count(agreement.largest_block, "a block", exchange_name);
    return agreement.moves_nothing;
  }
  static void run(const std::vector<CopyStep>& steps) {
    for (const CopyStep& step : steps) step.run();
  }

  static void agree_on_counts(const ExchangeSpec& spec, const Nodes& nodes, int node) {
    Index largest = 0;
    for (int other = 0; other < nodes.count(); ++other)
      if (other != node) largest = std::max(largest, volume_between(spec, nodes, node, other));
    FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_INT64_T, MPI_MAX,
                                spec.plan_comm == MPI_COMM_NULL ? spec.comm : spec.plan_comm));
    require_int_count(largest, "the blocks from one node to another", exchange_name);
  }

  [[nodiscard]] std::byte* place(int number_in_node, Index element) const {
    return window_->segment(number_in_node) + element * element_bytes_;
  }

  /// Blocks lie in the window in the source's axis order.
  void plan_pack(const ExchangeSpec& spec, const Nodes& nodes, const WindowMap& map, int leaders) {
    const int me = mpi::rank_in(spec.comm);
    const int node = nodes.node_of[static_cast<std::size_t>(me)];
    const int number = mpi::rank_in(node_.get());
    const Stores stores =
        stores_for(static_cast<std::size_t>(spec.from.boxes[static_cast<std::size_t>(me)].volume() * element_bytes_));
    for (int rank = 0; rank < spec.from.ranks(); ++rank) {
      const Block block = block_between(spec.from, me, spec.to, rank);
      if (rank == me || block.volume() == 0) continue;
      const int other = nodes.node_of[static_cast<std::size_t>(rank)];
      std::byte* to = nullptr;
      if (other == node) {
        to = place(number, map.parts[static_cast<std::size_t>(number)].to_neighbour.at(rank));
      } else {
        const int leader = nodes.leader(node, other, leaders);
        to = place(leader, map.parts[static_cast<std::size_t>(leader)].to_node.at(other) +
                               place_between(spec, nodes, me, rank));
      }
      pack_.push_back({CopyPlan(block.extents, block.from_strides, dense_strides(block.extents, spec.from.order),
                                spec.element_bytes, stores),
                       static_cast<const std::byte*>(spec.source.data()) + block.from_offset * element_bytes_, to});
    }
  }

  /// A leader's messages, to and from the leaders of other nodes that deal with this one.
  void plan_messages(const ExchangeSpec& spec, const Nodes& nodes, int node, const WindowMap::Part& mine) {
    const int number = mpi::rank_in(node_.get());
    const int leaders = leaders_of(spec);
    for (const auto& [other, element] : mine.to_node) {
      const int partner = nodes.of(other)[static_cast<std::size_t>(nodes.leader(other, node, leaders))];
      if (const Index count = volume_between(spec, nodes, node, other); count > 0) {
        sends_.push_back({partner, static_cast<int>(count), place(number, element)});
        traffic_.bytes_sent += count * element_bytes_;
        traffic_.messages_sent += 1;
      }
      if (const Index count = volume_between(spec, nodes, other, node); count > 0)
        receives_.push_back({partner, static_cast<int>(count), place(number, mine.from_node.at(other))});
    }
    requests_.reserve(sends_.size() + receives_.size());
  }

  void plan_reads(const ExchangeSpec& spec, const Nodes& nodes, const WindowMap& map, int leaders) {
    const int me = mpi::rank_in(spec.comm);
    const int node = nodes.node_of[static_cast<std::size_t>(me)];
    const Stores stores =
        stores_for(static_cast<std::size_t>(spec.to.boxes[static_cast<std::size_t>(me)].volume() * element_bytes_));
    const int ranks = spec.from.ranks();
    // Each rank begins with the rank after it, so that not all read from rank 0 first.
    for (int distance = 1; distance < ranks; ++distance) {
      const int rank = (me + distance) % ranks;
      const Block block = block_between(spec.from, rank, spec.to, me);
      if (block.volume() == 0) continue;
      const Index bytes = block.volume() * element_bytes_;
      const int other = nodes.node_of[static_cast<std::size_t>(rank)];
      const auto read = [&](const std::byte* from) {
        return CopyStep{CopyPlan(block.extents, dense_strides(block.extents, spec.from.order), block.to_strides,
                                 spec.element_bytes, stores),
                        from, static_cast<std::byte*>(spec.spare.data()) + block.to_offset * element_bytes_};
      };
      if (other == node) {
        const auto& members = nodes.of(node);
        const auto number = static_cast<int>(std::ranges::find(members, rank) - members.begin());
        reads_.push_back(read(place(number, map.parts[static_cast<std::size_t>(number)].to_neighbour.at(me))));
        traffic_.bytes_read_shared += bytes;
      } else {
        const int leader = nodes.leader(node, other, leaders);
        unpack_.push_back(read(place(leader, map.parts[static_cast<std::size_t>(leader)].from_node.at(other) +
                                                 place_between(spec, nodes, rank, me))));
        if (leader == mpi::rank_in(node_.get())) continue;
        traffic_.bytes_read_shared += bytes;
        traffic_.bytes_relayed += bytes;
      }
    }
  }

  void meet_neighbours() const {
    if (!has_neighbours_) return;
    window_->sync();
    FOURSCORE_MPI(MPI_Barrier(node_.get()));
    window_->sync();
  }

  bool moves_nothing_;
  mpi::Communicator comm_;
  mpi::Communicator node_;
  MPI_Datatype type_;
  Index element_bytes_;
  bool has_neighbours_ = false;
  std::size_t window_bytes_ = 0;
  std::unique_ptr<mpi::SharedWindow> window_;
  std::vector<CopyStep> pack_;
  std::vector<CopyStep> reads_;   ///< of neighbours' blocks
  std::vector<CopyStep> unpack_;  ///< of what came from other nodes, and the block that stays
  std::vector<Message> sends_;
  std::vector<Message> receives_;
  mpi::Requests requests_;
  Traffic traffic_;
};

class HierarchicalMethod : public ExchangeMethod {
 public:
  [[nodiscard]] Card card() const override {
    return {exchange_name, "within the node through a shared window, between nodes one message for each pair of nodes",
            "kandalla2009"};
  }
  [[nodiscard]] std::vector<std::string> parameters() const override { return {"leaders"}; }
  [[nodiscard]] std::map<std::string, std::vector<std::string>> sample_parameters() const override {
    return {{"leaders", {"1", "2"}}};
  }
  void check_parameters(const Problem& problem) const override {
    (void)integer_parameter(problem, "leaders", 1, 1, most_leaders);
  }
  [[nodiscard]] std::unique_ptr<Exchange> make(const ExchangeSpec& spec) const override {
    return std::make_unique<Hierarchical>(spec);
  }
};

FOURSCORE_REGISTER_EXCHANGE(HierarchicalMethod);

}  // namespace

}  // namespace fourscore
