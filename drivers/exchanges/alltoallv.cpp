// MPI_Alltoallv on packed blocks: the classical exchange of distributed FFTs.

#include <vector>

#include "core/exchange_blocks.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace fourscore {

namespace {

constexpr const char* exchange_name = "alltoallv";

class Alltoallv : public Exchange {
 public:
  explicit Alltoallv(const ExchangeSpec& spec)
      : blocks_(spec, exchange_name), comm_(mpi::duplicate(spec.comm)), type_(mpi::element_type(spec.element_bytes)) {
    require_int_count(blocks_.agreement().largest_array, "a local array", exchange_name);
    const auto ranks = static_cast<std::size_t>(spec.from.ranks());
    for (auto* counts : {&send_counts_, &send_displacements_, &receive_counts_, &receive_displacements_})
      counts->assign(ranks, 0);
    for (const auto& message : blocks_.sends()) {
      send_counts_[static_cast<std::size_t>(message.rank)] = static_cast<int>(message.count);
      send_displacements_[static_cast<std::size_t>(message.rank)] = static_cast<int>(message.displacement);
    }
    for (const auto& message : blocks_.receives()) {
      receive_counts_[static_cast<std::size_t>(message.rank)] = static_cast<int>(message.count);
      receive_displacements_[static_cast<std::size_t>(message.rank)] = static_cast<int>(message.displacement);
    }
  }

  void pack() override { blocks_.pack(); }
  void start() override {
    if (blocks_.agreement().moves_nothing) return;
    FOURSCORE_MPI(MPI_Alltoallv(blocks_.send_buffer(), send_counts_.data(), send_displacements_.data(), type_,
                                blocks_.receive_buffer(), receive_counts_.data(), receive_displacements_.data(), type_,
                                comm_.get()));
  }
  void unpack() override { blocks_.unpack(); }
  [[nodiscard]] bool packs() const override { return blocks_.packs(); }
  [[nodiscard]] bool unpacks() const override { return blocks_.unpacks(); }
  [[nodiscard]] bool lands_in_source() const override { return blocks_.lands_in_source(); }
  [[nodiscard]] Traffic traffic() const override { return blocks_.traffic(); }

 private:
  PackedBlocks blocks_;
  mpi::Communicator comm_;
  MPI_Datatype type_;
  std::vector<int> send_counts_;
  std::vector<int> send_displacements_;
  std::vector<int> receive_counts_;
  std::vector<int> receive_displacements_;
};

class AlltoallvMethod : public ExchangeMethod {
 public:
  [[nodiscard]] Card card() const override {
    return {exchange_name, "pack, one MPI_Alltoallv, unpack", "MPI 3.1, 5.8"};
  }
  [[nodiscard]] std::unique_ptr<Exchange> make(const ExchangeSpec& spec) const override {
    return std::make_unique<Alltoallv>(spec);
  }
};

FOURSCORE_REGISTER_EXCHANGE(AlltoallvMethod);

}  // namespace

}  // namespace fourscore
