#include "components/exchange_work.hpp"

#include <cstring>
#include <numeric>
#include <span>
#include <stdexcept>

#include "components/messages.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"
#include "redistribution/exchange_blocks.hpp"

namespace fourscore::component {

namespace {

/// Calls visit(place in bytes, global linear index) for each element of a member's array.
template <class Visit>
void for_each_element(const Decomposition& layout, int member, Index element_bytes, const Visit& visit) {
  const Box& box = layout.box(member);
  const Extents strides = layout.strides(member);
  for (Index i = box.low[0]; i < box.high[0]; ++i)
    for (Index j = box.low[1]; j < box.high[1]; ++j) {
      const Index row = (i - box.low[0]) * strides[0] + (j - box.low[1]) * strides[1];
      const Index linear = (i * layout.shape[1] + j) * layout.shape[2];
      for (Index k = box.low[2]; k < box.high[2]; ++k)
        visit((row + (k - box.low[2]) * strides[2]) * element_bytes, linear + k);
    }
}

class ExchangeWork : public Work {
 public:
  ExchangeWork(MPI_Comm world, const ExchangeMethod& method, Problem parameters, GroupExchange group, Parts parts)
      : parameters_(std::move(parameters)),
        group_(std::move(group)),
        place_(group_.place_of(mpi::rank_in(world))),
        parts_(parts),
        comm_(mpi::split(world, group_.ranks.front(), place_)),
        source_(method.allocate(world, static_cast<std::size_t>(group_.array_bytes(place_)), BufferUse::array)),
        spare_(method.allocate(world, static_cast<std::size_t>(group_.array_bytes(place_)), BufferUse::array)),
        exchange_(method.make({group_.from, group_.to, comm_.get(), static_cast<std::size_t>(group_.element_bytes),
                               *source_, *spare_, world, &parameters_})) {}

  [[nodiscard]] double error() override {
    std::memset(spare_->data(), 0xA5, spare_->bytes());
    auto* const data = static_cast<std::byte*>(source_->data());
    for_each_element(group_.from, place_, group_.element_bytes,
                     [&](Index at, Index element) { write_message(bytes_at(data, at), color(), word_of(element)); });
    if (parts_ == Parts::whole) {
      exchange_->run(clock_);  // one that overlaps its parts has another way here
    } else {
      exchange_->pack();
      exchange_->start();
      exchange_->finish();
      exchange_->unpack();
    }
    auto* const landed = static_cast<std::byte*>((exchange_->lands_in_source() ? source_ : spare_)->data());
    Index wrong = 0;
    for_each_element(group_.to, place_, group_.element_bytes, [&](Index at, Index element) {
      wrong += wrong_bytes(bytes_at(landed, at), color(), word_of(element));
    });
    return static_cast<double>(wrong);
  }

  void run(std::int64_t iterations) override {
    for (std::int64_t i = 0; i < iterations; ++i) {
      if (parts_ == Parts::whole) {
        exchange_->run(clock_);
      } else {
        exchange_->start();
        exchange_->finish();
      }
    }
  }

 private:
  [[nodiscard]] std::span<std::byte> bytes_at(std::byte* data, Index at) const {
    return {data + at, static_cast<std::size_t>(group_.element_bytes)};
  }
  /// Groups exchange the same indices at the same time: what one gets of another must be seen.
  [[nodiscard]] int color() const { return group_.ranks.front(); }
  /// Every element has a content of its own below 2^31 elements of a group, and its neighbours another beyond.
  [[nodiscard]] static int word_of(Index element) { return static_cast<int>(element & 0x7fffffff); }

  Problem parameters_;
  GroupExchange group_;
  int place_;
  Parts parts_;
  mpi::Communicator comm_;
  std::unique_ptr<Buffer> source_;
  std::unique_ptr<Buffer> spare_;
  std::unique_ptr<Exchange> exchange_;
  PhaseClock clock_{false};
};

/// Counts and displacements of one side, in elements.
struct Side {
  std::vector<int> counts;
  std::vector<int> displacements;

  explicit Side(const std::vector<Index>& bytes, Index element_bytes, const std::string& name) {
    Index at = 0;
    for (const Index size : bytes) {
      require_int_count(at + size / element_bytes, "an array of blocks", name.c_str());
      counts.push_back(static_cast<int>(size / element_bytes));
      displacements.push_back(static_cast<int>(at));
      at += size / element_bytes;
    }
  }
  [[nodiscard]] std::size_t elements() const {
    return static_cast<std::size_t>(displacements.back()) + static_cast<std::size_t>(counts.back());
  }
};

std::vector<Index> blocks(const GroupExchange& group, int place, bool outgoing) {
  std::vector<Index> bytes;
  for (int other = 0; other < group.size(); ++other)
    bytes.push_back(outgoing ? group.bytes_between(place, other) : group.bytes_between(other, place));
  return bytes;
}

class Collective : public Work {
 public:
  Collective(MPI_Comm world, const std::string& name, GroupExchange group)
      : group_(std::move(group)),
        place_(group_.place_of(mpi::rank_in(world))),
        comm_(mpi::split(world, group_.ranks.front(), place_)),
        type_(mpi::element_type(static_cast<std::size_t>(group_.element_bytes))),
        sent_(blocks(group_, place_, true), group_.element_bytes, name),
        received_(blocks(group_, place_, false), group_.element_bytes, name),
        outgoing_(ordinary_buffer(sent_.elements() * element_bytes())),
        incoming_(ordinary_buffer(received_.elements() * element_bytes())) {}

