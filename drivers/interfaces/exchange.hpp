#pragma once
// The interface to a way of moving data from one Decomposition to another.

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/decomposition.hpp"
#include "core/parameters.hpp"
#include "core/phase.hpp"
#include "core/problem.hpp"
#include "core/refusal.hpp"
#include "core/registry.hpp"
#include "interfaces/device_work.hpp"
#include "interfaces/work_part.hpp"
#include "kernels/copy.hpp"

namespace fourscore {

/// What one rank hands to MPI in one exchange, and what it moves without MPI. Exact: each launch counts it. A put into
/// another rank's window is a message with its payload. Control messages have none: they say that something is free,
/// has arrived or was used. Those within a collective call of MPI, as a fence or a barrier, are MPI's own and count
/// nowhere.
struct MessageVolume {
  Index bytes_sent = 0;         ///< payload bytes to other ranks through MPI
  Index messages_sent = 0;      ///< non-empty messages to other ranks through MPI
  Index bytes_self = 0;         ///< payload that stays on the rank
  Index bytes_read_shared = 0;  ///< payload read from other ranks' memory
  Index bytes_relayed = 0;      ///< in bytes_sent and bytes_read_shared: what was moved before, by this rank or another
  Index control_messages_sent = 0;  ///< to other ranks, without payload; in none of the other counts
  MessageVolume& operator+=(const MessageVolume& other);
  bool operator==(const MessageVolume&) const = default;
};

/// The minimum bytes an exchange moves to and from memory, where the rank holds `bytes_after` after it: it reads what
/// it sends, writes what it receives, reads and writes what it takes from its neighbours' memory. What is passed on for
/// others was received first. What stays on the rank is no part of it (packing or unpacking moves that).
[[nodiscard]] Index min_bytes_of_exchange(const MessageVolume& traffic, Index bytes_after);

/// Memory a plan computes in, aligned to 64 bytes at least. `peer` is where another rank's buffer of the same
/// allocation appears in this process, or null when it cannot be reached.
class Buffer {
 public:
  virtual ~Buffer() = default;
  [[nodiscard]] virtual void* data() const = 0;
  [[nodiscard]] virtual std::size_t bytes() const = 0;
  [[nodiscard]] virtual void* peer(int /*rank_in_allocating_comm*/) const { return nullptr; }
  [[nodiscard]] virtual MPI_Comm allocating_comm() const { return MPI_COMM_NULL; }
  /// Orders this process's accesses before against those of its peers after the next synchronisation of processes.
  virtual void sync() const {}
};

/// From and to are decompositions of the same shape over the ranks of comm (from.ranks() == size of comm). The
/// source buffer holds this rank's box of `from`; afterwards the destination holds its box of `to`.
struct ExchangeSpec {
  const Decomposition& from;
  const Decomposition& to;
  MPI_Comm comm;
  std::size_t element_bytes;
  Buffer& source;  ///< both buffers hold the larger of the two boxes; the source's content is lost
  Buffer& spare;
  /// The ranks over which lands_in_source() must agree, and over which make() is then collective: the whole plan's
  /// where comm is one row of several. MPI_COMM_NULL: comm.
  MPI_Comm plan_comm = MPI_COMM_NULL;
  /// The problem whose parameters the exchange reads while it is made. Null: all have their defaults.
  const Problem* problem = nullptr;
  /// At least staging_bytes() bytes, from allocate() over agreeing_comm(), and free whenever the exchange
  /// does not run: exchanges that run in turn may have the same. Null: the exchange has its own.
  Buffer* staging = nullptr;
  /// Whoever makes the exchange reads neighbours' memory in its place, wherever it can be read: readable_sources() is
  /// then known whatever the problem's parameters say.
  bool leaves_reads = false;
  bool transform_reads_parts = false;  ///< LocalFftLibrary::reads_parts() of the transform after it

