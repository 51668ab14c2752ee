// Memory, and copies to the device and back. Memory of the device begins as NaN, and has a page beside each of its ends
// that no kernel may touch. It is a file without a name, so that other processes can open it.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "pretended.hpp"

namespace pretended_cuda {

namespace {

enum class Place { device, opened, pinned, managed, registered };
struct Block {
  std::size_t bytes = 0;
  Place place = Place::device;
  void* mapping = nullptr;  ///< null: of the caller
  std::size_t mapped_bytes = 0;
  int file = -1;  ///< that is the device's memory
};
std::mutex mutex;
std::map<const char*, Block> blocks;

constexpr std::size_t alignment = 256;  // cudaMalloc()'s
std::size_t rounded(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

double used_of(Place place) {
  double used = 0;
  for (const auto& [address, block] : blocks)
    if (block.place == place) used += static_cast<double>(block.bytes);
  return used;
}

/// Null: none has all of it.
const Block* block_of(const void* data, std::size_t bytes) {
  const auto* const first = static_cast<const char*>(data);
  auto after = blocks.upper_bound(first);
  if (after == blocks.begin()) return nullptr;
  const auto& [address, block] = *--after;
  return first + bytes <= address + block.bytes ? &block : nullptr;
}

std::size_t page_bytes() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

/// Maps `inside` bytes between two pages that nobody may touch: of the file behind its first page, or of none. Null:
/// there are none.
char* map_guarded(std::size_t inside, int file) {
  const std::size_t page = page_bytes();
  void* const mapping =
      ::mmap(nullptr, inside + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  char* const first = static_cast<char*>(mapping) + page;
  const int how = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  if (::mmap(first, inside, PROT_READ | PROT_WRITE, how | MAP_FIXED, file, file < 0 ? 0 : static_cast<off_t>(page)) ==
      MAP_FAILED)
    stop("mmap failed");
  return first;
}

cudaError_t allocate(void** data, std::size_t bytes, Place place) {
  const std::lock_guard lock(mutex);
  const double used = used_of(Place::device);
  const double size = static_cast<double>(bytes);
  if (place == Place::device && used + size > settings().memory_bytes) return fail(cudaErrorMemoryAllocation);
  if (place == Place::managed && used + used_of(Place::managed) + size > settings().memory_bytes)
    stop("more managed memory than the device has: a real one may hang");
  const std::size_t inside = rounded(bytes, page_bytes());
  int file = -1;
  if (place == Place::device) {
    file = ::memfd_create("pretended_cuda", MFD_CLOEXEC);
    if (file < 0 || ::ftruncate(file, static_cast<off_t>(inside + page_bytes())) != 0) stop("memfd_create failed");
  }
  char* const first = map_guarded(inside, file);
  if (first == nullptr) return fail(cudaErrorMemoryAllocation);
  char* const begin = first + inside - rounded(bytes, alignment);
  std::memset(first, 0xff, inside);
  blocks[begin] = {bytes, place, first - page_bytes(), inside + 2 * page_bytes(), file};
  *data = begin;
  return cudaSuccess;
}

/// How many other processes have the memory of a file open: the first word of its first page.
class Openings {
 public:
  explicit Openings(int file) : page_(::mmap(nullptr, page_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)) {
    if (page_ == MAP_FAILED) stop("mmap failed");
  }
  ~Openings() { ::munmap(page_, page_bytes()); }
  Openings(const Openings&) = delete;
  Openings& operator=(const Openings&) = delete;
  [[nodiscard]] std::atomic_ref<long> count() const { return std::atomic_ref<long>(*static_cast<long*>(page_)); }

 private:
  void* page_;
};

/// As it lies in a handle.
struct Exported {
  long process;
  int file;
  std::size_t bytes;
};

cudaError_t release(void* data, std::initializer_list<Place> places, cudaError_t otherwise) {
  const cudaError_t asked = count_call();
  if (data == nullptr) return asked;
  drain_all();
  const std::lock_guard lock(mutex);
  const auto found = blocks.find(static_cast<char*>(data));
  if (found == blocks.end()) return fail(otherwise);
  for (const Place place : places) {
    if (found->second.place != place) continue;
    const Block& block = found->second;
    if (place == Place::device && Openings(block.file).count() > 0)
      stop("memory is freed that another process has open");
    if (place == Place::opened) --Openings(block.file).count();
    if (block.mapping != nullptr) ::munmap(block.mapping, block.mapped_bytes);
    if (block.file >= 0) ::close(block.file);
    blocks.erase(found);
    return asked;
  }
  return fail(otherwise);
}

struct Rows {
  char* to;
  std::size_t to_pitch;
  const char* from;
  std::size_t from_pitch;
  std::size_t width;
  std::size_t height;
  [[nodiscard]] std::size_t span(std::size_t pitch) const { return (height - 1) * pitch + width; }
  void copy() const {
    for (std::size_t row = 0; row < height; ++row) std::memcpy(to + row * to_pitch, from + row * from_pitch, width);
  }
};

/// Both sides lie where `kind` says.
void check_places(const Rows& rows, cudaMemcpyKind kind) {
  const bool up = kind == cudaMemcpyHostToDevice;
  const std::size_t to_bytes = rows.span(rows.to_pitch);
  const std::size_t from_bytes = rows.span(rows.from_pitch);
  if (!(up ? is_on_device(rows.to, to_bytes) : is_on_device(rows.from, from_bytes)))
    stop("a copy reaches beyond an allocation of the device");
  if (up ? touches_device(rows.from, from_bytes) : touches_device(rows.to, to_bytes))
    stop("a copy takes an address of the device for one of the host");
}

/// From pageable memory a call returns once the data is in a buffer of the driver, from which it goes to the device
/// later; into pageable memory it returns when the data is there.
cudaError_t copy(const Rows& rows, cudaMemcpyKind kind, cudaStream_t stream) {
  if (rows.width == 0 || rows.height == 0) return cudaSuccess;
  check_places(rows, kind);
  const bool up = kind == cudaMemcpyHostToDevice;
  const bool locked =
      up ? is_page_locked(rows.from, rows.span(rows.from_pitch)) : is_page_locked(rows.to, rows.span(rows.to_pitch));
  if (locked || !up) {
    enqueue(stream, [rows] { rows.copy(); });
    if (!locked) drain(stream);
    return cudaSuccess;
  }
  std::vector<char> staged(rows.width * rows.height);
  Rows rest = rows;
  rest.to = staged.data();
  rest.to_pitch = rows.width;
  rest.copy();
  enqueue(stream, [rows, staged = std::move(staged)] {
    Rows from_staged = rows;
    from_staged.from = staged.data();
    from_staged.from_pitch = rows.width;
    from_staged.copy();
  });
  return cudaSuccess;
}

}  // namespace

double used_bytes() {
  const std::lock_guard lock(mutex);
  return used_of(Place::device);
}

bool is_on_device(const void* data, std::size_t bytes) {
  const std::lock_guard lock(mutex);
  const Block* const block = block_of(data, bytes);
  return block != nullptr && (block->place == Place::device || block->place == Place::opened);
}

PlaceInFile place_in_file(const void* data, std::size_t bytes) {
  const std::lock_guard lock(mutex);
  const Block* const block = block_of(data, bytes);
  if (block == nullptr || block->place != Place::device) return {-1, 0};
  return {block->file, static_cast<std::size_t>(static_cast<const char*>(data) - static_cast<char*>(block->mapping))};
}

bool is_page_locked(const void* data, std::size_t bytes) {
  const std::lock_guard lock(mutex);
  const Block* const block = block_of(data, bytes);
  return block != nullptr && block->place != Place::device && block->place != Place::opened;
}

bool touches_device(const void* data, std::size_t bytes) {
  const auto* const first = static_cast<const char*>(data);
  const std::lock_guard lock(mutex);
  for (const auto& [address, block] : blocks)
    if ((block.place == Place::device || block.place == Place::opened) && first < address + block.bytes &&
        address < first + bytes)
      return true;
  return false;
}

}  // namespace pretended_cuda

using pretended_cuda::fail;
using pretended_cuda::Place;

extern "C" {

/// Allocations that were not freed, and memory that is still registered. For tests, which look it up by its name.
std::size_t pretended_cuda_held();
std::size_t pretended_cuda_held() {
  const std::lock_guard lock(pretended_cuda::mutex);
  return pretended_cuda::blocks.size();
}

/// Bytes of the device that are not freed. For tests, too.
double pretended_cuda_used();
double pretended_cuda_used() { return pretended_cuda::used_bytes(); }

cudaError_t cudaMalloc(void** data, std::size_t bytes) {
  PRETENDED_CALL();
  return pretended_cuda::allocate(data, bytes, Place::device);
}

cudaError_t cudaMallocHost(void** data, std::size_t bytes) {
  PRETENDED_CALL();
  return pretended_cuda::allocate(data, bytes, Place::pinned);
}

cudaError_t cudaMallocManaged(void** data, std::size_t bytes, unsigned /*flags*/) {
  PRETENDED_CALL();
  return pretended_cuda::allocate(data, bytes, Place::managed);
}

cudaError_t cudaMemAdvise(const void* /*data*/, std::size_t /*bytes*/, cudaMemoryAdvise /*advice*/,
                          cudaMemLocation /*location*/) {
  PRETENDED_CALL();
  return cudaSuccess;
}

cudaError_t cudaFree(void* data) {
  return pretended_cuda::release(data, {Place::device, Place::managed}, cudaErrorInvalidValue);
}

cudaError_t cudaFreeHost(void* data) { return pretended_cuda::release(data, {Place::pinned}, cudaErrorInvalidValue); }

/// What is no multiple of 2 MiB may share a block with what else is allocated, and a handle is of blocks.
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* data) {
  PRETENDED_CALL();
  if (!pretended_cuda::settings().ipc) return fail(cudaErrorNotSupported);
  const std::lock_guard lock(pretended_cuda::mutex);
  const auto found = pretended_cuda::blocks.find(static_cast<char*>(data));
  if (found == pretended_cuda::blocks.end() || found->second.place != Place::device) return fail(cudaErrorInvalidValue);
  if (found->second.bytes % (std::size_t{2} << 20) != 0)
    pretended_cuda::stop("a handle is asked for of a part of a block");
  const pretended_cuda::Exported exported{::getpid(), found->second.file, found->second.bytes};
  static_assert(sizeof(exported) <= sizeof(*handle));
  std::memcpy(handle, &exported, sizeof(exported));
  return cudaSuccess;
}

cudaError_t cudaIpcOpenMemHandle(void** data, cudaIpcMemHandle_t handle, unsigned flags) {
  PRETENDED_CALL();
  pretended_cuda::Exported exported{};
  std::memcpy(&exported, &handle, sizeof(exported));
  if (flags != cudaIpcMemLazyEnablePeerAccess || exported.process == ::getpid())
    return fail(cudaErrorInvalidResourceHandle);
  const std::string path = "/proc/" + std::to_string(exported.process) + "/fd/" + std::to_string(exported.file);
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return fail(cudaErrorMapBufferObjectFailed);
  char* const first = pretended_cuda::map_guarded(exported.bytes, file);
  if (first == nullptr) return fail(cudaErrorMapBufferObjectFailed);
  ++pretended_cuda::Openings(file).count();
  const std::size_t page = pretended_cuda::page_bytes();
  const std::lock_guard lock(pretended_cuda::mutex);
  pretended_cuda::blocks[first] = {exported.bytes, Place::opened, first - page, exported.bytes + 2 * page, file};
  *data = first;
  return cudaSuccess;
}

cudaError_t cudaIpcCloseMemHandle(void* data) {
  return pretended_cuda::release(data, {Place::opened}, cudaErrorInvalidValue);
}

cudaError_t cudaHostRegister(void* data, std::size_t bytes, unsigned /*flags*/) {
  PRETENDED_CALL();
  const auto* const first = static_cast<const char*>(data);
  const std::lock_guard lock(pretended_cuda::mutex);
  for (const auto& [address, block] : pretended_cuda::blocks)
    if (first < address + block.bytes && address < first + bytes) return fail(cudaErrorHostMemoryAlreadyRegistered);
  pretended_cuda::blocks[first] = {bytes, Place::registered};
  return cudaSuccess;
}

cudaError_t cudaHostUnregister(void* data) {
  return pretended_cuda::release(data, {Place::registered}, cudaErrorHostMemoryNotRegistered);
}

cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                              std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  PRETENDED_CALL();
  for (const std::size_t pitch : {to_pitch, from_pitch})
    if (pitch < width || pitch > pretended_cuda::settings().max_pitch) return fail(cudaErrorInvalidPitchValue);
  return pretended_cuda::copy(
      {static_cast<char*>(to), to_pitch, static_cast<const char*>(from), from_pitch, width, height}, kind, stream);
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  PRETENDED_CALL();
  return pretended_cuda::copy({static_cast<char*>(to), bytes, static_cast<const char*>(from), bytes, bytes, 1}, kind,
                              stream);
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return cudaMemcpyAsync(to, from, bytes, kind, nullptr);
}
}
