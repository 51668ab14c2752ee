#include "offload/resident.hpp"

#include <algorithm>
#include <utility>

#include "mpi/handles.hpp"

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

/// A stretch of the host's array, and the same on the device.
struct Stretch {
  std::byte* host = nullptr;
  std::byte* device = nullptr;
  std::size_t bytes = 0;
};

/// Memory of the device that an exchange of another method is made for.
class View : public Buffer {
 public:
  View(std::byte* data, std::size_t bytes) : data_(data), bytes_(bytes) {}
  [[nodiscard]] void* data() const override { return data_; }
  [[nodiscard]] std::size_t bytes() const override { return bytes_; }

 private:
  std::byte* data_;
  std::size_t bytes_;
};

std::vector<Stretch> stretches_of(const auto& spans, const Mirrors& mirrors) {
  std::vector<Stretch> list;
  for (const auto& span : spans)
    list.push_back({const_cast<std::byte*>(span.data()), mirrors.on_device(span.data()), span.size()});
  return list;
}

class ResidentExchange : public Exchange {
 public:
  /// direct_views: of the device's arrays, where the inner exchange is made for them.
  ResidentExchange(std::shared_ptr<Device> device, const Mirrors& mirrors, std::unique_ptr<Exchange> inner,
                   const ExchangeSpec& spec, std::vector<std::unique_ptr<View>> direct_views)
      : device_(std::move(device)),
        queue_(device_->make_queue()),
        views_(std::move(direct_views)),
        inner_(std::move(inner)) {
    declared() = inner_->facts();
    packs_apart_ = false;
    if (const auto memory = inner_->packed_memory()) {
      packs_apart_ = true;
      pack_ = copies_of(memory->pack, mirrors);
      unpack_ = copies_of(memory->unpack, mirrors);
      if (views_.empty()) {
        down_ = stretches_of(memory->sent, mirrors);
        up_ = stretches_of(memory->received, mirrors);
      }
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

  void begin(PhaseClock& clock) override {
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
    if (views_.empty()) add_copy(Phase::d2h, down_, CopyWay::to_host);
    list.push_back({Phase::exchange, [this] {
                      if (!packs_apart_) inner_->pack();
                      inner_->start();
                      inner_->finish();
                      if (!packs_apart_) inner_->unpack();
                    }});
    if (views_.empty()) add_copy(Phase::h2d, up_, CopyWay::to_device);
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
    for (const Stretch& stretch : stretches) {
      const bool up = way == CopyWay::to_device;
      queue_->copy({up ? stretch.device : stretch.host, up ? stretch.host : stretch.device, stretch.bytes, 1,
                    stretch.bytes, stretch.bytes},
                   way);
    }
  }
  void alone(const std::unique_ptr<DeviceCopies>& copies) {
    if (!copies) return;
    copies->enqueue(*queue_);
    queue_->synchronise();
  }

  /// Copies on a device run all at once, in no order: one that may overlap goes by way of memory of its own, and each
  /// that follows another on the same memory waits for it.
  class Sequence : public DeviceCopies {
   public:
    void enqueue(Queue& queue) override {
      for (const auto& step : steps) step->enqueue(queue);
    }
    std::vector<std::unique_ptr<DeviceCopies>> steps;
    std::unique_ptr<Buffer> between;
  };

  [[nodiscard]] std::byte* placed(const void* address, const Mirrors& mirrors) const {
    auto* const bytes = static_cast<std::byte*>(const_cast<void*>(address));
    return views_.empty() ? mirrors.on_device(address) : bytes;
  }

  [[nodiscard]] std::unique_ptr<DeviceCopies> copies_of(const std::vector<PackedMemory::Copy>& copies,
                                                        const Mirrors& mirrors) {
    if (copies.empty()) return nullptr;
    auto sequence = std::make_unique<Sequence>();
    Index between = 0;
    for (const PackedMemory::Copy& copy : copies)
      if (copy.overlapping) between = std::max(between, copy.plan->bytes());
    if (between > 0) sequence->between = device_->allocate(static_cast<std::size_t>(between));
    std::vector<BoxCopy> together;
    const auto flush = [&] {
      if (!together.empty()) sequence->steps.push_back(device_->make_copies(together));
      together.clear();
    };
    for (const PackedMemory::Copy& copy : copies) {
      if (copy.plan->bytes() == 0) continue;
      const BoxCopy box{placed(copy.from, mirrors), placed(copy.to, mirrors), copy.plan->run_bytes(),
                        copy.plan->loops()};
      // The block that stays is copied last or first, and may be copied twice: in the order of the list.
      if (!together.empty() && (copy.overlapping || reads(box, together))) flush();
      if (!copy.overlapping) {
        together.push_back(box);
        continue;
      }
      auto [gather, scatter] = by_way_of(box, static_cast<std::byte*>(sequence->between->data()));
      together.push_back(gather);
      flush();
      together.push_back(scatter);
      flush();
    }
    flush();
    return sequence;
  }
  static Index span_of(const BoxCopy& box, Index CopyPlan::Loop::*stride) {
    Index span = static_cast<Index>(box.run_bytes);
    for (const auto& loop : box.loops) span += (loop.count - 1) * loop.*stride;
    return span;
  }
  static bool reads(const BoxCopy& box, const std::vector<BoxCopy>& before) {
    return std::ranges::any_of(before, [&](const BoxCopy& other) {
      return box.from < other.to + span_of(other, &CopyPlan::Loop::to) &&
             other.to < box.from + span_of(box, &CopyPlan::Loop::from);
    });
  }
  static std::pair<BoxCopy, BoxCopy> by_way_of(const BoxCopy& box, std::byte* between) {
    BoxCopy gather = box;
    BoxCopy scatter = box;
    gather.to = between;
    scatter.from = between;
    Index stride = static_cast<Index>(box.run_bytes);
    for (std::size_t i = box.loops.size(); i-- > 0;) {
      gather.loops[i].to = scatter.loops[i].from = stride;
      stride *= box.loops[i].count;
    }
    return {gather, scatter};
  }

  std::shared_ptr<Device> device_;
  std::unique_ptr<Queue> queue_;
  std::vector<std::unique_ptr<View>> views_;
  std::unique_ptr<Exchange> inner_;
  bool packs_apart_ = false;
  std::unique_ptr<DeviceCopies> pack_;
  std::unique_ptr<DeviceCopies> unpack_;
  std::vector<Stretch> down_;
  std::vector<Stretch> up_;
  std::optional<PhasedWork> work_;
};

}  // namespace

std::unique_ptr<LocalFft> ResidentLibrary::make(const LocalFftSpec& spec, void* in, void* out) const {
  return std::make_unique<ResidentFft>(device_, streams_, mirrors_, spec, in, out);
}

std::unique_ptr<Exchange> ResidentMethod::make(const ExchangeSpec& spec) const {
  auto inner = inner_.make(spec);
  std::vector<std::unique_ptr<View>> views;
  if (direct_ && inner->packed_memory()) {
    for (const Buffer* array : {&spec.source, &spec.spare})
      views.push_back(std::make_unique<View>(mirrors_.on_device(array->data()), array->bytes()));
    inner.reset();
    inner = inner_.make({spec.from, spec.to, spec.comm, spec.element_bytes, *views[0], *views[1], spec.plan_comm,
                         spec.problem, spec.staging});
  }
  return std::make_unique<ResidentExchange>(device_, mirrors_, std::move(inner), spec, std::move(views));
}

}  // namespace fourscore
