#include "variants/reference/guarded_buffer.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <span>

#include "kernels/first_touch.hpp"

namespace fourscore {
namespace {

constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;
constexpr std::byte pattern{0xa5};

std::size_t rounded_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

GuardedBuffer::GuardedBuffer(std::size_t bytes) : bytes_(bytes) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const bool large = bytes >= 2 * huge_page_bytes;
  const std::size_t multiple = large ? huge_page_bytes : page;
  const std::size_t usable = std::max(page, rounded_up(bytes, page));
  mapped_bytes_ = multiple + page + usable + page;
  mapping_ = ::mmap(nullptr, mapped_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping_ == MAP_FAILED) throw std::bad_alloc();
  void* begin = static_cast<std::byte*>(mapping_) + page;
  std::size_t room = mapped_bytes_ - page;
  data_ = static_cast<std::byte*>(std::align(multiple, usable + page, begin, room));
  if (::mprotect(data_, usable, PROT_READ | PROT_WRITE) != 0) {
    ::munmap(mapping_, mapped_bytes_);
    throw std::bad_alloc();
  }
  if (large) ::madvise(data_, usable, MADV_HUGEPAGE);  // advice only: without it the pages are small
  first_touch(data_, bytes, FirstTouchThreads::current());
  rest_ = usable - bytes;
  std::memset(data_ + bytes, static_cast<int>(pattern), rest_);
}

GuardedBuffer::~GuardedBuffer() { ::munmap(mapping_, mapped_bytes_); }

bool GuardedBuffer::is_intact() const {
  return std::ranges::all_of(std::span(data_ + bytes_, rest_), [](std::byte one) { return one == pattern; });
}

}  // namespace fourscore
