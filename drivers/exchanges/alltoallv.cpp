// MPI_Alltoallv on packed blocks: the classical exchange of distributed FFTs.

#include <memory>

#include "mpi/error.hpp"
#include "redistribution/exchange_blocks.hpp"

namespace fourscore {

namespace {

constexpr const char* exchange_name = "alltoallv";

class Alltoallv : public PackedExchange {
 public:
  explicit Alltoallv(const ExchangeSpec& spec)
      : PackedExchange(spec, exchange_name), counts_(spec.from.ranks(), blocks().sends(), blocks().receives()) {
    require_int_count(blocks().agreement().largest_array, "a local array", exchange_name);
  }

  void start() override {
    if (blocks().agreement().moves_nothing) return;
    FOURSCORE_MPI(MPI_Alltoallv(blocks().send_buffer(), counts_.send_counts.data(), counts_.send_displacements.data(),
                                type(), blocks().receive_buffer(), counts_.receive_counts.data(),
                                counts_.receive_displacements.data(), type(), comm()));
  }

 private:
  CollectiveCounts counts_;
};

class AlltoallvMethod : public ExchangeMethod {
 public:
  [[nodiscard]] Card card() const override {
    return {exchange_name, "pack, one MPI_Alltoallv, unpack", "MPI 3.1, 5.8"};
  }
  [[nodiscard]] Divisible divisible() const override { return Divisible::copies; }
  [[nodiscard]] std::unique_ptr<Exchange> make(const ExchangeSpec& spec) const override {
    return std::make_unique<Alltoallv>(spec);
  }
};

FOURSCORE_REGISTER_EXCHANGE(AlltoallvMethod);

}  // namespace

}  // namespace fourscore
