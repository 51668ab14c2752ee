#include "chain/device_request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace fourscore {

namespace {

const std::vector<std::string>& message_paths() {
  static const std::vector<std::string> paths{"host", "device", "ipc", "nccl"};
  return paths;
}

/// How many ranks give this text, of fewer than 64 characters. Collective.
int ranks_with(const std::string& text, MPI_Comm comm) {
  using Text = std::array<char, 64>;
  Text mine{};
  text.copy(mine.data(), mine.size() - 1);
  std::vector<Text> all(static_cast<std::size_t>(mpi::size_of(comm)));
  mpi::check(MPI_Allgather(mine.data(), sizeof mine, MPI_CHAR, all.data(), sizeof mine, MPI_CHAR, comm),
             "MPI_Allgather");
  return static_cast<int>(std::ranges::count(all, mine));
}

}  // namespace

std::vector<Parameter> device_parameters() {
  return {
      {"device", "auto: a GPU, or the host's stand-in where there is none; opencl: GPUs of any maker", "auto",
       device_choices()},
      {"staging",
       "copy: to the device and back around each local transform; resident: data stays there; streamed: copies in "
       "pieces, that overlap",
       "copy",
       {"copy", "resident", "streamed"}},
      {"host-memory", "what is copied from and to", "pinned", {"pinned", "pageable", "managed"}},
      {"share-device", "whether ranks of a node may use one device together", "no", {"no", "yes"}},
      {"messages",
       "of staging=resident. host: by way of the host's memory; device: from the device's, by an MPI that takes it; "
       "ipc, with exchange shared: neighbours' devices are read, by CUDA IPC; nccl, with exchange p2p: NCCL sends them",
       "host", message_paths()},
      {.name = "pieces", .summary = "of staging=streamed: 1 to 1024", .fallback = "4", .samples = {"1", "3", "9"}},
      {"merge-stages",
       "stages in the same layout, as all are on one rank: one plan (yes), one for each (no), or one plan unless it "
       "leaves staging=streamed nothing to cut (auto)",
       "auto",
       {"auto", "yes", "no"}},
  };
}

DeviceRequest device_request(const Problem& problem) {
  DeviceRequest request;
  request.backend = &chosen_device(choice_parameter(problem, "device", device_choices()));
  const std::string staging = choice_parameter(problem, "staging", {"copy", "resident", "streamed"});
  if (staging == "resident") request.staging = DataStaging::resident;
  if (staging == "streamed") request.staging = DataStaging::streamed;
  request.memory =
      parse_host_memory(choice_parameter(problem, "host-memory", {"pinned", "pageable", "managed"}), "host-memory");
  request.share = choice_parameter(problem, "share-device", {"no", "yes"}) == "yes";
  const std::string messages = choice_parameter(problem, "messages", message_paths());
  if (messages == "device") request.path = MessagePath::device;
  if (messages == "ipc") request.path = MessagePath::neighbours;
  if (messages == "nccl") request.path = MessagePath::library;
  request.pieces = static_cast<int>(integer_parameter(problem, "pieces", 4, 1, 1024));
  request.asks_for_pieces = problem.parameters.contains("pieces") && request.pieces > 1;
  return request;
}

Merging merging_of(const Problem& problem) {
  const std::string asked = choice_parameter(problem, "merge-stages", {"auto", "yes", "no"});
  if (asked == "no") return Merging::none;
  const bool streams = device_request(problem).staging == DataStaging::streamed;
  return asked == "auto" && streams ? Merging::leaves_batch : Merging::all;
}

DeviceChoice choose_device(const DeviceBackend& backend, MPI_Comm comm) {
  const mpi::Communicator node = mpi::split_by_node(comm);
  const int me = mpi::rank_in(node.get());
  DeviceChoice choice{me, mpi::size_of(node.get()), 1};
  if (const auto count = backend.count(); count && *count > 0) choice.number = me % *count;
  const auto addresses = backend.addresses();
  const auto number = static_cast<std::size_t>(choice.number);
  if (number < addresses.size()) choice.address = addresses[number];
  choice.sharing = ranks_with(choice.address.empty() ? fmt::format("number {}", number) : choice.address, node.get());
  return choice;
}

}  // namespace fourscore
