#pragma once
// Arithmetic over named values, as event groups write it: + - * / ( ), numbers and names.

#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace fourscore {

/// The text is no formula. `position` counts characters from 1.
class FormulaError : public std::runtime_error {
 public:
  FormulaError(const std::string& message, std::size_t position);
  [[nodiscard]] std::size_t position() const { return position_; }

 private:
  std::size_t position_;
};

class Formula {
 public:
  /// Throws FormulaError.
  explicit Formula(std::string text);
  ~Formula();
  Formula(Formula&&) noexcept;
  Formula& operator=(Formula&&) noexcept;

  /// The names it uses, each once, in alphabetical order.
  [[nodiscard]] const std::vector<std::string>& names() const;
  /// Its value for these values of names(), in that order; not finite where something is divided by zero.
  [[nodiscard]] double value(std::span<const double> values) const;

 private:
  struct Parsed;
  std::unique_ptr<Parsed> parsed_;
};

}  // namespace fourscore
