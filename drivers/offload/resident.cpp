#include "offload/resident.hpp"

#include <map>
#include <stdexcept>
#include <utility>

#include "mpi/handles.hpp"
#include "offload/library_messages.hpp"
#include "offload/neighbour_reads.hpp"
#include "offload/ordered_copies.hpp"
#include "offload/peer_pipeline.hpp"

namespace fourscore {

namespace {

class ResidentFft : public LocalFft {
 public:
  ResidentFft(std::shared_ptr<Device> device, std::shared_ptr<DeviceStreams> streams, const Mirrors& mirrors,
              const LocalFftSpec& spec, void* in, void* out)
      : device_(std::move(device)),
        streams_(std::move(streams)),
        work_(*device_, 1),
        fft_(device_->make_fft(spec, mirrors.on_device(in), mirrors.on_device(out))) {
    streams_->add(0, *fft_);
  }
  void execute() override {
    fft_->enqueue(streams_->queue(0));
    streams_->synchronise();
  }
  /// A chain's transforms stay where they are.
  void execute_at(void* /*in*/, void* /*out*/) override { execute(); }
  void run(PhaseClock& clock) override {
    const DeviceRegion region(clock, Phase::fft);
    Queue& queue = streams_->queue(0);
    work_.span(queue, Phase::fft, [&] { fft_->enqueue(queue); });
    work_.settle(clock);
  }
  [[nodiscard]] std::string describe() const override { return fft_->describe(); }
  [[nodiscard]] double credited_flops() const override { return 0; }
  [[nodiscard]] std::size_t workspace_bytes() const override { return fft_->workspace_bytes(); }
  [[nodiscard]] DeviceWork device_work() const override { return {.ffts = 1}; }

 private:
  std::shared_ptr<Device> device_;
  std::shared_ptr<DeviceStreams> streams_;
  PhasedWork work_;
  std::unique_ptr<DeviceFft> fft_;
};

std::vector<Stretch> stretches_of(const auto& spans, const Mirrors& mirrors) {
  std::vector<Stretch> list;
  for (const auto& span : spans)
    list.push_back({const_cast<std::byte*>(span.data()), mirrors.on_device(span.data()), span.size()});
  return list;
}

class ResidentExchange : public Exchange {
 public:
  /// direct: the inner exchange is made for the device's arrays.
  ResidentExchange(std::shared_ptr<Device> device, const Mirrors& mirrors, std::unique_ptr<Exchange> inner,
                   const ExchangeSpec& spec, bool direct)
      : device_(std::move(device)), queue_(device_->make_queue()), direct_(direct), inner_(std::move(inner)) {
    declared() = inner_->facts();
    packs_apart_ = false;
    if (const auto memory = inner_->packed_memory()) {
      packs_apart_ = true;
      pack_ = ordered_copies(*device_, placed_copies(memory->pack, mirrors));
      unpack_ = ordered_copies(*device_, placed_copies(memory->unpack, mirrors));
      PeerwiseExchange* const by_peer = inner_->by_peer();
      if (!direct_) {
        down_ = by_peer == nullptr ? stretches_of(memory->sent, mirrors) : stretches_of(by_peer->sends(), mirrors);
        up_ = by_peer == nullptr ? stretches_of(memory->received, mirrors) : stretches_of(by_peer->receives(), mirrors);
      }
      if (by_peer != nullptr) pipeline_.emplace(*device_, *by_peer, parts_by_peer(*memory, *by_peer, mirrors), direct_);
    } else {
      down_ = whole(spec.source, spec.from.volume(mpi::rank_in(spec.comm)), spec, mirrors);
      Buffer& result = inner_->lands_in_source() ? spec.source : spec.spare;
      up_ = whole(result, spec.to.volume(mpi::rank_in(spec.comm)), spec, mirrors);
      declared().packs = declared().unpacks = false;  // they are parts of what the host does
    }
    work_.emplace(*device_, 2);
  }

