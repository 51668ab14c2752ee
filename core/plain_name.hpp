#pragma once
// Names that become part of a path.

#include <concepts>
#include <cstddef>
#include <string>
#include <utility>

namespace fourscore {

/// A name that stays in its folder, wherever it comes from: 1 to 128 letters, digits, - _ and ., not starting with -
/// or ".". So it holds no separator and no control character, and is neither . nor ...
class PlainName {
 public:
  static constexpr std::size_t longest = 128;

  /// Throws InputError, which begins with `what`.
  explicit PlainName(std::string name, const std::string& what);
  /// A text is as good as a name where a name is expected: it is checked all the same.
  template <std::convertible_to<std::string> Text>
  PlainName(Text&& name) : PlainName(std::string(std::forward<Text>(name)), "name") {}

  [[nodiscard]] const std::string& text() const { return name_; }

 private:
  std::string name_;
};

}  // namespace fourscore
