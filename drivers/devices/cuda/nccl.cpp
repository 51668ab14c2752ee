#include "devices/cuda/nccl.hpp"

#ifdef FOURSCORE_CUDA

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <stdexcept>

#include "devices/cuda/check.hpp"
#include "devices/cuda/fft.hpp"
#include "mpi/broadcast.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"

// As nccl.h has them.
struct ncclComm;
struct ncclUniqueId {
  char internal[128];
};

namespace fourscore::cuda {

namespace {

using Communicator = ncclComm*;
constexpr int nccl_success = 0;
constexpr int type_of_bytes = 0;  // ncclInt8

/// The functions that are called, of the file that is there when a program runs.
struct NcclFunctions {
  std::string failure{};  ///< empty: all are there
  int (*get_version)(int*) = nullptr;
  int (*get_unique_id)(ncclUniqueId*) = nullptr;
  int (*init_rank)(Communicator*, int, ncclUniqueId, int) = nullptr;
  int (*destroy)(Communicator) = nullptr;
  int (*abort)(Communicator) = nullptr;
  int (*group_start)() = nullptr;
  int (*group_end)() = nullptr;
  int (*send)(const void*, std::size_t, int, int, Communicator, cudaStream_t) = nullptr;
  int (*receive)(void*, std::size_t, int, int, Communicator, cudaStream_t) = nullptr;
  const char* (*error_text)(int) = nullptr;
  const char* (*last_error)(Communicator) = nullptr;  ///< null before NCCL 2.13
};

NcclFunctions load_nccl() {
  NcclFunctions functions;
  void* library = nullptr;
  for (const char* const file : {FOURSCORE_CUFFT_DIR "/libnccl.so.2", "libnccl.so.2"})
    if (library == nullptr) library = ::dlopen(file, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = ::dlerror();
    functions.failure = fmt::format("libnccl.so.2 cannot be loaded: {}", why == nullptr ? "" : why);
    return functions;
  }
  const auto find = [&](auto& function, const char* symbol) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, symbol));
    return function != nullptr;
  };
  const auto require = [&](auto& function, const char* symbol) {
    if (!find(function, symbol)) functions.failure = fmt::format("libnccl.so.2 has no {}", symbol);
  };
  require(functions.get_version, "ncclGetVersion");
  require(functions.get_unique_id, "ncclGetUniqueId");
  require(functions.init_rank, "ncclCommInitRank");
  require(functions.destroy, "ncclCommDestroy");
  require(functions.abort, "ncclCommAbort");
  require(functions.group_start, "ncclGroupStart");
  require(functions.group_end, "ncclGroupEnd");
  require(functions.send, "ncclSend");
  require(functions.receive, "ncclRecv");
  require(functions.error_text, "ncclGetErrorString");
  (void)find(functions.last_error, "ncclGetLastError");
  return functions;
}

const NcclFunctions& nccl() {
  static const NcclFunctions functions = load_nccl();
  return functions;
}

void require(int result, const char* call) {
  if (result == nccl_success) return;
  const char* const more = nccl().last_error == nullptr ? "" : nccl().last_error(nullptr);
  throw std::runtime_error(fmt::format("{} failed: {}{}{}", call, nccl().error_text(result),
                                       more == nullptr || *more == '\0' ? "" : ": ", more == nullptr ? "" : more));
}

class NcclMessages : public DeviceMessages {
 public:
  explicit NcclMessages(MPI_Comm comm) {
    ncclUniqueId id{};
    std::optional<std::string> failure;
    try {
      if (mpi::rank_in(comm) == 0) require(nccl().get_unique_id(&id), "ncclGetUniqueId");
    } catch (const std::runtime_error& error) {
      failure = error.what();
    }
    // Whoever then joined would wait for the others.
    if (const auto first = mpi::first_text(comm, failure)) throw std::runtime_error(*first);
    FOURSCORE_MPI(MPI_Bcast(&id, sizeof(id), MPI_BYTE, 0, comm));
    require(nccl().init_rank(&communicator_, mpi::size_of(comm), id, mpi::rank_in(comm)), "ncclCommInitRank");
  }
  ~NcclMessages() override {
    (void)(mpi::may_call_collectives() ? nccl().destroy(communicator_) : nccl().abort(communicator_));
  }
  NcclMessages(const NcclMessages&) = delete;
  NcclMessages& operator=(const NcclMessages&) = delete;

  void enqueue(Queue& queue, std::span<const DeviceMessage> sends, std::span<const DeviceMessage> receives) override {
    const cudaStream_t stream = stream_of(queue);
    require(nccl().group_start(), "ncclGroupStart");
    for (const DeviceMessage& message : sends)
      require(nccl().send(message.data, message.bytes, type_of_bytes, message.rank, communicator_, stream), "ncclSend");
    for (const DeviceMessage& message : receives)
      require(nccl().receive(message.data, message.bytes, type_of_bytes, message.rank, communicator_, stream),
              "ncclRecv");
    require(nccl().group_end(), "ncclGroupEnd");
  }

 private:
  Communicator communicator_ = nullptr;
};

}  // namespace

std::string nccl_unavailable() { return nccl().failure; }

/// 22809 is 2.28.9; before NCCL 2.9 the second part had two digits.
std::string nccl_version() {
  int version = 0;
  if (!nccl().failure.empty() || nccl().get_version(&version) != nccl_success) return {};
  const int major_unit = version < 10000 ? 1000 : 10000;
  return fmt::format("{}.{}.{}", version / major_unit, version % major_unit / 100, version % 100);
}

std::unique_ptr<DeviceMessages> make_nccl_messages(MPI_Comm comm) { return std::make_unique<NcclMessages>(comm); }

}  // namespace fourscore::cuda

#else

namespace fourscore::cuda {

std::string nccl_unavailable() { return "this program was built without CUDA"; }
std::string nccl_version() { return {}; }

}  // namespace fourscore::cuda

#endif
