#include "interfaces/exchange.hpp"

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <new>

#include "kernels/first_touch.hpp"

namespace fourscore {

namespace {

constexpr std::size_t cache_line_bytes = 64;
constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

/// Ordinary memory, every page touched by its owner at construction: a run meets no page fault, and on a NUMA
/// machine the pages lie with the rank, and the threads, that use them. From two huge pages on, huge pages are asked
/// for.
class OrdinaryBuffer : public Buffer {
 public:
  explicit OrdinaryBuffer(std::size_t bytes) : bytes_(bytes) {
    const bool large = bytes >= 2 * huge_page_bytes;
    const std::size_t alignment = large ? huge_page_bytes : cache_line_bytes;
    const std::size_t padded = (bytes + alignment - 1) / alignment * alignment;
    data_.reset(std::aligned_alloc(alignment, padded == 0 ? alignment : padded));
    if (!data_) throw std::bad_alloc();
#ifdef __linux__
    if (large) madvise(data_.get(), padded, MADV_HUGEPAGE);  // advice only: without it the pages are small
#endif
    first_touch(data_.get(), bytes, FirstTouchThreads::current());
  }
  [[nodiscard]] void* data() const override { return data_.get(); }
  [[nodiscard]] std::size_t bytes() const override { return bytes_; }

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  std::unique_ptr<void, Free> data_;
  std::size_t bytes_;
};

}  // namespace

MessageVolume& MessageVolume::operator+=(const MessageVolume& other) {
  bytes_sent += other.bytes_sent;
  messages_sent += other.messages_sent;
  control_messages_sent += other.control_messages_sent;
  bytes_self += other.bytes_self;
  bytes_read_shared += other.bytes_read_shared;
  bytes_relayed += other.bytes_relayed;
  return *this;
}

Index min_bytes_of_exchange(const MessageVolume& traffic, Index bytes_after) {
  const Index received = std::max<Index>(0, bytes_after - traffic.bytes_self - traffic.bytes_read_shared);
  return traffic.bytes_sent + received + traffic.bytes_relayed + 2 * traffic.bytes_read_shared;
}

Index min_bytes_of_exchange(const Exchange& exchange, Index bytes_after) {
  return exchange.facts().min_bytes.value_or(min_bytes_of_exchange(exchange.message_volume(), bytes_after));
}

void Exchange::run(PhaseClock& clock) {
  begin(clock);
  end(clock);
}

void Exchange::begin(PhaseClock& clock) {
  if (facts_.packs) {
    const Region region(clock, Phase::pack);
    pack();
  }
  const Region region(clock, Phase::exchange);
  start();
}

void Exchange::end(PhaseClock& clock) {
  {
    const Region region(clock, Phase::exchange);
    finish();
  }
  if (!facts_.unpacks) return;
  const Region region(clock, Phase::unpack);
  unpack();
}

std::unique_ptr<Buffer> ordinary_buffer(std::size_t bytes) { return std::make_unique<OrdinaryBuffer>(bytes); }

std::unique_ptr<Buffer> ExchangeMethod::allocate(MPI_Comm /*comm*/, std::size_t bytes, BufferUse /*use*/) const {
  return ordinary_buffer(bytes);
}

}  // namespace fourscore
