// NCCL's sends and receives between processes of this machine. What a group has runs on its stream: each receive copies
// from the memory of the sender, once both have come to it. A send alone waits for its receive, as NCCL says it may.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "pretended.hpp"

struct ncclUniqueId {
  long process;
  int file;
  char rest[112];
};
static_assert(sizeof(ncclUniqueId) == 128);

namespace {

using pretended_cuda::stop;

constexpr int success = 0;
constexpr int unhandled_cuda_error = 1;
constexpr int invalid_argument = 4;
constexpr int invalid_usage = 5;
constexpr int remote_error = 6;
constexpr int most_ranks = 8;
constexpr long most_wait_s = 60;

/// A message from one rank to another: of which file of the sender's memory. The sender counts `sent` up when it is
/// told, the receiver `received` when it is copied.
struct Channel {
  std::atomic<long> sent;
  std::atomic<long> received;
  long process;
  int file;
  std::size_t offset;
  std::size_t bytes;
};

/// What the ranks of a communicator share. It begins as zeros.
struct Meeting {
  std::atomic<int> came;
  std::atomic<int> failed;
  int devices[most_ranks];
  Channel channels[most_ranks][most_ranks];  ///< by sender and receiver
};

struct Message {
  bool is_send = false;
  char* data = nullptr;
  std::size_t bytes = 0;
  int other = 0;
};

template <class Ready>
void wait_for(const Ready& ready, const char* what) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(most_wait_s);
  while (!ready()) {
    if (std::chrono::steady_clock::now() > end) stop(std::string("NCCL waits forever for ") + what);
    std::this_thread::yield();
  }
}

void* map_file(long process, int file, std::size_t bytes) {
  const std::string path = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(file);
  const int opened = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  void* const mapping = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0);
  ::close(opened);
  if (mapping == MAP_FAILED) stop("NCCL cannot map the memory of another process");
  return mapping;
}

}  // namespace

struct ncclComm {
  Meeting* meeting = nullptr;
  int rank = 0;
  int ranks = 0;
};

namespace {

thread_local bool in_group = false;
thread_local std::vector<Message> group;
thread_local cudaStream_t group_stream = nullptr;
thread_local ncclComm* group_comm = nullptr;

void post(const ncclComm& comm, const Message& message) {
  Channel& channel = comm.meeting->channels[comm.rank][message.other];
  const auto [file, offset] = pretended_cuda::place_in_file(message.data, message.bytes);
  if (file < 0) stop("NCCL sends from beyond an allocation of the device");
  channel.process = ::getpid();
  channel.file = file;
  channel.offset = offset;
  channel.bytes = message.bytes;
  ++channel.sent;
}

void take(const ncclComm& comm, const Message& message) {
  Channel& channel = comm.meeting->channels[message.other][comm.rank];
  wait_for([&] { return channel.sent > channel.received; }, "a send");
  if (channel.bytes != message.bytes) stop("NCCL receives a message of another length than is sent");
  if (!pretended_cuda::is_on_device(message.data, message.bytes))
    stop("NCCL receives to beyond an allocation of the device");
  void* const mapping = map_file(channel.process, channel.file, channel.offset + channel.bytes);
  std::memcpy(message.data, static_cast<char*>(mapping) + channel.offset, message.bytes);
  ::munmap(mapping, channel.offset + channel.bytes);
  ++channel.received;
}

void run(const ncclComm& comm, const std::vector<Message>& messages) {
  for (const Message& message : messages)
    if (message.is_send) post(comm, message);
  for (const Message& message : messages)
    if (!message.is_send) take(comm, message);
  for (const Message& message : messages) {
    const Channel& channel = comm.meeting->channels[comm.rank][message.other];
    if (message.is_send) wait_for([&] { return channel.received == channel.sent; }, "a receive");
  }
}

int queue_message(const Message& message, int type, ncclComm* comm, cudaStream_t stream) {
  if (pretended_cuda::count_call() != cudaSuccess) return unhandled_cuda_error;
  if (type != 0 || message.other < 0 || message.other >= comm->ranks || message.other == comm->rank)
    return invalid_argument;
  if (!in_group) {
    pretended_cuda::enqueue(stream, [comm, message] { run(*comm, {message}); });
    return success;
  }
  if (!group.empty() && (stream != group_stream || comm != group_comm)) stop("a group of NCCL on several streams");
  group.push_back(message);
  group_stream = stream;
  group_comm = comm;
  return success;
}

}  // namespace

