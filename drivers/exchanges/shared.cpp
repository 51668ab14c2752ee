// Within a node every rank reads its blocks from its neighbours' memory, a shared window, straight to their place: one
// copy instead of pack, message and unpack (hoefler2013). Between nodes, nonblocking messages with a datatype for each
// block do the rest, without memory of their own.

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "core/parameters.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"
#include "redistribution/exchange_blocks.hpp"
#include "redistribution/shared_buffer.hpp"

namespace fourscore {

namespace {

constexpr int message_tag = 0;

constexpr const char* reads_parameter = "reads";
const std::vector<std::string>& reads_choices() {
  static const std::vector<std::string> choices{"auto", "fused", "separate"};
  return choices;
}

/// Whether the transform after the exchange is to read what neighbours hold: `bytes` of this rank's destination. In the
/// caches a copy costs less than a transform loses that gathers tiles (64^3 on 2 ranks: 0.07 of 1 ms).
bool reads_are_fused(const Problem& problem, std::size_t bytes, bool without_gathering) {
  const std::string reads = choice_parameter(problem, reads_parameter, reads_choices());
  return reads == "fused" || (reads == "auto" && (without_gathering || stores_for(bytes) == Stores::streaming));
}

/// Where each rank of spec.comm has its source buffer in this process, or null.
std::vector<const std::byte*> reachable_sources(const ExchangeSpec& spec) {
  std::vector<const std::byte*> result(static_cast<std::size_t>(spec.from.ranks()), nullptr);
  if (spec.source.allocating_comm() == MPI_COMM_NULL) return result;
  const std::vector<int> allocating_ranks = mpi::translate_ranks(spec.comm, spec.source.allocating_comm());
  for (std::size_t r = 0; r < result.size(); ++r)
    if (allocating_ranks[r] != MPI_UNDEFINED)
      result[r] = static_cast<const std::byte*>(spec.source.peer(allocating_ranks[r]));
  return result;
}

class Shared : public Exchange {
 public:
  explicit Shared(const ExchangeSpec& spec)
      : moves_nothing_(agree(spec).moves_nothing), comm_(mpi::duplicate(spec.comm)), source_(spec.source) {
    const int me = mpi::rank_in(spec.comm);
    const auto bytes = static_cast<Index>(spec.element_bytes);
    const auto sources = reachable_sources(spec);
    // Neighbours are the same set for each of them; its first rank names it.
    const auto first = std::ranges::find_if(sources, [](const std::byte* source) { return source != nullptr; });
    const int color = first == sources.end() ? me : static_cast<int>(first - sources.begin());
    neighbours_ = mpi::split(spec.comm, color, me);
    has_neighbours_ = mpi::size_of(neighbours_.get()) > 1;

    const Block own = block_between(spec.from, me, spec.to, me);
    declared().volume.bytes_self = own.volume() * bytes;
    declared().lands_in_source = moves_nothing_;
    if (moves_nothing_) return;
    note_sources(spec, sources);
    own_ = read_step(spec, own, static_cast<const std::byte*>(spec.source.data()));
    declared().unpacks = own_.plan.bytes() > 0;
    declared().bytes_unpacked = own_.plan.bytes();
    for (const int rank : starting_after(me, senders_to(spec))) {
      const Block block = block_between(spec.from, rank, spec.to, me);
      if (const std::byte* source = sources[static_cast<std::size_t>(rank)]; source != nullptr) {
        reads_.push_back(read_step(spec, block, source));
        declared().volume.bytes_read_shared += block.volume() * bytes;
      } else {
        receives_.push_back({rank, mpi::box_type(spec.element_bytes, block.to_offset, block.extents, block.to_strides,
                                                 spec.from.order)});
      }
    }
    for (const int rank : starting_after(me, receivers_of(spec))) {
      if (sources[static_cast<std::size_t>(rank)] != nullptr) continue;  // it reads for itself
      const Block block = block_between(spec.from, me, spec.to, rank);
      sends_.push_back({rank, mpi::box_type(spec.element_bytes, block.from_offset, block.extents, block.from_strides,
                                            spec.from.order)});
      declared().volume.bytes_sent += block.volume() * bytes;
      declared().volume.messages_sent += 1;
    }
    spare_ = spec.spare.data();
    requests_.reserve(sends_.size() + receives_.size());
  }

