#pragma once
// Local transforms on a device, of data in the host's memory: to the device, transformed there, and back.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "interfaces/device.hpp"
#include "interfaces/local_fft.hpp"
#include "offload/device_streams.hpp"
#include "offload/phased_work.hpp"

namespace fourscore {

/// The copies between the host's memory and the same places relative to `device`, of a box whose elements lie at all
/// sums of `loops`.
[[nodiscard]] std::vector<RowCopy> rows_of(std::vector<CopyPlan::Loop> loops, std::size_t element_bytes);

struct OffloadSpec {
  /// In so many parts, each copied and transformed in turn, so that both directions of copies and the transforms run at
  /// the same time. 1: one after the other. What the caller has cut (LocalFftSpec::piece) is one part.
  int pieces = 1;
  /// The streams of a plan, on which parts take turns. Whoever made them has work areas shared. Null: one of its own.
  std::shared_ptr<DeviceStreams> streams{};
  /// Memory of the device for those of the transforms that fit in it and never run at the same time. Null: each has its
  /// own.
  std::shared_ptr<Buffer> memory{};
};

/// One of several transforms whose data lies dense, one after the other.
struct PlacedFft {
  LocalFftSpec spec;       ///< the same strides on both sides
  std::size_t offset = 0;  ///< bytes, from the first element of all to that of this one
};

/// Host to device, transform, device to host. Collective nowhere; allocates on the device when it is made.
class OffloadedFft : public LocalFft {
 public:
  OffloadedFft(std::shared_ptr<Device> device, const LocalFftSpec& spec, void* in, void* out,
               const OffloadSpec& offload);
  /// One launch of several: one copy there of the data of all, their transforms, one copy back.
  OffloadedFft(std::shared_ptr<Device> device, const std::vector<PlacedFft>& together, void* in, void* out,
               const OffloadSpec& offload);
  void execute() override;
  void execute_at(void* in, void* out) override;
  void run(PhaseClock& clock) override { run_at(in_, out_, clock); }
  void run_at(void* in, void* out, PhaseClock& clock) override;
  [[nodiscard]] bool queues() const override { return streams_->count() > 1; }
  void begin(PhaseClock& clock) override;
  void end(PhaseClock& clock) override;
  [[nodiscard]] std::vector<WorkPart> parts() override { return parts_at(in_, out_); }
  [[nodiscard]] std::vector<WorkPart> parts_at(void* in, void* out) override;
  [[nodiscard]] DeviceWork device_work() const override;
  [[nodiscard]] std::string describe() const override;
  [[nodiscard]] double credited_flops() const override { return credited_flops_; }
  [[nodiscard]] std::size_t workspace_bytes() const override;

 private:
  struct Part {
    std::size_t in_offset = 0;  ///< bytes, of the host's and the device's arrays
    std::size_t out_offset = 0;
    std::vector<RowCopy> to_device;  ///< addresses are offsets
    std::vector<RowCopy> to_host;
    std::vector<std::unique_ptr<DeviceFft>> ffts;
    std::size_t stream = 0;
  };
  OffloadedFft(std::shared_ptr<Device> device, Precision precision, void* in, void* out, const OffloadSpec& offload);
  void take_source(std::size_t bytes);
  void add_part(const LocalFftSpec& spec, std::size_t in_offset, std::size_t out_offset);
  void add_fft(Part& part, const LocalFftSpec& spec, void* in, void* out);
  void complete();
  void enqueue(void* in, void* out);
  void copy_in(const Part& part, const void* in);
  void copy_out(const Part& part, void* out);
  void enqueue_ffts(Part& part);

  std::shared_ptr<Device> device_;
  void* in_;
  void* out_;
  OffloadSpec offload_;
  std::size_t element_bytes_;
  double credited_flops_ = 0;
  Index data_bytes_ = 0;
  std::shared_ptr<Buffer> source_;
  bool owns_source_ = true;
  std::unique_ptr<Buffer> result_;  ///< null: in the source's place
  std::shared_ptr<DeviceStreams> streams_;
  std::size_t own_area_bytes_ = 0;
  std::vector<Part> parts_;
  std::optional<PhasedWork> work_;
};

/// The parts of a transform that goes in so many pieces, cut along the loop of the largest stride. One where there is
/// none to cut; fewer where that has fewer indices.
struct FftPiece {
  LocalFftSpec spec;
  Index in_offset = 0;  ///< elements
  Index out_offset = 0;
};
[[nodiscard]] std::vector<FftPiece> pieces_of(const LocalFftSpec& spec, int pieces);
/// Widens the work areas of streams, in bytes, to what such a transform takes there.
void widen_work_areas(Device& device, const LocalFftSpec& spec, int pieces, std::vector<std::size_t>& areas);

/// A library whose transforms are OffloadedFft.
class OffloadingLibrary : public LocalFftLibrary {
 public:
  OffloadingLibrary(std::shared_ptr<Device> device, Card card, const OffloadSpec& offload)
      : device_(std::move(device)), card_(std::move(card)), offload_(offload) {}
  [[nodiscard]] Card card() const override { return card_; }
  [[nodiscard]] std::string version() const override { return {}; }
  [[nodiscard]] std::unique_ptr<LocalFft> make(const LocalFftSpec& spec, void* in, void* out) const override {
    return std::make_unique<OffloadedFft>(device_, spec, in, out, offload_);
  }
  /// One launch of several (OffloadedFft).
  [[nodiscard]] std::unique_ptr<LocalFft> make_together(const std::vector<PlacedFft>& together, void* in,
                                                        void* out) const {
    return std::make_unique<OffloadedFft>(device_, together, in, out, offload_);
  }
  [[nodiscard]] std::size_t share_workspace() const override {
    return offload_.streams ? offload_.streams->share_areas() : 0;
  }
  void import_wisdom(const std::string& /*text*/, const std::string& /*origin*/) const override {}
  [[nodiscard]] std::string export_wisdom() const override { return {}; }

 private:
  std::shared_ptr<Device> device_;
  Card card_;
  OffloadSpec offload_;
};

}  // namespace fourscore
