#include "offload/offloaded_fft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/grid.hpp"

namespace fourscore {

namespace {

enum class Side { in, out };

std::vector<CopyPlan::Loop> loops_of(const LocalFftSpec& spec, Side side, std::size_t element_bytes) {
  std::vector<CopyPlan::Loop> loops;
  for (const auto* list : {&spec.axes, &spec.batch})
    for (const Loop& loop : *list) {
      const Index stride = (side == Side::in ? loop.in_stride : loop.out_stride) * static_cast<Index>(element_bytes);
      loops.push_back({loop.count, stride, stride});
    }
  return loops;
}

/// The bytes from the first element's first to the last one's last.
std::size_t span_bytes(const std::vector<CopyPlan::Loop>& loops, std::size_t element_bytes) {
  Index span = static_cast<Index>(element_bytes);
  for (const CopyPlan::Loop& loop : loops) {
    if (loop.count == 0) return 0;
    span += (loop.count - 1) * loop.to;
  }
  return static_cast<std::size_t>(span);
}

Index elements_of(const LocalFftSpec& spec) {
  Index elements = 1;
  for (const auto* list : {&spec.axes, &spec.batch})
    for (const Loop& loop : *list) elements *= loop.count;
  return elements;
}

/// 5 n log2 n over axes and batch, 2.5 where real.
double flops_of(const LocalFftSpec& spec) {
  double points = 1;
  for (std::size_t i = 0; i < spec.axes.size(); ++i)
    points *= static_cast<double>(i == 0 && spec.real_length > 0 ? spec.real_length : spec.axes[i].count);
  double batch = 1;
  for (const Loop& loop : spec.batch) batch *= static_cast<double>(loop.count);
  if (points < 1 || batch < 1) return 0;
  return (spec.real_length > 0 ? 2.5 : 5.0) * batch * points * std::log2(points);
}

bool same_strides(const LocalFftSpec& spec) {
  const auto same = [](const Loop& loop) { return loop.count <= 1 || loop.in_stride == loop.out_stride; };
  return std::ranges::all_of(spec.axes, same) && std::ranges::all_of(spec.batch, same);
}

std::byte* at(void* base, const void* offset) {
  return static_cast<std::byte*>(base) + reinterpret_cast<std::uintptr_t>(offset);
}
const std::byte* at(const void* base, const void* offset) {
  return static_cast<const std::byte*>(base) + reinterpret_cast<std::uintptr_t>(offset);
}

}  // namespace

std::vector<RowCopy> rows_of(std::vector<CopyPlan::Loop> loops, std::size_t element_bytes) {
  if (std::ranges::any_of(loops, [](const auto& loop) { return loop.count == 0; })) return {};
  std::erase_if(loops, [](const auto& loop) { return loop.count == 1; });
  std::ranges::sort(loops, {}, &CopyPlan::Loop::to);
  std::size_t run = element_bytes;
  std::size_t next = 0;
  for (; next < loops.size() && loops[next].to == static_cast<Index>(run); ++next)
    run *= static_cast<std::size_t>(loops[next].count);
  RowCopy row{nullptr, nullptr, run, 1, run, run};
  if (next < loops.size()) {
    row.rows = loops[next].count;
    row.to_pitch = row.from_pitch = static_cast<std::size_t>(loops[next].to);
    for (++next; next < loops.size() && loops[next].to == row.rows * static_cast<Index>(row.to_pitch); ++next)
      row.rows *= loops[next].count;
  }
  std::vector<RowCopy> rows{row};
  for (; next < loops.size(); ++next) {
    const std::vector<RowCopy> inner = std::move(rows);
    rows.clear();
    for (Index i = 0; i < loops[next].count; ++i)
      for (RowCopy copy : inner) {
        const auto offset = static_cast<std::uintptr_t>(i * loops[next].to);
        copy.to = reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(copy.to) + offset);
        copy.from = copy.to;
        rows.push_back(copy);
      }
  }
  return rows;
}