  [[nodiscard]] MPI_Comm agreeing_comm() const { return plan_comm == MPI_COMM_NULL ? comm : plan_comm; }
};

/// What a planned exchange is, from its construction on.
struct ExchangeFacts {
  bool packs = false;            ///< pack() does something on this rank; where it does on none it is no phase of a plan
  bool unpacks = false;          ///< the same of unpack()
  bool lands_in_source = false;  ///< the result is in the source buffer, else in the spare; equal on all ranks
  MessageVolume volume{};
  Index bytes_packed = 0;  ///< that pack() reads, and writes again
  Index bytes_unpacked = 0;
  std::size_t workspace_bytes = 0;  ///< its own, beyond the two buffers and the staging that the spec brought
  /// min_bytes_of_exchange() where messages hold less than the arrays; nothing: they hold the same.
  std::optional<Index> min_bytes = std::nullopt;
};

/// A part of an exchange's destination, and where its elements lie before the exchange.
struct SourceBlock {
  Box box;                          ///< in the destination's local indices
  const std::byte* data = nullptr;  ///< address of the box's lowest element
  Extents strides{0, 0, 0};         ///< in elements
};

/// What the messages of an exchange leave and reach, and the copies before and after them.
struct PackedMemory {
  struct Copy {
    const CopyPlan* plan = nullptr;
    const std::byte* from = nullptr;
    std::byte* to = nullptr;
    bool overlapping = false;  ///< CopyPlan::run_overlapping()
  };
  std::vector<Copy> pack;
  std::vector<Copy> unpack;
  std::vector<std::span<const std::byte>> sent;  ///< what is sent, as few stretches as there are
  std::vector<std::span<std::byte>> received;
};

/// What an exchange also is whose messages can go one by one, in place of its start() and finish(). They leave and
/// reach the same places (PackedMemory).
class PeerwiseExchange {
 public:
  virtual ~PeerwiseExchange() = default;
  /// In the order in which they are best sent.
  [[nodiscard]] virtual std::vector<std::span<const std::byte>> sends() const = 0;
  [[nodiscard]] virtual std::vector<std::span<std::byte>> receives() const = 0;
  /// The rank of ExchangeSpec::comm on the other side of each of them.
  [[nodiscard]] virtual std::vector<int> receivers() const = 0;
  [[nodiscard]] virtual std::vector<int> senders() const = 0;
  virtual void post_receives() = 0;
  virtual void send(std::size_t number) = 0;  ///< returns before the message is sent
  /// The number of one more message that has arrived. Nothing: all have, or, unless it is to wait, no other by now.
  [[nodiscard]] virtual std::optional<std::size_t> next_arrival(bool waits) = 0;
  virtual void finish_sends() = 0;  ///< returns when the places of all are free again
};

/// One planned exchange. run() does pack, start, finish, unpack, in this order, on all ranks of comm; one that overlaps
/// them does the same in pieces, and its four parts can still be called one after another. A subclass fills in
/// declared() in its constructor; PackedExchange, StagedExchange and PiecewiseExchange (drivers/redistribution) do it
/// for theirs.
class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual void pack() {}
  virtual void start() = 0;
  virtual void finish() {}
  virtual void unpack() {}
  /// The whole exchange, its parts in Regions of the clock.
  virtual void run(PhaseClock& clock);
  /// Where all that unpack() would leave in the destination can be read between start() and finish(), by whoever makes
  /// more of it on the way. Nothing: only the exchange itself can move it.
  [[nodiscard]] virtual std::optional<std::vector<SourceBlock>> readable_sources() const { return std::nullopt; }
  /// From now on whoever asked for the sources writes the destination. On all ranks of a plan, or on none.
  virtual void leave_copies_to_caller() {}
  /// What whoever does pack() and unpack() in other memory, where start() and finish() do not run, must know. Nothing:
  /// they cannot be done apart.
  [[nodiscard]] virtual std::optional<PackedMemory> packed_memory() const { return std::nullopt; }
  /// Null: its messages go together. Where it is not, packed_memory() is known too.
  [[nodiscard]] virtual PeerwiseExchange* by_peer() { return nullptr; }
  /// The same in two halves, with whatever else the rank does between them: pack and start, finish and unpack.
  virtual void begin(PhaseClock& clock);
  virtual void end(PhaseClock& clock);
  /// In order, where start() and finish() have parts that are no messages. pack() and unpack() are not among them.
  [[nodiscard]] virtual std::vector<WorkPart> parts() { return {}; }
  [[nodiscard]] virtual DeviceWork device_work() const { return {}; }  ///< in one run()

