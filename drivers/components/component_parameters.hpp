#pragma once
// The parameters of a component program: --parameter NAME=VALUE. No MPI here.

#include <map>
#include <string>
#include <vector>

#include "core/box.hpp"
#include "core/parameters.hpp"
#include "core/problem.hpp"
#include "core/refusal.hpp"

namespace fourscore::component {

/// The value of parameter `name` cannot be used.
struct ParameterError : PointError {
  ParameterError(std::string name, const std::string& message) : PointError(std::move(name), message) {}
};

/// What was asked for, read by name. Errors are ParameterErrors that name the parameter, its value and what is
/// expected.
class Parameters {
 public:
  /// Throws for unknown names (with the nearest) and for values that are not among those allowed.
  Parameters(const std::string& program, std::vector<Parameter> known, std::map<std::string, std::string> given);

  [[nodiscard]] bool given(const std::string& name) const { return given_.contains(name); }
  [[nodiscard]] const std::string& text(const std::string& name) const;
  /// The comma-separated parts of the text; "all" is every allowed value. Never empty, no part twice.
  [[nodiscard]] std::vector<std::string> list(const std::string& name) const;
  [[nodiscard]] Index integer(const std::string& name, Index least, Index most) const;
  [[nodiscard]] std::vector<Index> integers(const std::string& name, Index least, Index most) const;
  /// Bytes: 4096, 16KiB, 64MiB, 1GiB (also KB, MB, GB for powers of 1000).
  [[nodiscard]] std::vector<Index> sizes(const std::string& name, Index least, Index most) const;
  /// 1 to 3 extents as of fft_bench: 256x256x256.
  [[nodiscard]] std::vector<Index> shape(const std::string& name) const;
  /// Throws a ParameterError: "parameter 'grid' is '2x2'; it has 4 places, there are 3 ranks".
  [[noreturn]] void refuse(const std::string& name, const std::string& why) const;

 private:
  [[nodiscard]] const Parameter& known(const std::string& name) const;
  std::vector<Parameter> known_;
  std::map<std::string, std::string> given_;
};

/// The bytes that a text like 64MiB means. Throws InputError naming `what`.
[[nodiscard]] Index parse_size(const std::string& text, const std::string& what);
/// 268435456 -> "256 MiB"; for messages.
[[nodiscard]] std::string size_text(double bytes);

}  // namespace fourscore::component