  void pack() override { alone(pack_); }
  void unpack() override { alone(unpack_); }
  void start() override {
    copy(down_, CopyWay::to_host);
    queue_->synchronise();
    if (!packs_apart_) inner_->pack();
    inner_->start();
  }
  void finish() override {
    inner_->finish();
    if (!packs_apart_) inner_->unpack();
    copy(up_, CopyWay::to_device);
    queue_->synchronise();
  }

  void run(PhaseClock& clock) override {
    if (pipeline_)
      pipeline_->run(clock);
    else
      Exchange::run(clock);
  }
  void begin(PhaseClock& clock) override {
    if (pipeline_) return pipeline_->begin(clock);
    if (pack_ || !down_.empty()) {
      const DeviceRegion region(clock, pack_ ? Phase::pack : Phase::d2h);
      if (pack_) work_->span(*queue_, Phase::pack, [&] { pack_->enqueue(*queue_); });
      if (!down_.empty()) work_->span(*queue_, Phase::d2h, [&] { copy(down_, CopyWay::to_host); });
      work_->settle(clock);
    }
    const Region region(clock, Phase::exchange);
    if (!packs_apart_) inner_->pack();
    inner_->start();
  }
  void end(PhaseClock& clock) override {
    if (pipeline_) return pipeline_->end(clock);
    {
      const Region region(clock, Phase::exchange);
      inner_->finish();
      if (!packs_apart_) inner_->unpack();
    }
    if (!unpack_ && up_.empty()) return;
    const DeviceRegion region(clock, unpack_ ? Phase::unpack : Phase::h2d);
    if (!up_.empty()) work_->span(*queue_, Phase::h2d, [&] { copy(up_, CopyWay::to_device); });
    if (unpack_) work_->span(*queue_, Phase::unpack, [&] { unpack_->enqueue(*queue_); });
    work_->settle(clock);
  }

  /// The same parts on every rank, also where one has nothing to copy.
  [[nodiscard]] std::vector<WorkPart> parts() override {
    std::vector<WorkPart> list;
    const auto add_copy = [&](Phase phase, const std::vector<Stretch>& stretches, CopyWay way) {
      list.push_back({phase,
                      [this, &stretches, way] {
                        copy(stretches, way);
                        queue_->synchronise();
                      },
                      bytes_of(stretches)});
    };
    if (!direct_) add_copy(Phase::d2h, down_, CopyWay::to_host);
    list.push_back({Phase::exchange, [this] {
                      if (!packs_apart_) inner_->pack();
                      inner_->start();
                      inner_->finish();
                      if (!packs_apart_) inner_->unpack();
                    }});
    if (!direct_) add_copy(Phase::h2d, up_, CopyWay::to_device);
    return list;
  }

  [[nodiscard]] DeviceWork device_work() const override {
    return {static_cast<Index>(up_.size()), bytes_of(up_), 0, static_cast<Index>(down_.size()), bytes_of(down_)};
  }

 private:
  [[nodiscard]] static Index bytes_of(const std::vector<Stretch>& stretches) {
    Index bytes = 0;
    for (const Stretch& stretch : stretches) bytes += static_cast<Index>(stretch.bytes);
    return bytes;
  }
  [[nodiscard]] static std::vector<Stretch> whole(Buffer& array, Index elements, const ExchangeSpec& spec,
                                                  const Mirrors& mirrors) {
    if (elements == 0) return {};
    return {{static_cast<std::byte*>(array.data()), mirrors.on_device(array.data()),
             static_cast<std::size_t>(elements) * spec.element_bytes}};
  }
  void copy(const std::vector<Stretch>& stretches, CopyWay way) {
    for (const Stretch& stretch : stretches) copy_stretch(*queue_, stretch, way);
  }
  void alone(const std::unique_ptr<DeviceCopies>& copies) {
    if (!copies) return;
    copies->enqueue(*queue_);
    queue_->synchronise();
  }

  [[nodiscard]] std::byte* placed(const void* address, const Mirrors& mirrors) const {
    auto* const bytes = static_cast<std::byte*>(const_cast<void*>(address));
    return direct_ ? bytes : mirrors.on_device(address);
  }