extern "C" {

int ncclGetVersion(int* version);
int ncclGetVersion(int* version) {
  *version = 22809;
  return success;
}

const char* ncclGetErrorString(int result);
const char* ncclGetErrorString(int result) {
  if (result == unhandled_cuda_error) return "unhandled cuda error (run with NCCL_DEBUG=INFO for details)";
  if (result == invalid_usage) return "invalid usage (run with NCCL_DEBUG=WARN for details)";
  if (result == remote_error) return "remote process exited or there was a network error";
  return result == success ? "no error" : "invalid argument (run with NCCL_DEBUG=WARN for details)";
}

int ncclGetUniqueId(ncclUniqueId* id);
int ncclGetUniqueId(ncclUniqueId* id) {
  if (pretended_cuda::count_call() != cudaSuccess) return unhandled_cuda_error;
  const int file = ::memfd_create("pretended_nccl", MFD_CLOEXEC);
  if (file < 0 || ::ftruncate(file, sizeof(Meeting)) != 0) stop("memfd_create failed");
  *id = {::getpid(), file, {}};
  return success;
}

int ncclCommInitRank(ncclComm** made, int ranks, ncclUniqueId id, int rank);
int ncclCommInitRank(ncclComm** made, int ranks, ncclUniqueId id, int rank) {
  if (ranks > most_ranks) stop("more ranks than the pretended NCCL has");
  auto* const meeting = static_cast<Meeting*>(map_file(id.process, id.file, sizeof(Meeting)));
  meeting->devices[rank] = pretended_cuda::current_device();
  if (pretended_cuda::count_call() != cudaSuccess) {
    ++meeting->failed;
    return unhandled_cuda_error;
  }
  ++meeting->came;
  wait_for([&] { return meeting->came == ranks || meeting->failed > 0; }, "a rank that is to join");
  if (id.process == ::getpid()) ::close(id.file);  // all have it open
  if (meeting->failed > 0) return remote_error;
  for (int other = 0; other < ranks; ++other)
    if (other != rank && meeting->devices[other] == meeting->devices[rank]) return invalid_usage;
  *made = new ncclComm{meeting, rank, ranks};
  return success;
}

int ncclCommDestroy(ncclComm* comm);
int ncclCommDestroy(ncclComm* comm) {
  pretended_cuda::drain_all();
  ::munmap(comm->meeting, sizeof(Meeting));
  delete comm;
  return pretended_cuda::count_call() == cudaSuccess ? success : unhandled_cuda_error;
}

/// What is queued may never end.
int ncclCommAbort(ncclComm* comm);
int ncclCommAbort(ncclComm* /*comm*/) { return success; }

int ncclGroupStart();
int ncclGroupStart() {
  if (pretended_cuda::count_call() != cudaSuccess) return unhandled_cuda_error;
  in_group = true;
  return success;
}

int ncclGroupEnd();
int ncclGroupEnd() {
  in_group = false;
  const std::vector<Message> messages = std::exchange(group, {});
  if (pretended_cuda::count_call() != cudaSuccess) return unhandled_cuda_error;
  if (!messages.empty()) pretended_cuda::enqueue(group_stream, [comm = group_comm, messages] { run(*comm, messages); });
  return success;
}

int ncclSend(const void* data, std::size_t count, int type, int other, ncclComm* comm, cudaStream_t stream);
int ncclSend(const void* data, std::size_t count, int type, int other, ncclComm* comm, cudaStream_t stream) {
  return queue_message({true, static_cast<char*>(const_cast<void*>(data)), count, other}, type, comm, stream);
}

int ncclRecv(void* data, std::size_t count, int type, int other, ncclComm* comm, cudaStream_t stream);
int ncclRecv(void* data, std::size_t count, int type, int other, ncclComm* comm, cudaStream_t stream) {
  return queue_message({false, static_cast<char*>(data), count, other}, type, comm, stream);
}
}
