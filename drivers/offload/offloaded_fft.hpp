#pragma once
// Local transforms on a device, of data in the host's memory: to the device, transformed there, and back.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "interfaces/device.hpp"
#include "interfaces/local_fft.hpp"
#include "offload/phased_work.hpp"

namespace fourscore {

/// The copies between the host's memory and the same places relative to `device`, of a box whose elements lie at all
/// sums of `loops`.
[[nodiscard]] std::vector<RowCopy> rows_of(std::vector<CopyPlan::Loop> loops, std::size_t element_bytes);

struct OffloadSpec {
  /// In so many parts, each copied and transformed in turn, so that both directions of copies and the transforms run at
  /// the same time. 1: one after the other.
  int pieces = 1;
  int queues = 1;  ///< that parts take turns on
  /// Memory of the device for those of the transforms that fit in it and never run at the same time. Null: each has its
  /// own.
  std::shared_ptr<Buffer> memory{};
};

/// Host to device, transform, device to host. Collective nowhere; allocates on the device when it is made.
class OffloadedFft : public LocalFft {
 public:
  OffloadedFft(std::shared_ptr<Device> device, const LocalFftSpec& spec, void* in, void* out,
               const OffloadSpec& offload);
  void execute() override;
  void execute_at(void* in, void* out) override;
  void run(PhaseClock& clock) override { run_at(in_, out_, clock); }
  void run_at(void* in, void* out, PhaseClock& clock) override;
  [[nodiscard]] bool queues() const override { return offload_.queues > 1; }
  void begin(PhaseClock& clock) override;
  void end(PhaseClock& clock) override;
  [[nodiscard]] std::vector<WorkPart> parts() override;
  [[nodiscard]] std::string describe() const override;
  [[nodiscard]] double credited_flops() const override { return credited_flops_; }
  [[nodiscard]] std::size_t workspace_bytes() const override;

 private:
  struct Part {
    std::size_t in_offset = 0;  ///< bytes, of the host's and the device's arrays
    std::size_t out_offset = 0;
    std::vector<RowCopy> to_device;  ///< addresses are offsets
    std::vector<RowCopy> to_host;
    std::unique_ptr<DeviceFft> fft;
    std::size_t queue = 0;
  };
  void add_part(const LocalFftSpec& spec, std::size_t in_offset, std::size_t out_offset, std::size_t queue);
  void enqueue(void* in, void* out);
  void copy_in(const Part& part, const void* in);
  void copy_out(const Part& part, void* out);

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
  std::vector<std::unique_ptr<Queue>> queues_;
  std::vector<Part> parts_;
  std::optional<PhasedWork> work_;
};

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
  void import_wisdom(const std::string& /*text*/, const std::string& /*origin*/) const override {}
  [[nodiscard]] std::string export_wisdom() const override { return {}; }

 private:
  std::shared_ptr<Device> device_;
  Card card_;
  OffloadSpec offload_;
};

}  // namespace fourscore
