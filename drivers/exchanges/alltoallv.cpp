// MPI_Alltoallv on packed blocks: the classical exchange of distributed FFTs.

#include <vector>

#include "core/exchange_blocks.hpp"
#include "mpi/error.hpp"

namespace fourscore {

namespace {

constexpr const char* exchange_name = "alltoallv";

class Alltoallv : public PackedExchange {
 public:
  explicit Alltoallv(const ExchangeSpec& spec) : PackedExchange(spec, exchange_name) {
    require_int_count(blocks().agreement().largest_array, "a local array", exchange_name);
    const auto ranks = static_cast<std::size_t>(spec.from.ranks());
    for (auto* counts : {&send_counts_, &send_displacements_, &receive_counts_, &receive_displacements_})
      counts->assign(ranks, 0);
    for (const auto& message : blocks().sends()) {
      send_counts_[static_cast<std::size_t>(message.rank)] = static_cast<int>(message.count);
      send_displacements_[static_cast<std::size_t>(message.rank)] = static_cast<int>(message.displacement);
    }
    for (const auto& message : blocks().receives()) {
      receive_counts_[static_cast<std::size_t>(message.rank)] = static_cast<int>(message.count);
      receive_displacements_[static_cast<std::size_t>(message.rank)] = static_cast<int>(message.displacement);
    }
  }

  void start() override {
    if (blocks().agreement().moves_nothing) return;
    FOURSCORE_MPI(MPI_Alltoallv(blocks().send_buffer(), send_counts_.data(), send_displacements_.data(), type(),
                                blocks().receive_buffer(), receive_counts_.data(), receive_displacements_.data(),
                                type(), comm()));
  }

 private:
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
