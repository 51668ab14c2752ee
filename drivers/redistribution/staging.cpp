#include "redistribution/staging.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace fourscore {

namespace {

/// How to write into an array of this rank's box.
Stores stores_of(const ExchangeSpec& spec, const Decomposition& layout) {
  const int me = mpi::rank_in(spec.comm);
  return stores_for(static_cast<std::size_t>(layout.box(me).volume()) * spec.element_bytes);
}

bool agreed_moves_nothing(const ExchangeSpec& spec, const char* exchange) {
  const ExchangeAgreement agreement = agree(spec);
  require_int_count(agreement.largest_block, "a block", exchange);
  return agreement.moves_nothing;
}

}  // namespace

void Staging::require(std::size_t bytes) const {
  if (memory_->bytes() < bytes)
    throw std::invalid_argument(
        fmt::format("an exchange's staging has {} bytes; expected at least {}", memory_->bytes(), bytes));
}

StagedExchange::StagedExchange(const ExchangeSpec& spec, const char* exchange)
    : moves_nothing_(agreed_moves_nothing(spec, exchange)),
      comm_(mpi::duplicate(spec.comm)),
      type_(mpi::element_type(spec.element_bytes)),
      element_bytes_(static_cast<Index>(spec.element_bytes)) {
  const int me = mpi::rank_in(spec.comm);
  declared().lands_in_source = moves_nothing_;
  declared().volume.bytes_self = block_between(spec.from, me, spec.to, me).volume() * element_bytes_;
}

void StagedExchange::stage(const ExchangeSpec& spec, const ExchangeMethod& method, std::size_t bytes) {
  staging_ = Staging(spec, bytes,
                     [&](std::size_t own) { return method.allocate(spec.agreeing_comm(), own, BufferUse::staging); });
}

void StagedExchange::state_copies() {
  declared().packs = !pack_.empty();
  declared().unpacks = !unpack_.empty();
  declared().bytes_packed = pack_.bytes();
  declared().bytes_unpacked = unpack_.bytes();
  declared().workspace_bytes = staging_.own_bytes();
}

void StagedExchange::pack_into(const ExchangeSpec& spec, const Block& block, std::byte* place) {
  if (block.volume() == 0) return;
  pack_.push_back({CopyPlan(block.extents, block.from_strides, dense_strides(block.extents, spec.from.order),
                            spec.element_bytes, stores_of(spec, spec.from)),
                   static_cast<const std::byte*>(spec.source.data()) + block.from_offset * element_bytes_, place});
}

void StagedExchange::unpack_from(const ExchangeSpec& spec, const Block& block, const std::byte* place) {
  if (block.volume() > 0) unpack_.push_back(copy_out(spec, block, place));
}

CopyStep StagedExchange::copy_out(const ExchangeSpec& spec, const Block& block, const std::byte* place) const {
  return {CopyPlan(block.extents, dense_strides(block.extents, spec.from.order), block.to_strides, spec.element_bytes,
                   stores_of(spec, spec.to)),
          place, static_cast<std::byte*>(spec.spare.data()) + block.to_offset * element_bytes_};
}

void StagedExchange::add_own_block(const ExchangeSpec& spec, CopySteps& steps) const {
  const int me = mpi::rank_in(spec.comm);
  const Block own = block_between(spec.from, me, spec.to, me);
  if (own.volume() == 0) return;
  steps.push_back(
      {CopyPlan(own.extents, own.from_strides, own.to_strides, spec.element_bytes, stores_of(spec, spec.to)),
       static_cast<const std::byte*>(spec.source.data()) + own.from_offset * element_bytes_,
       static_cast<std::byte*>(spec.spare.data()) + own.to_offset * element_bytes_});
}

}  // namespace fourscore
