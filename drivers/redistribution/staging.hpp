#pragma once
// Memory in which blocks wait between the two buffers of an exchange, and what the exchanges share that use it.

#include <cstddef>
#include <memory>
#include <vector>

#include "mpi/handles.hpp"
#include "redistribution/exchange_blocks.hpp"

namespace fourscore {

/// The spec's staging, or the exchange's own where the spec brings none.
class Staging {
 public:
  Staging() = default;
  /// `make` makes own memory of so many bytes. Throws std::invalid_argument where the spec's is smaller.
  template <class Make>
  Staging(const ExchangeSpec& spec, std::size_t bytes, const Make& make) : memory_(spec.staging) {
    if (memory_ == nullptr) {
      own_ = make(bytes);
      memory_ = own_.get();
    }
    require(bytes);
  }
  [[nodiscard]] Buffer& memory() const { return *memory_; }
  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(memory_->data()); }
  [[nodiscard]] std::size_t own_bytes() const { return own_ ? own_->bytes() : 0; }

 private:
  void require(std::size_t bytes) const;

  Buffer* memory_ = nullptr;
  std::unique_ptr<Buffer> own_;
};

/// An exchange that lays each block, in the source's axis order, into its staging when it packs, and takes each out of
/// it into the spare. A subclass adds how blocks get from one rank's staging to the other's.
class StagedExchange : public Exchange {
 public:
  void pack() override { pack_.run(); }
  void unpack() override { unpack_.run(); }

 protected:
  /// Collective as agree(). `exchange` is named in errors.
  StagedExchange(const ExchangeSpec& spec, const char* exchange);

  /// Collective as the method's allocate_staging(), before any of the following.
  void stage(const ExchangeSpec& spec, const ExchangeMethod& method, std::size_t bytes);
  void pack_into(const ExchangeSpec& spec, const Block& block, std::byte* place);
  void unpack_from(const ExchangeSpec& spec, const Block& block, const std::byte* place);
  /// Copies from a place in any rank's staging to the block's place in the spare.
  [[nodiscard]] CopyStep copy_out(const ExchangeSpec& spec, const Block& block, const std::byte* place) const;
  /// Adds the copy of the block that stays, from the source to the spare; the list stays as it is where nothing does.
  void add_own_block(const ExchangeSpec& spec, CopySteps& steps) const;
  [[nodiscard]] CopySteps& pack_steps() { return pack_; }
  [[nodiscard]] CopySteps& unpack_steps() { return unpack_; }
  /// The facts that follow from the copies: to be called once all of them are planned.
  void state_copies();

  [[nodiscard]] bool moves_nothing() const { return moves_nothing_; }
  [[nodiscard]] MPI_Comm comm() const { return comm_.get(); }
  [[nodiscard]] MPI_Datatype type() const { return type_; }
  [[nodiscard]] Index element_bytes() const { return element_bytes_; }
  [[nodiscard]] const Staging& staging() const { return staging_; }

 private:
  bool moves_nothing_;
  mpi::Communicator comm_;
  MPI_Datatype type_;
  Index element_bytes_;
  Staging staging_;
  CopySteps pack_;
  CopySteps unpack_;
};

}  // namespace fourscore
