#include "chain/device_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/text.hpp"
#include "mpi/broadcast.hpp"
#include "mpi/error.hpp"
#include "offload/moved_data.hpp"
#include "offload/resident.hpp"

namespace fourscore {

namespace {

constexpr int streamed_queues = 3;  // one piece on its way in, one in work, one on its way out

/// In the kind of memory that was asked for, in the place of what was allocated.
std::unique_ptr<Buffer> host_array(const std::shared_ptr<Device>& device, HostMemory kind,
                                   std::unique_ptr<Buffer> allocated, std::unique_ptr<Buffer> mirror) {
  const std::size_t bytes = allocated->bytes();
  std::unique_ptr<Pinned> pinned;
  if (kind == HostMemory::managed) allocated = device->allocate_host(HostMemory::managed, bytes);
  if (kind == HostMemory::pinned && bytes > 0) pinned = device->pin(allocated->data(), bytes);
  return std::make_unique<DeviceArray>(device, std::move(allocated), std::move(pinned), std::move(mirror));
}

/// For questions; it makes no plans.
std::unique_ptr<Device> device_of(const DeviceRequest& request, const DeviceChoice& choice) {
  return request.backend->make_device(choice.number,
                                      LocalFftRegistry::instance().get(request.backend->local_fft(), "library"));
}

/// What a plan has of its device, made before its chain is.
class DeviceParts : public ArrayKeeper {
 public:
  DeviceParts(const PlanContext& context, const DeviceRequest& request)
      : request_(request), comm_(context.comm), choice_(choose_device(*request.backend, context.comm)) {
    device_ = request.backend->make_device(choice_.number, context.local_fft);
  }

  [[nodiscard]] std::unique_ptr<Buffer> adopt(std::unique_ptr<Buffer> allocated) override {
    std::unique_ptr<Buffer> mirror;
    if (request_.path == MessagePath::neighbours)
      mirror = device_->allocate_among(comm_, allocated->bytes());
    else if (request_.staging == DataStaging::resident)
      mirror = device_->allocate(allocated->bytes());
    return host_array(device_, request_.memory, std::move(allocated), std::move(mirror));
  }
  void holds(Buffer& array) override { mirrors_.add(dynamic_cast<DeviceArray&>(array)); }

  /// The library and the exchange of the chain; these parts outlive it.
  [[nodiscard]] PlanContext context_of(const PlanContext& context, const std::vector<ChainStage>& stages) {
    const Card card = context.local_fft.card();
    if (request_.staging == DataStaging::resident) {
      library_ = std::make_unique<ResidentLibrary>(device_, mirrors_, card);
      if (context.exchange != nullptr)
        exchange_ = std::make_unique<ResidentMethod>(device_, mirrors_, *context.exchange, request_.path,
                                                     library_of_messages());
      return {context.problem, context.comm, exchange_.get(), *library_, context.shared};
    }
    OffloadSpec offload;
    if (request_.staging == DataStaging::streamed) {
      offload.pieces = request_.pieces;
      offload.streams = std::make_shared<DeviceStreams>(device_, streamed_queues);
    } else {
      offload.streams = std::make_shared<DeviceStreams>(device_, 1);
      const Index most = largest_box(stages, mpi::rank_in(context.comm), true);
      if (most > 0)
        offload.memory = device_->allocate(static_cast<std::size_t>(most) * context.problem.element_bytes());
    }
    workspace_bytes_ = offload.memory ? offload.memory->bytes() : 0;
    library_ = std::make_unique<OffloadingLibrary>(device_, card, offload);
    return {context.problem, context.comm, context.exchange, *library_, context.shared};
  }

 private:
  [[nodiscard]] LibraryOfMessages library_of_messages() const {
    if (request_.path != MessagePath::library) return {};
    return {device_->make_messages(comm_), comm_};
  }

