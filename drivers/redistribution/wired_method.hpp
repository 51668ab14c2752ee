#pragma once
// Exchanges whose messages hold less than the data.

#include <memory>
#include <string>
#include <vector>

#include "interfaces/exchange.hpp"

namespace fourscore {

/// Another method with smaller messages; all but its exchanges are that method's own.
class WiredMethod : public ExchangeMethod {
 public:
  /// `inner` outlives this and all its exchanges.
  explicit WiredMethod(const ExchangeMethod& inner) : inner_(inner) {}
  [[nodiscard]] Card card() const override { return inner_.card(); }
  [[nodiscard]] std::string unavailable() const override { return inner_.unavailable(); }
  [[nodiscard]] std::vector<Parameter> parameters() const override { return inner_.parameters(); }
  [[nodiscard]] Reason supports(const Problem& problem) const override { return inner_.supports(problem); }
  [[nodiscard]] Reason supports_group(const Problem& problem, int ranks) const override {
    return inner_.supports_group(problem, ranks);
  }
  [[nodiscard]] Reason cannot_run_on(MPI_Comm comm) const override { return inner_.cannot_run_on(comm); }
  [[nodiscard]] std::unique_ptr<Buffer> allocate(MPI_Comm comm, std::size_t bytes, BufferUse use) const override {
    return inner_.allocate(comm, bytes, use);
  }
  [[nodiscard]] bool brings_arrays() const override { return inner_.brings_arrays(); }
  [[nodiscard]] std::size_t staging_bytes(const ExchangeSpec& spec) const override {
    return inner_.staging_bytes(spec);
  }

 protected:
  [[nodiscard]] const ExchangeMethod& inner() const { return inner_; }
  /// Whether no rank sends a message, so that nothing is to be made smaller. Collective as make(). Throws
  /// std::invalid_argument unless elements are complex numbers of double precision.
  [[nodiscard]] static bool sends_nothing(const ExchangeSpec& spec);

 private:
  const ExchangeMethod& inner_;
};

/// `inner` with messages as the problem's wire has them, which is not as_is.
[[nodiscard]] std::unique_ptr<ExchangeMethod> wired(const Problem& problem, const ExchangeMethod& inner);

}  // namespace fourscore