  [[nodiscard]] const ExchangeFacts& facts() const { return facts_; }
  [[nodiscard]] bool lands_in_source() const { return facts_.lands_in_source; }
  [[nodiscard]] const MessageVolume& message_volume() const { return facts_.volume; }

 protected:
  /// To be filled in while it is constructed.
  [[nodiscard]] ExchangeFacts& declared() { return facts_; }

 private:
  ExchangeFacts facts_;
};

/// The same of an exchange, where the rank's array has so many bytes after it.
[[nodiscard]] Index min_bytes_of_exchange(const Exchange& exchange, Index bytes_after);

/// What of an exchange somebody else can do in its place, as on a device that holds the data.
enum class Divisible {
  no,
  copies,    ///< before and after its messages: Exchange::packed_memory()
  messages,  ///< the copies, and the messages one by one: Exchange::by_peer()
  reads,     ///< from neighbours' memory, in the place of messages: Exchange::readable_sources()
};

/// What a buffer of an exchange is for.
enum class BufferUse {
  array,    ///< an array of the plan: the source or the spare of exchanges
  staging,  ///< ExchangeSpec::staging
};

class ExchangeMethod {
 public:
  virtual ~ExchangeMethod() = default;
  [[nodiscard]] virtual Card card() const = 0;
  [[nodiscard]] virtual std::string unavailable() const { return {}; }
  /// The parameters it reads (Problem::parameters), beside the variant's.
  [[nodiscard]] virtual std::vector<Parameter> parameters() const { return {}; }
  /// Nothing, or why it cannot serve the problem, which is then skipped. Throws InputError naming a parameter of its
  /// own whose value cannot be used. Calls no MPI.
  [[nodiscard]] virtual Reason supports(const Problem& /*problem*/) const { return std::nullopt; }
  /// Nothing, or why it cannot serve an exchange among so many ranks, one group of a redistribution; the problem is
  /// then skipped. Calls no MPI.
  [[nodiscard]] virtual Reason supports_group(const Problem& /*problem*/, int /*ranks*/) const { return std::nullopt; }
  /// Nothing, or why it cannot run between the ranks of comm, which only MPI can tell: a network without one-sided
  /// communication, say. Collective. The point is then skipped.
  [[nodiscard]] virtual Reason cannot_run_on(MPI_Comm /*comm*/) const { return {}; }
  /// Collective over comm, as is the buffer's destruction. The default is ordinary memory.
  [[nodiscard]] virtual std::unique_ptr<Buffer> allocate(MPI_Comm comm, std::size_t bytes, BufferUse use) const;
  /// Whether the arrays must be of allocate() and of no other memory.
  [[nodiscard]] virtual bool brings_arrays() const { return false; }
  [[nodiscard]] virtual Divisible divisible() const { return Divisible::no; }
  /// Bytes of this rank that the exchange of this spec needs beside the two buffers while it runs. Collective as
  /// make().
  [[nodiscard]] virtual std::size_t staging_bytes(const ExchangeSpec& /*spec*/) const { return 0; }
  /// Collective over spec.comm and spec.plan_comm. The two decompositions hold the same elements, in boxes without
  /// overlap and with the same orders of indices, else std::invalid_argument. Throws InputError where counts overflow
  /// what MPI takes, naming the count.
  [[nodiscard]] virtual std::unique_ptr<Exchange> make(const ExchangeSpec& spec) const = 0;
};

using ExchangeRegistry = Registry<ExchangeMethod>;

/// Ordinary memory of this process, every page touched; huge pages are asked for where it is large.
[[nodiscard]] std::unique_ptr<Buffer> ordinary_buffer(std::size_t bytes);

}  // namespace fourscore

#define FOURSCORE_REGISTER_EXCHANGE(Type) \
  static const bool registered_##Type = ::fourscore::ExchangeRegistry::instance().add(std::make_unique<Type>())