 protected:
  DeviceRequest request_;
  MPI_Comm comm_;
  DeviceChoice choice_;
  std::shared_ptr<Device> device_;
  Mirrors mirrors_;
  std::size_t workspace_bytes_ = 0;
  std::unique_ptr<LocalFftLibrary> library_;
  std::unique_ptr<ExchangeMethod> exchange_;
};

class DevicePlan : private DeviceParts, public TransformChain {
 public:
  DevicePlan(const PlanContext& context, const DeviceRequest& request, const std::vector<ChainStage>& stages,
             TransformChain::Options options)
      : DeviceParts(context, request),
        TransformChain(context_of(context, stages), stages, with_keeper(std::move(options), this)) {
    PlanFacts& facts = declared();
    facts.workspace_bytes += workspace_bytes_;
    if (request.staging != DataStaging::resident) return;
    facts.workspace_bytes += mirrors_.bytes();
    facts.message_volume_is_exact = request.path != MessagePath::library;  // nobody counts them
    const int me = mpi::rank_in(context.comm);
    const auto place = [&](void* host, const Decomposition& layout, std::size_t element_bytes) -> MovedData::Place {
      const std::size_t bytes = static_cast<std::size_t>(layout.memory_volume(me)) * element_bytes;
      return {static_cast<std::byte*>(host), bytes == 0 ? nullptr : mirrors_.on_device(host), bytes};
    };
    moved_.emplace(*device_, place(input(), input_layout(), context.problem.input_element_bytes()),
                   place(output(), output_layout(), context.problem.output_element_bytes()));
  }

  void execute(PhaseClock& clock) override {
    if (moved_) moved_->bring_input(clock);
    TransformChain::execute(clock);
    if (moved_) moved_->return_output(clock);
  }
  Advance advance(PhaseClock& clock) override {
    if (moved_ && is_at_start()) moved_->bring_input(clock);
    const Advance result = TransformChain::advance(clock);
    if (moved_ && result == Advance::complete) moved_->return_output(clock);
    return result;
  }
  [[nodiscard]] DeviceData* device_data() override { return moved_ ? &*moved_ : nullptr; }