  void start() override {
    if (moves_nothing_) return;
    for (const Message& message : receives_)
      FOURSCORE_MPI(MPI_Irecv(spare_, 1, message.type.get(), message.rank, message_tag, comm_.get(), requests_.next()));
    for (const Message& message : sends_)
      FOURSCORE_MPI(
          MPI_Isend(source_.data(), 1, message.type.get(), message.rank, message_tag, comm_.get(), requests_.next()));
    meet_neighbours();  // their sources are written
    if (!copies_are_left_) reads_.run();
  }
  void finish() override {
    if (moves_nothing_) return;
    requests_.wait_all();
    meet_neighbours();  // all have read this rank's source
  }
  void unpack() override {
    if (!copies_are_left_) own_.run();
  }
  /// Where all senders are neighbours, and nothing is to be said for separate reads.
  [[nodiscard]] std::optional<std::vector<SourceBlock>> readable_sources() const override { return readable_; }
  void leave_copies_to_caller() override {
    copies_are_left_ = true;
    declared().unpacks = false;
    declared().bytes_unpacked = 0;
  }

 private:
  struct Message {
    int rank;
    mpi::Datatype type;
  };

  void note_sources(const ExchangeSpec& spec, const std::vector<const std::byte*>& sources) {
    const int me = mpi::rank_in(spec.comm);
    const Box here = spec.to.box(me);
    const auto bytes = static_cast<std::size_t>(here.volume()) * spec.element_bytes;
    if (!spec.leaves_reads &&
        !reads_are_fused(spec.problem == nullptr ? Problem{} : *spec.problem, bytes, spec.transform_reads_parts))
      return;
    std::vector<SourceBlock> found;
    for (const Overlap& part : spec.from.overlaps(here)) {
      const std::byte* const source = part.rank == me ? static_cast<const std::byte*>(spec.source.data())
                                                      : sources[static_cast<std::size_t>(part.rank)];
      if (source == nullptr) return;
      const Block block = block_between(spec.from, part.rank, spec.to, me);
      SourceBlock& one = found.emplace_back();
      for (std::size_t a = 0; a < 3; ++a) {
        one.box.low[a] = part.box.low[a] - here.low[a];
        one.box.high[a] = part.box.high[a] - here.low[a];
      }
      one.data = source + block.from_offset * static_cast<Index>(spec.element_bytes);
      one.strides = block.from_strides;
    }
    readable_ = std::move(found);
  }

  static CopyStep read_step(const ExchangeSpec& spec, const Block& block, const std::byte* source) {
    const auto bytes = static_cast<Index>(spec.element_bytes);
    const int me = mpi::rank_in(spec.comm);
    const Stores stores = stores_for(static_cast<std::size_t>(spec.to.box(me).volume() * bytes));
    return {CopyPlan(block.extents, block.from_strides, block.to_strides, spec.element_bytes, stores),
            source + block.from_offset * bytes, static_cast<std::byte*>(spec.spare.data()) + block.to_offset * bytes};
  }

  void meet_neighbours() const {
    if (!has_neighbours_) return;
    source_.sync();
    FOURSCORE_MPI(MPI_Barrier(neighbours_.get()));
    source_.sync();
  }

  bool moves_nothing_;
  mpi::Communicator comm_;
  mpi::Communicator neighbours_;
  bool has_neighbours_ = false;
  const Buffer& source_;
  void* spare_ = nullptr;
  CopyStep own_{CopyPlan(), nullptr, nullptr};
  CopySteps reads_;
  std::optional<std::vector<SourceBlock>> readable_;
  bool copies_are_left_ = false;
  std::vector<Message> receives_;
  std::vector<Message> sends_;
  mpi::Requests requests_;
};

class SharedMethod : public ExchangeMethod {
 public:
  [[nodiscard]] Card card() const override {
    return {"shared", "neighbours' memory read where it lies; messages between nodes only", "hoefler2013"};
  }
  [[nodiscard]] std::vector<Parameter> parameters() const override {
    return {{.name = reads_parameter,
             .summary =
                 "fused: the transform after it reads neighbours' memory itself, where it can; separate: blocks are "
                 "copied first; auto: fused where the data outgrows the caches, or the transform gathers nothing",
             .fallback = reads_choices().front(),
             .of_transforms = true,
             .samples = reads_choices()}};
  }
  [[nodiscard]] Reason supports(const Problem& problem) const override {
    (void)reads_are_fused(problem, 0, false);
    return std::nullopt;
  }
  /// Arrays are windows of the node.
  [[nodiscard]] bool brings_arrays() const override { return true; }
  [[nodiscard]] std::unique_ptr<Buffer> allocate(MPI_Comm comm, std::size_t bytes, BufferUse use) const override {
    if (use != BufferUse::array) return ordinary_buffer(bytes);
    return std::make_unique<SharedBuffer>(comm, mpi::split_by_pretended_node(comm), bytes);
  }
  [[nodiscard]] Divisible divisible() const override { return Divisible::reads; }
  [[nodiscard]] std::unique_ptr<Exchange> make(const ExchangeSpec& spec) const override {
    return std::make_unique<Shared>(spec);
  }
};

FOURSCORE_REGISTER_EXCHANGE(SharedMethod);

}  // namespace

}  // namespace fourscore