std::vector<FftPiece> pieces_of(const LocalFftSpec& spec, int pieces) {
  const auto cut = std::ranges::max_element(
      spec.batch, {}, [](const Loop& loop) { return loop.count > 1 ? loop.in_stride : Index{0}; });
  if (pieces == 1 || spec.piece || cut == spec.batch.end() || cut->count == 1) return {{spec}};
  std::vector<FftPiece> list;
  for (int k = 0; k < pieces; ++k) {
    const Range range = block_range(cut->count, pieces, k);
    if (range.size() == 0) continue;
    list.push_back({spec, range.low * cut->in_stride, range.low * cut->out_stride});
    list.back().spec.batch[static_cast<std::size_t>(cut - spec.batch.begin())].count = range.size();
  }
  return list;
}

/// The first pieces are the largest.
void widen_work_areas(Device& device, const LocalFftSpec& spec, int pieces, std::vector<std::size_t>& areas) {
  const std::vector<FftPiece> list = pieces_of(spec, pieces);
  for (std::size_t k = 0; k < std::min(areas.size(), list.size()); ++k)
    areas[k] = std::max(areas[k], device.work_area_bytes(list[k].spec));
}

OffloadedFft::OffloadedFft(std::shared_ptr<Device> device, Precision precision, void* in, void* out,
                           const OffloadSpec& offload)
    : device_(std::move(device)),
      in_(in),
      out_(out),
      offload_(offload),
      element_bytes_(precision == Precision::double_precision ? 16 : 8),
      streams_(offload.streams ? offload.streams : std::make_shared<DeviceStreams>(device_, 1)) {}

OffloadedFft::OffloadedFft(std::shared_ptr<Device> device, const LocalFftSpec& spec, void* in, void* out,
                           const OffloadSpec& offload)
    : OffloadedFft(std::move(device), spec.precision, in, out, offload) {
  credited_flops_ = flops_of(spec);
  data_bytes_ = elements_of(spec) * static_cast<Index>(element_bytes_);
  if (data_bytes_ == 0) {
    complete();
    return;
  }
  take_source(span_bytes(loops_of(spec, Side::in, element_bytes_), element_bytes_));
  if (!same_strides(spec))
    result_ = device_->allocate(span_bytes(loops_of(spec, Side::out, element_bytes_), element_bytes_));
  for (const FftPiece& piece : pieces_of(spec, offload.pieces))
    add_part(piece.spec, static_cast<std::size_t>(piece.in_offset) * element_bytes_,
             static_cast<std::size_t>(piece.out_offset) * element_bytes_);
  complete();
}

OffloadedFft::OffloadedFft(std::shared_ptr<Device> device, const std::vector<PlacedFft>& together, void* in, void* out,
                           const OffloadSpec& offload)
    : OffloadedFft(std::move(device), together.empty() ? Precision{} : together.front().spec.precision, in, out,
                   offload) {
  for (const PlacedFft& one : together) {
    credited_flops_ += flops_of(one.spec);
    data_bytes_ += elements_of(one.spec) * static_cast<Index>(element_bytes_);
  }
  const auto bytes = static_cast<std::size_t>(data_bytes_);
  if (bytes > 0) {
    take_source(bytes);
    const RowCopy all{nullptr, nullptr, bytes, 1, bytes, bytes};
    Part& part = parts_.emplace_back();
    part.to_device = part.to_host = {all};
    for (const PlacedFft& one : together) {
      if (elements_of(one.spec) == 0) continue;
      auto* const place = static_cast<std::byte*>(source_->data()) + one.offset;
      add_fft(part, one.spec, place, place);
    }
  }
  complete();
}

void OffloadedFft::complete() {
  if (!offload_.streams) own_area_bytes_ = streams_->share_areas();
  work_.emplace(*device_, 3 * parts_.size());
}

void OffloadedFft::take_source(std::size_t bytes) {
  owns_source_ = offload_.memory == nullptr || offload_.memory->bytes() < bytes;
  source_ = owns_source_ ? std::shared_ptr<Buffer>(device_->allocate(bytes)) : offload_.memory;
}

void OffloadedFft::add_part(const LocalFftSpec& spec, std::size_t in_offset, std::size_t out_offset) {
  Part part;
  part.in_offset = in_offset;
  part.out_offset = out_offset;
  part.to_device = rows_of(loops_of(spec, Side::in, element_bytes_), element_bytes_);
  part.to_host = rows_of(loops_of(spec, Side::out, element_bytes_), element_bytes_);
  part.stream = (spec.piece.value_or(0) + parts_.size()) % streams_->count();
  auto* const source = static_cast<std::byte*>(source_->data()) + in_offset;
  auto* const result = result_ ? static_cast<std::byte*>(result_->data()) + out_offset : source;
  add_fft(part, spec, source, result);
  parts_.push_back(std::move(part));
}