 private:
  static TransformChain::Options with_keeper(TransformChain::Options options, ArrayKeeper* keeper) {
    options.arrays = keeper;
    return options;
  }
  std::optional<MovedData> moved_;  ///< where its data is resident
};

int arrays_of(const Problem& problem, const std::vector<ChainStage>& stages) {
  return stages.size() > 1 || problem.contract.buffers == Buffers::out_of_place ? 2 : 1;
}

/// Bytes of the device that one plan of this rank takes at the least.
double device_bytes(const Problem& problem, const DeviceRequest& request, const std::vector<ChainStage>& stages,
                    int rank) {
  Index elements = 0;
  if (request.staging == DataStaging::resident) {
    elements = largest_box(stages, rank) * arrays_of(problem, stages);
  } else if (request.staging == DataStaging::copy) {
    elements = largest_box(stages, rank, true);
  } else {
    for (const ChainStage& stage : stages)
      elements += static_cast<Index>(stage.passes().size()) * stage.layout.box(rank).volume();
  }
  return static_cast<double>(elements) * static_cast<double>(problem.element_bytes());
}

/// Bytes of a plan's arrays that a rank has at the least in managed memory. A device maps them too: with more of them
/// than it has memory it may hang.
double managed_bytes(const Problem& problem, const DeviceRequest& request, int ranks) {
  if (request.memory != HostMemory::managed) return 0;
  double bytes = static_cast<double>(problem.element_bytes()) / ranks;
  for (const Index extent : problem.complex_extents()) bytes *= static_cast<double>(extent);
  return bytes * (ranks > 1 || problem.contract.buffers == Buffers::out_of_place ? 2 : 1);
}

/// What a call fails with on the lowest rank where it does; nothing where it does on none. Collective.
template <class Try>
Reason failure_on_any(MPI_Comm comm, const Try& try_it) {
  std::optional<std::string> failure;
  try {
    try_it();
  } catch (const std::runtime_error& error) {
    failure = error.what();
  }
  return mpi::first_text(comm, failure);
}

/// Nothing, or why the ranks cannot read the memory of each other's devices. Tried with some, since only the driver
/// knows which devices reach which. The same on all ranks.
Reason unreadable_neighbours(const DeviceRequest& request, MPI_Comm comm) {
  const int on_node = mpi::size_of(mpi::split_by_pretended_node(comm).get());
  Reason apart;
  if (on_node < mpi::size_of(comm)) apart = fmt::format("{} of {} ranks are on one", on_node, mpi::size_of(comm));
  if (const auto reason = mpi::first_text(comm, apart))
    return fmt::format("messages=ipc opens the memory of ranks on the same node; {}", *reason);
  const DeviceChoice choice = choose_device(*request.backend, comm);
  std::unique_ptr<Device> device;
  auto failure = failure_on_any(comm, [&] { device = device_of(request, choice); });
  if (!failure) failure = failure_on_any(comm, [&] { (void)device->allocate_among(comm, 1); });
  if (failure) failure->insert(0, "the memory of neighbours' devices cannot be opened: ");
  return failure;
}

/// Nothing, or which ranks have no device of their own, which a library asks. The same on all ranks.
Reason shared_devices(const DeviceRequest& request, MPI_Comm comm) {
  const DeviceChoice choice = choose_device(*request.backend, comm);
  Reason reason;
  if (choice.sharing > 1)
    reason = fmt::format(
        "{} ranks use the same device{}{}; {}", choice.sharing, choice.address.empty() ? "" : " ", choice.address,
        request.sole_user.empty() ? "messages=nccl takes one for each rank, as NCCL does" : request.sole_user);
  return mpi::first_text(comm, reason);
}

}  // namespace

LocalFftUse DeviceVariant::local_fft(const Problem& problem) const {
  return {device_request(problem).backend->local_fft(), problem.threads};
}

Reason DeviceVariant::refuses(const ExchangeMethod& exchange, const Problem& problem) const {
  const DeviceRequest request = device_request(problem);
  const std::string name = exchange.card().name;
  if (request.staging == DataStaging::streamed && piecewise(exchange) == nullptr)
    return fmt::format("exchange '{}' cannot have several pieces in flight, as staging=streamed asks", name);
  if (request.path == MessagePath::device && exchange.divisible() != Divisible::copies &&
      exchange.divisible() != Divisible::messages)
    return fmt::format("exchange '{}' does not pack apart from its messages, as messages=device asks", name);
  if (request.path == MessagePath::neighbours && exchange.divisible() != Divisible::reads)
    return fmt::format("exchange '{}' sends messages; messages=ipc takes one that reads neighbours' memory: shared",
                       name);
  if (request.path == MessagePath::neighbours && problem.parameters.contains("reads") &&
      problem.parameters.at("reads") == "fused")
    return "messages=ipc copies blocks on the device; reads=fused is for transforms on the processors";
  if (request.path == MessagePath::library && exchange.divisible() != Divisible::messages)
    return fmt::format(
        "exchange '{}' has messages of its own; messages=nccl takes one whose messages go one by one: "
        "p2p",
        name);
  if (request.memory == HostMemory::managed && exchange.brings_arrays() && request.path != MessagePath::neighbours)
    return fmt::format("exchange '{}' has memory of its own, so that host-memory=managed cannot be", name);
  return std::nullopt;
}

Reason DeviceVariant::supports(const Problem& problem, int ranks) const {
  const DeviceRequest request = device_request(problem);
  if (request.path != MessagePath::host && request.staging != DataStaging::resident)
    return fmt::format("messages={} takes staging=resident", problem.parameters.at("messages"));
  if (request.asks_for_pieces && request.staging != DataStaging::streamed)
    return "more pieces than 1 take staging=streamed";
  auto reason = fits(problem, ranks);
  if (reason) return reason;
  if (choice_parameter(problem, "merge-stages", {"auto", "yes", "no"}) != "auto" &&
      !has_stages_to_merge(problem, ranks))
    return "merge-stages takes stages in the same layout, and here there are none";
  if (const std::string missing = request.backend->unavailable(); !missing.empty())
    return fmt::format("no device '{}' can be used: {}", request.backend->card().name, missing);
  if (request.path == MessagePath::device && !request.backend->mpi_takes_its_memory())
    return "messages=device takes an MPI that says that it takes the device's memory (MPIX_Query_cuda_support); this "
           "one does not";
  if (request.path == MessagePath::library)
    if (const std::string missing = request.backend->messages_unavailable(); !missing.empty())
      return "messages=nccl cannot be had: " + missing;
  if (request.path == MessagePath::neighbours && !request.backend->shares_memory())
    return fmt::format("messages=ipc takes memory that other processes can open, which device '{}' has not",
                       request.backend->card().name);
  return std::nullopt;
}

Reason RequestedDevice::obstacle(const Problem& problem, MPI_Comm comm, int plans) const {
  const DeviceRequest request = this->request(problem);
  Reason lacking;
  if (auto failure = failure_on_any(comm, [&] { lacking = lacking_device(problem, request, comm, plans); }))
    return failure;
  if (auto reason = mpi::first_text(comm, lacking)) return reason;
  if (request.path == MessagePath::neighbours) return unreadable_neighbours(request, comm);
  return request.path == MessagePath::library ? shared_devices(request, comm) : std::nullopt;
}

/// What this rank alone can tell, or its CUDA throws.
Reason RequestedDevice::lacking_device(const Problem& problem, const DeviceRequest& request, MPI_Comm comm,
                                       int plans) const {
  const DeviceChoice choice = choose_device(*request.backend, comm);
  const auto count = request.backend->count();
  if (count && *count == 0) return fmt::format("no device '{}' is on this node", request.backend->card().name);
  if (choice.sharing > 1 && !request.share)
    return fmt::format("{} ranks of a node have {}; expected share-device=yes, or no more ranks than devices",
                       choice.ranks, plural(count.value_or(0), "device"));
  Problem one = problem;
  if (goes_back(one.direction)) one = in_direction(one, Direction::forward);
  const int ranks = mpi::size_of(comm);
  const int me = mpi::rank_in(comm);
  const double managed = plans * managed_bytes(one, request, ranks);
  const auto device = device_of(request, choice);
  const double arrays = plans * (bytes_on_device(one, ranks, me) + padding_bytes(*device, one, ranks, me)) + managed;
  const double free = device->free_bytes() / choice.sharing;
  const double areas = plans * static_cast<double>(work_area_bytes(*device, one, ranks, me));
  if (request.memory == HostMemory::managed && !device->has_managed_memory())
    return "the device has no managed memory, as host-memory=managed asks";
  if (arrays + areas <= free) return {};
  return fmt::format(
      "not enough memory on the device: {} need at least {:.0f} bytes a rank{}{}, and {:.0f} of it are free for each "
      "of {}",
      plural(plans, "plan"), arrays + areas, managed > 0 ? ", with arrays in managed memory" : "",
      areas > 0 ? fmt::format(", {:.0f} of them for work areas", areas) : "", free, plural(choice.sharing, "rank"));
}

bool RequestedDevice::emulates(const Problem& problem) const { return request(problem).backend->emulated(); }

nlohmann::json RequestedDevice::describe(const Problem& problem, MPI_Comm comm) const {
  const DeviceRequest request = this->request(problem);
  const DeviceChoice choice = choose_device(*request.backend, comm);
  const auto device = device_of(request, choice);
  nlohmann::json versions = request.backend->versions();
  if (request.path == MessagePath::library && request.sole_user.empty())
    versions["messages"] = request.backend->messages_version();
  return {{"backend", request.backend->card().name},
          {"emulated", request.backend->emulated()},
          {"ranks_on_it", choice.sharing},
          {"mpi_takes_its_memory", request.backend->mpi_takes_its_memory()},
          {"versions", std::move(versions)},
          {"identity", device->identity()},
          {"state", device->state()}};
}

OffloadedContext::OffloadedContext(const PlanContext& context, const DeviceRequest& request, std::size_t launch_bytes)
    : context_(context) {
  const DeviceChoice choice = choose_device(*request.backend, context.comm);
  const std::shared_ptr<Device> device = request.backend->make_device(choice.number, context.local_fft);
  OffloadSpec offload;
  offload.streams = std::make_shared<DeviceStreams>(device, 1);
  if (launch_bytes > 0) offload.memory = device->allocate(launch_bytes);
  library_ = std::make_unique<OffloadingLibrary>(device, context.local_fft.card(), offload);
  memory_ = [device, kind = request.memory](std::size_t bytes) -> std::unique_ptr<Buffer> {
    return host_array(device, kind, ordinary_buffer(bytes), nullptr);
  };
}

bool DeviceVariant::has_stages_to_merge(const Problem& problem, int ranks) const {
  Problem apart = problem;
  apart.parameters["merge-stages"] = "no";
  return std::ranges::any_of(stages(apart, fitting_grid(apart, ranks)),
                             [](const ChainStage& stage) { return stage.in_turn.size() > 1; });
}

double DeviceVariant::bytes_on_device(const Problem& problem, int ranks, int rank) const {
  return device_bytes(problem, device_request(problem), stages(problem, fitting_grid(problem, ranks)), rank);
}

double DeviceVariant::padding_bytes(Device& device, const Problem& problem, int ranks, int rank) const {
  if (device_request(problem).path != MessagePath::neighbours) return 0;
  const auto planned = stages(problem, fitting_grid(problem, ranks));
  const std::size_t bytes = static_cast<std::size_t>(largest_box(planned, rank)) * problem.element_bytes();
  return arrays_of(problem, planned) * static_cast<double>(device.bytes_among(bytes) - bytes);
}

std::size_t DeviceVariant::work_area_bytes(Device& device, const Problem& problem, int ranks, int rank) const {
  const DeviceRequest request = device_request(problem);
  const bool streams = request.staging == DataStaging::streamed;
  std::vector<std::size_t> areas(streams ? streamed_queues : 1);
  for (const ChainStage& stage : stages(problem, fitting_grid(problem, ranks)))
    for (const Axes& axes : stage.passes())
      widen_work_areas(device,
                       local_fft_spec(problem, axes, stage.layout.box(rank).extents(), stage.layout.strides(rank)),
                       streams ? request.pieces : 1, areas);
  return std::accumulate(areas.begin(), areas.end(), std::size_t{0});
}

std::unique_ptr<Plan> DeviceVariant::make_plan(const PlanContext& context) const {
  const DeviceRequest request = device_request(context.problem);
  const Grid grid = fitting_grid(context.problem, mpi::size_of(context.comm));
  TransformChain::Options chosen = options(context.problem, grid);
  if (request.staging == DataStaging::streamed && context.exchange != nullptr) chosen.pieces = request.pieces;
  return std::make_unique<DevicePlan>(context, request, stages(context.problem, grid), std::move(chosen));
}

/// With staging=streamed each message goes in pieces, as far as a rank has planes of its own to make pieces of.
Cost DeviceVariant::cost(const Problem& problem, int ranks) const {
  Cost cost = cost_of_whole_exchanges(problem, ranks);
  const DeviceRequest request = device_request(problem);
  if (request.staging != DataStaging::streamed) return cost;
  const Index planes = stages(problem, fitting_grid(problem, ranks)).front().layout.box(0).extents()[0];
  cost.messages_per_rank *= static_cast<double>(std::min<Index>(request.pieces, planes));
  return cost;
}

}  // namespace fourscore