  [[nodiscard]] std::vector<OrderedCopy> placed_copies(const std::vector<PackedMemory::Copy>& copies,
                                                       const Mirrors& mirrors) const {
    std::vector<OrderedCopy> list;
    for (const PackedMemory::Copy& copy : copies)
      if (copy.plan->bytes() > 0)
        list.push_back(
            {{placed(copy.from, mirrors), placed(copy.to, mirrors), copy.plan->run_bytes(), copy.plan->loops()},
             copy.overlapping});
    return list;
  }

  /// Deals copies to the messages in whose places they write (pack) or read (unpack); the block that stays to none.
  template <class Messages>
  [[nodiscard]] std::vector<OrderedCopy> deal(const Messages& messages, const std::vector<Stretch>& stretches,
                                              const std::vector<OrderedCopy>& copies,
                                              const std::vector<const std::byte*>& places,
                                              std::vector<PeerPart>& by_message) const {
    std::map<const std::byte*, std::size_t> number_of;
    for (std::size_t i = 0; i < messages.size(); ++i) {
      number_of[messages[i].data()] = i;
      by_message.push_back({stretches.empty() ? Stretch{} : stretches[i], {}});
    }
    std::vector<OrderedCopy> rest;
    for (std::size_t i = 0; i < copies.size(); ++i) {
      const auto found = number_of.find(places[i]);
      (found == number_of.end() ? rest : by_message[found->second].copies).push_back(copies[i]);
    }
    return rest;
  }
  /// A message is one block, so that its copy begins where it does.
  [[nodiscard]] PeerPipeline::Parts parts_by_peer(const PackedMemory& memory, const PeerwiseExchange& by_peer,
                                                  const Mirrors& mirrors) const {
    std::vector<const std::byte*> packed;
    std::vector<const std::byte*> unpacked;
    for (const auto& copy : memory.pack)
      if (copy.plan->bytes() > 0) packed.push_back(copy.to);
    for (const auto& copy : memory.unpack)
      if (copy.plan->bytes() > 0) unpacked.push_back(copy.from);
    PeerPipeline::Parts parts;
    parts.rest_of_pack = deal(by_peer.sends(), down_, placed_copies(memory.pack, mirrors), packed, parts.sends);
    parts.rest_of_unpack =
        deal(by_peer.receives(), up_, placed_copies(memory.unpack, mirrors), unpacked, parts.receives);
    return parts;
  }

  std::shared_ptr<Device> device_;
  std::unique_ptr<Queue> queue_;
  bool direct_;
  std::unique_ptr<Exchange> inner_;
  bool packs_apart_ = false;
  std::unique_ptr<DeviceCopies> pack_;
  std::unique_ptr<DeviceCopies> unpack_;
  std::vector<Stretch> down_;
  std::vector<Stretch> up_;
  std::optional<PhasedWork> work_;
  std::optional<PeerPipeline> pipeline_;  ///< where the exchange goes by peer
};

}  // namespace

std::unique_ptr<LocalFft> ResidentLibrary::make(const LocalFftSpec& spec, void* in, void* out) const {
  return std::make_unique<ResidentFft>(device_, streams_, mirrors_, spec, in, out);
}

std::unique_ptr<Exchange> ResidentMethod::make(const ExchangeSpec& spec) const {
  const ExchangeSpec on_device{spec.from,
                               spec.to,
                               spec.comm,
                               spec.element_bytes,
                               mirrors_.mirror_of(spec.source),
                               mirrors_.mirror_of(spec.spare),
                               spec.plan_comm,
                               spec.problem,
                               spec.staging,
                               path_ == MessagePath::neighbours};
  if (path_ == MessagePath::neighbours && inner_.divisible() != Divisible::reads)
    throw std::logic_error("an exchange that does not read neighbours' memory");
  if (path_ == MessagePath::neighbours) return neighbour_reads(device_, inner_.make(on_device), on_device);
  if (path_ == MessagePath::library)
    return library_messages(device_, library_.messages, library_.comm, *inner_.make(on_device), on_device);
  const bool direct = path_ == MessagePath::device;
  return std::make_unique<ResidentExchange>(device_, mirrors_, inner_.make(direct ? on_device : spec), spec, direct);
}

}  // namespace fourscore
