#include "mpi/shared_pages.hpp"

#ifdef __linux__
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>

#include "core/descriptor.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace fourscore::mpi {

#ifdef __linux__

namespace {

constexpr int madvise_collapse = 25;  // MADV_COLLAPSE, Linux 6.1 and later; headers may be older

std::size_t whole_pages(std::size_t bytes) { return (bytes + huge_page_bytes - 1) / huge_page_bytes * huge_page_bytes; }

/// Where the others find the file of the node's first rank, and what its last page holds: a process of the same number
/// in another container has another.
struct Address {
  std::int64_t process = 0;
  std::int64_t file = -1;
  std::int64_t token = 0;
};

Address make_file(Descriptor& file, std::size_t bytes) {
  file = Descriptor(::memfd_create("fourscore", MFD_CLOEXEC));
  const bool is_there = file.is_open() && ::ftruncate(file.get(), static_cast<off_t>(bytes)) == 0;
  // The highest bits of the time are lost, which tells no two processes apart.
  const auto time = static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  constexpr std::uint64_t most_processes = 4194304;  // on Linux
  return {::getpid(), is_there ? file.get() : -1,
          static_cast<std::int64_t>(time * most_processes + static_cast<std::uint64_t>(::getpid()))};
}

/// Maps the file at a multiple of a huge page, within a reservation that is released as a whole.
std::byte* map(const Descriptor& file, std::size_t bytes, void*& reserved) {
  reserved = ::mmap(nullptr, bytes + huge_page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) {
    reserved = nullptr;
    return nullptr;
  }
  auto* const first = reinterpret_cast<std::byte*>(whole_pages(reinterpret_cast<std::uintptr_t>(reserved)));
  void* const mapped = ::mmap(first, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file.get(), 0);
  return mapped == MAP_FAILED ? nullptr : first;
}

bool all_of(MPI_Comm node, bool mine) {
  int all = mine ? 1 : 0;
  FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, node));
  return all != 0;
}

/// Huge pages are advice: without them the memory is as good, only slower.
void touch(std::byte* memory, std::size_t bytes) {
  ::madvise(memory, whole_pages(bytes), MADV_HUGEPAGE);
  std::memset(memory, 0, bytes);
  ::madvise(memory, whole_pages(bytes), madvise_collapse);
}

}  // namespace

std::optional<SharedPages> SharedPages::make(MPI_Comm node, std::size_t bytes, const std::string& processes) {
  const auto ranks = static_cast<std::size_t>(size_of(node));
  std::vector<std::uint64_t> sizes(ranks);
  const std::uint64_t own = bytes;
  FOURSCORE_MPI(MPI_Allgather(&own, 1, MPI_UINT64_T, sizes.data(), 1, MPI_UINT64_T, node));
  if (*std::ranges::max_element(sizes) < 2 * huge_page_bytes) return std::nullopt;
  std::vector<std::size_t> begins;
  std::size_t end = 0;
  for (const std::uint64_t size : sizes) {
    begins.push_back(end);
    end += whole_pages(size);
  }
  const std::size_t all_bytes = end + sizeof(Address::token);

  const auto me = static_cast<std::size_t>(rank_in(node));
  Descriptor file;
  Address address;
  if (me == 0) address = make_file(file, all_bytes);
  FOURSCORE_MPI(MPI_Bcast(&address, sizeof(address), MPI_BYTE, 0, node));
  if (address.file < 0) return std::nullopt;
  if (me != 0)
    file = Descriptor(
        ::open(fmt::format("{}/{}/fd/{}", processes, address.process, address.file).c_str(), O_RDWR | O_CLOEXEC));
  SharedPages result;
  result.mapped_bytes_ = all_bytes + huge_page_bytes;
  std::byte* const first = file.is_open() ? map(file, all_bytes, result.mapped_) : nullptr;
  if (me == 0 && first != nullptr) std::memcpy(first + end, &address.token, sizeof(address.token));
  if (!all_of(node, first != nullptr)) return std::nullopt;
  if (!all_of(node, std::memcmp(first + end, &address.token, sizeof(address.token)) == 0)) return std::nullopt;

  touch(first + begins[me], bytes);
  for (const std::size_t begin : begins) result.segments_.push_back(first + begin);
  return result;
}

SharedPages::~SharedPages() {
  if (mapped_ != nullptr) ::munmap(mapped_, mapped_bytes_);
}

#else

std::optional<SharedPages> SharedPages::make(MPI_Comm, std::size_t, const std::string&) { return std::nullopt; }
SharedPages::~SharedPages() = default;

#endif

}  // namespace fourscore::mpi