  [[nodiscard]] double error() override {
    for (int other = 0; other < group_.size(); ++other) {
      const int rank = group_.ranks[static_cast<std::size_t>(other)];
      write_message(block(*outgoing_, sent_, other), me(), rank);
      spoil(block(*incoming_, received_, other), rank, me());
    }
    run(1);
    Index wrong = 0;
    for (int other = 0; other < group_.size(); ++other)
      wrong += wrong_bytes(block(*incoming_, received_, other), group_.ranks[static_cast<std::size_t>(other)], me());
    return static_cast<double>(wrong);
  }

  void run(std::int64_t iterations) final {
    for (std::int64_t i = 0; i < iterations; ++i) once();
  }

 protected:
  [[nodiscard]] const void* outgoing() const { return outgoing_->data(); }
  [[nodiscard]] void* incoming() const { return incoming_->data(); }
  [[nodiscard]] const Side& sent() const { return sent_; }
  [[nodiscard]] const Side& received() const { return received_; }
  [[nodiscard]] MPI_Datatype type() const { return type_; }
  [[nodiscard]] MPI_Comm comm() const { return comm_.get(); }

 private:
  virtual void once() = 0;
  [[nodiscard]] int me() const { return group_.ranks[static_cast<std::size_t>(place_)]; }
  [[nodiscard]] std::size_t element_bytes() const { return static_cast<std::size_t>(group_.element_bytes); }
  [[nodiscard]] std::span<std::byte> block(const Buffer& buffer, const Side& side, int other) const {
    const auto place = static_cast<std::size_t>(other);
    return {
        static_cast<std::byte*>(buffer.data()) + static_cast<std::size_t>(side.displacements[place]) * element_bytes(),
        static_cast<std::size_t>(side.counts[place]) * element_bytes()};
  }

  GroupExchange group_;
  int place_;
  mpi::Communicator comm_;
  MPI_Datatype type_;
  Side sent_;
  Side received_;
  std::unique_ptr<Buffer> outgoing_;
  std::unique_ptr<Buffer> incoming_;
};

class Alltoall : public Collective {
  using Collective::Collective;
  void once() override {
    FOURSCORE_MPI(
        MPI_Alltoall(outgoing(), sent().counts.front(), type(), incoming(), received().counts.front(), type(), comm()));
  }
};

class Ialltoall : public Collective {
  using Collective::Collective;
  void once() override {
    MPI_Request request = MPI_REQUEST_NULL;
    FOURSCORE_MPI(MPI_Ialltoall(outgoing(), sent().counts.front(), type(), incoming(), received().counts.front(),
                                type(), comm(), &request));
    FOURSCORE_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
  }
};

class Alltoallv : public Collective {
  using Collective::Collective;
  void once() override {
    FOURSCORE_MPI(MPI_Alltoallv(outgoing(), sent().counts.data(), sent().displacements.data(), type(), incoming(),
                                received().counts.data(), received().displacements.data(), type(), comm()));
  }
};

}  // namespace

std::unique_ptr<Work> exchange_work(MPI_Comm world, const ExchangeMethod& method, Problem parameters,
                                    GroupExchange group, Parts parts) {
  return std::make_unique<ExchangeWork>(world, method, std::move(parameters), std::move(group), parts);
}

const std::vector<std::string>& collective_names() {
  static const std::vector<std::string> names{"mpi-alltoall", "mpi-alltoallv", "mpi-ialltoall"};
  return names;
}

bool is_collective(const std::string& name) { return name.starts_with("mpi-"); }

bool wants_even(const std::string& collective) { return collective != "mpi-alltoallv"; }

std::unique_ptr<Work> collective_work(MPI_Comm world, const std::string& name, GroupExchange group) {
  if (name == "mpi-alltoall") return std::make_unique<Alltoall>(world, name, std::move(group));
  if (name == "mpi-ialltoall") return std::make_unique<Ialltoall>(world, name, std::move(group));
  if (name == "mpi-alltoallv") return std::make_unique<Alltoallv>(world, name, std::move(group));
  throw std::invalid_argument("no collective is called " + name);
}

}  // namespace fourscore::component
