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
      : request_(request), choice_(choose_device(*request.backend, context.comm)) {
    device_ = request.backend->make_device(choice_.number, context.local_fft);
  }

  [[nodiscard]] std::unique_ptr<Buffer> adopt(std::unique_ptr<Buffer> allocated) override {
    std::unique_ptr<Buffer> mirror;
    if (request_.staging == DataStaging::resident) mirror = device_->allocate(allocated->bytes());
    return host_array(device_, request_.memory, std::move(allocated), std::move(mirror));
  }
  void holds(Buffer& array) override { mirrors_.add(dynamic_cast<DeviceArray&>(array)); }

  /// The library and the exchange of the chain; these parts outlive it.
  [[nodiscard]] PlanContext context_of(const PlanContext& context, const std::vector<ChainStage>& stages) {
    const Card card = context.local_fft.card();
    if (request_.staging == DataStaging::resident) {
      library_ = std::make_unique<ResidentLibrary>(device_, mirrors_, card);
      if (context.exchange != nullptr)
        exchange_ = std::make_unique<ResidentMethod>(device_, mirrors_, *context.exchange, request_.direct);
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

 protected:
  DeviceRequest request_;
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
    facts.workspace_bytes += facts.buffer_bytes;
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

/// Bytes of the device that one plan of this rank takes at the least.
double device_bytes(const Problem& problem, const DeviceRequest& request, const std::vector<ChainStage>& stages,
                    int rank) {
  const bool two = stages.size() > 1 || problem.contract.buffers == Buffers::out_of_place;
  Index elements = 0;
  if (request.staging == DataStaging::resident) {
    elements = largest_box(stages, rank) * (two ? 2 : 1);
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

/// The reason given by the lowest failing rank; the same on all ranks.
std::string first_reason(MPI_Comm comm, const std::string& mine) {
  const int me = mpi::rank_in(comm);
  int speaker = mine.empty() ? mpi::size_of(comm) : me;
  FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, &speaker, 1, MPI_INT, MPI_MIN, comm));
  if (speaker == mpi::size_of(comm)) return {};
  return mpi::broadcast_text(comm, speaker, mine);
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
       "of staging=resident: by way of the host, or from the device's memory by an MPI that takes it",
       "host",
       {"host", "device"}},
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
  request.direct = choice_parameter(problem, "messages", {"host", "device"}) == "device";
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
  if (const auto count = backend.count(); count && *count > 0) {
    choice.number = me % *count;
    choice.sharing = (choice.ranks - choice.number + *count - 1) / *count;
  }
  return choice;
}

LocalFftUse DeviceVariant::local_fft(const Problem& problem) const {
  return {device_request(problem).backend->local_fft(), problem.threads};
}

std::optional<std::string> DeviceVariant::refuses(const ExchangeMethod& exchange, const Problem& problem) const {
  const DeviceRequest request = device_request(problem);
  const std::string name = exchange.card().name;
  if (request.staging == DataStaging::streamed && piecewise(exchange) == nullptr)
    return fmt::format("exchange '{}' cannot have several pieces in flight, as staging=streamed asks", name);
  if (request.memory == HostMemory::managed && exchange.brings_arrays())
    return fmt::format("exchange '{}' has memory of its own, so that host-memory=managed cannot be", name);
  return std::nullopt;
}

std::optional<std::string> DeviceVariant::supports(const Problem& problem, int ranks) const {
  const DeviceRequest request = device_request(problem);
  if (request.direct && request.staging != DataStaging::resident) return "messages=device takes staging=resident";
  if (request.asks_for_pieces && request.staging != DataStaging::streamed)
    return "more pieces than 1 take staging=streamed";
  auto reason = fits(problem, ranks);
  if (reason) return reason;
  if (choice_parameter(problem, "merge-stages", {"auto", "yes", "no"}) != "auto" &&
      !has_stages_to_merge(problem, ranks))
    return "merge-stages takes stages in the same layout, and here there are none";
  if (const std::string missing = request.backend->unavailable(); !missing.empty())
    return fmt::format("no device '{}' can be used: {}", request.backend->card().name, missing);
  if (request.direct && !request.backend->mpi_takes_its_memory())
    return "messages=device takes an MPI that says that it takes the device's memory; this one does not";
  return std::nullopt;
}

std::string RequestedDevice::obstacle(const Problem& problem, MPI_Comm comm, int plans) const {
  const DeviceRequest request = this->request(problem);
  Problem one = problem;
  if (goes_back(one.direction)) one = in_direction(one, Direction::forward);
  const int ranks = mpi::size_of(comm);
  const int me = mpi::rank_in(comm);
  const double managed = plans * managed_bytes(one, request, ranks);
  const double arrays = plans * bytes_on_device(one, ranks, me) + managed;
  std::string reason;
  try {
    const DeviceChoice choice = choose_device(*request.backend, comm);
    const auto count = request.backend->count();
    if (count && *count == 0) {
      reason = fmt::format("no device '{}' is on this node", request.backend->card().name);
    } else if (count && choice.ranks > *count && !request.share) {
      reason = fmt::format("{} ranks of a node have {}; expected share-device=yes, or no more ranks than devices",
                           choice.ranks, plural(*count, "device"));
    } else {
      const auto device = device_of(request, choice);
      const double free = device->free_bytes() / choice.sharing;
      const double areas = plans * static_cast<double>(work_area_bytes(*device, one, ranks, me));
      if (request.memory == HostMemory::managed && !device->has_managed_memory())
        reason = "the device has no managed memory, as host-memory=managed asks";
      else if (arrays + areas > free)
        reason = fmt::format(
            "not enough memory on the device: {} need at least {:.0f} bytes a rank{}{}, and {:.0f} of it are free "
            "for each of {}",
            plural(plans, "plan"), arrays + areas, managed > 0 ? ", with arrays in managed memory" : "",
            areas > 0 ? fmt::format(", {:.0f} of them for work areas", areas) : "", free,
            plural(choice.sharing, "rank"));
    }
  } catch (const std::runtime_error& error) {
    reason = error.what();
  }
  return first_reason(comm, reason);
}

bool RequestedDevice::emulates(const Problem& problem) const { return request(problem).backend->emulated(); }

nlohmann::json RequestedDevice::describe(const Problem& problem, MPI_Comm comm) const {
  const DeviceRequest request = this->request(problem);
  const DeviceChoice choice = choose_device(*request.backend, comm);
  const auto device = device_of(request, choice);
  return {{"backend", request.backend->card().name},
          {"emulated", request.backend->emulated()},
          {"ranks_on_it", choice.sharing},
          {"mpi_takes_its_memory", request.backend->mpi_takes_its_memory()},
          {"versions", request.backend->versions()},
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
