// MPI_Ialltoallv on packed blocks: the nonblocking collective. Alone it does what alltoallv does, by whatever algorithm
// MPI has for the nonblocking form; in pieces it can be in flight while others are computed.

#include <memory>

#include "core/exchange_blocks.hpp"
#include "mpi/error.hpp"

namespace fourscore {

namespace {

constexpr const char* exchange_name = "ialltoallv";

class Ialltoallv : public PackedExchange {
 public:
  explicit Ialltoallv(const ExchangeSpec& spec)
      : PackedExchange(spec, exchange_name), counts_(spec.from.ranks(), blocks().sends(), blocks().receives()) {
    require_int_count(blocks().agreement().largest_array, "a local array", exchange_name);
    request_.reserve(1);
  }

  void start() override {
    if (blocks().agreement().moves_nothing) return;
    FOURSCORE_MPI(MPI_Ialltoallv(blocks().send_buffer(), counts_.send_counts.data(), counts_.send_displacements.data(),
                                 type(), blocks().receive_buffer(), counts_.receive_counts.data(),
                                 counts_.receive_displacements.data(), type(), comm(), request_.next()));
  }
  void finish() override { request_.wait_all(); }

 private:
  CollectiveCounts counts_;
  mpi::Requests request_;
};

class IalltoallvMethod : public ExchangeMethod {
 public:
  [[nodiscard]] Card card() const override {
    return {exchange_name, "pack, one MPI_Ialltoallv and its wait, unpack", "MPI 3.1, 5.12"};
  }
  [[nodiscard]] std::unique_ptr<Exchange> make(const ExchangeSpec& spec) const override {
    return std::make_unique<Ialltoallv>(spec);
  }
};

FOURSCORE_REGISTER_EXCHANGE(IalltoallvMethod);

}  // namespace

}  // namespace fourscore