void OffloadedFft::add_fft(Part& part, const LocalFftSpec& spec, void* in, void* out) {
  part.ffts.push_back(device_->make_fft(spec, in, out));
  streams_->add(part.stream, *part.ffts.back());
}

void OffloadedFft::copy_in(const Part& part, const void* in) {
  for (RowCopy copy : part.to_device) {
    copy.to = at(source_->data(), copy.to) + part.in_offset;
    copy.from = at(in, copy.from) + part.in_offset;
    streams_->queue(part.stream).copy(copy, CopyWay::to_device);
  }
}

void OffloadedFft::copy_out(const Part& part, void* out) {
  void* const result = result_ ? result_->data() : source_->data();
  const std::size_t offset = result_ ? part.out_offset : part.in_offset;
  for (RowCopy copy : part.to_host) {
    copy.from = at(static_cast<const void*>(result), copy.from) + offset;
    copy.to = at(out, copy.to) + part.out_offset;
    streams_->queue(part.stream).copy(copy, CopyWay::to_host);
  }
}

void OffloadedFft::enqueue_ffts(Part& part) {
  for (const auto& fft : part.ffts) fft->enqueue(streams_->queue(part.stream));
}

void OffloadedFft::enqueue(void* in, void* out) {
  for (Part& part : parts_) {
    Queue& queue = streams_->queue(part.stream);
    work_->span(queue, Phase::h2d, [&] { copy_in(part, in); });
    work_->span(queue, Phase::fft, [&] { enqueue_ffts(part); });
    work_->span(queue, Phase::d2h, [&] { copy_out(part, out); });
  }
}

void OffloadedFft::execute() { execute_at(in_, out_); }

void OffloadedFft::execute_at(void* in, void* out) {
  enqueue(in, out);
  work_->settle();
}

void OffloadedFft::run_at(void* in, void* out, PhaseClock& clock) {
  const DeviceRegion region(clock, Phase::fft);
  enqueue(in, out);
  work_->settle(clock);
}

void OffloadedFft::begin(PhaseClock& clock) {
  const DeviceRegion region(clock, Phase::fft);
  enqueue(in_, out_);
  if (work_->is_done()) work_->settle(clock);
}

void OffloadedFft::end(PhaseClock& clock) {
  const DeviceRegion region(clock, Phase::fft);
  work_->settle(clock);
}

std::vector<WorkPart> OffloadedFft::parts_at(void* in, void* out) {
  return {{Phase::h2d,
           [this, in] {
             for (const Part& part : parts_) copy_in(part, in);
             streams_->synchronise();
           },
           data_bytes_},
          {Phase::fft,
           [this] {
             for (Part& part : parts_) enqueue_ffts(part);
             streams_->synchronise();
           },
           2 * data_bytes_},
          {Phase::d2h,
           [this, out] {
             for (const Part& part : parts_) copy_out(part, out);
             streams_->synchronise();
           },
           data_bytes_}};
}

DeviceWork OffloadedFft::device_work() const {
  DeviceWork work;
  work.bytes_in = work.bytes_out = data_bytes_;
  for (const Part& part : parts_) {
    work.copies_in += static_cast<Index>(part.to_device.size());
    work.ffts += static_cast<Index>(part.ffts.size());
    work.copies_out += static_cast<Index>(part.to_host.size());
  }
  return work;
}

std::string OffloadedFft::describe() const {
  if (parts_.empty()) return "nothing";
  const std::string one = parts_.front().ffts.front()->describe();
  const std::size_t all = parts_.size() * parts_.front().ffts.size();
  return all == 1 ? one : fmt::format("{} parts, first: {}", all, one);
}

std::size_t OffloadedFft::workspace_bytes() const {
  std::size_t bytes =
      own_area_bytes_ + (source_ && owns_source_ ? source_->bytes() : 0) + (result_ ? result_->bytes() : 0);
  for (const Part& part : parts_)
    for (const auto& fft : part.ffts) bytes += fft->workspace_bytes();
  return bytes;
}

}  // namespace fourscore
