#pragma once
// A LocalFft made of passes, and what any library's file says of a LocalFftSpec.

#include <cstddef>
#include <string>
#include <vector>

#include "interfaces/local_fft.hpp"
#include "local/passes.hpp"

namespace fourscore::local {

/// Nothing to transform: a loop of the spec has the count 0.
[[nodiscard]] bool is_empty(const LocalFftSpec& spec);
/// Whether input and output lie alike: every loop has one stride for both.
[[nodiscard]] bool same_strides(const LocalFftSpec& spec);
/// 5 n log2 n for each transform of n = the product of the axes, half of it for a real one.
[[nodiscard]] double credited_flops_of(const LocalFftSpec& spec);
/// Without loops of one element, that of the least stride first; a loop that continues another, before and after, is
/// one with it.
[[nodiscard]] std::vector<Loop> merged(std::vector<Loop> loops);
/// " 128:1:1 64:128:128": count, stride in, stride out of each loop.
[[nodiscard]] std::string loops_text(const std::vector<Loop>& loops);

/// A planned transform: one pass bound to its buffers.
class PassFft : public LocalFft {
 public:
  PassFft(PassPtr pass, void* in, void* out, double credited_flops);
  void execute() override { execute_at(in_, out_); }
  void execute_at(void* in, void* out) override;
  [[nodiscard]] std::string describe() const override { return pass_ ? pass_->describe() : "nothing to do"; }
  [[nodiscard]] double credited_flops() const override { return credited_flops_; }

 private:
  PassPtr pass_;  ///< null: an empty spec
  std::byte* in_;
  std::byte* out_;
  double credited_flops_;
};

}  // namespace fourscore::local
