#include "hwcounters/formula.hpp"

#include <fmt/format.h>
#include <muParser.h>

#include <algorithm>
#include <string_view>

namespace fourscore {
namespace {

/// muParser knows more (functions, comparisons, assignments): what a group file may write ends here.
constexpr std::string_view allowed_characters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_. \t+-*/()";

void check_characters(std::string_view text) {
  if (text.find_first_not_of(" \t") == std::string_view::npos) throw FormulaError("it is empty", 1);
  const std::size_t wrong = text.find_first_not_of(allowed_characters);
  if (wrong != std::string_view::npos)
    throw FormulaError(fmt::format("'{}' is none of + - * / ( ), a number or a name", text[wrong]), wrong + 1);
}

/// muParser's messages name its own inner things; ours say what stands where.
FormulaError explained(const mu::Parser::exception_type& error, std::string_view text) {
  const auto at = std::min(static_cast<std::size_t>(std::max(error.GetPos(), 0)), text.size());
  switch (error.GetCode()) {
    case mu::ecUNEXPECTED_EOF:
      return {"it ends where a number or a name is expected", at + 1};
    case mu::ecMISSING_PARENS:
      return {"a ) is missing", at + 1};
    case mu::ecUNEXPECTED_PARENS:
      return {"a ) without its (", at + 1};
    default:
      return {error.GetMsg(), at + 1};
  }
}

}  // namespace

FormulaError::FormulaError(const std::string& message, std::size_t position)
    : std::runtime_error(fmt::format("character {}: {}", position, message)), position_(position) {}

struct Formula::Parsed {
  mu::Parser parser;
  std::vector<std::string> names;
  std::vector<double> values;  ///< where the parser reads the names' values
};

Formula::Formula(std::string text) : parsed_(std::make_unique<Parsed>()) {
  check_characters(text);
  auto& [parser, names, values] = *parsed_;
  parser.ClearFun();
  parser.ClearConst();
  parser.SetExpr(text);
  try {
    for (const auto& [name, unused] : parser.GetUsedVar()) names.push_back(name);
    values.assign(names.size(), 1.0);
    for (std::size_t i = 0; i < names.size(); ++i) parser.DefineVar(names[i], &values[i]);
    // Only an evaluation finds every mistake of syntax.
    (void)parser.Eval();
  } catch (const mu::Parser::exception_type& error) {
    throw explained(error, text);
  }
}

Formula::~Formula() = default;
Formula::Formula(Formula&&) noexcept = default;
Formula& Formula::operator=(Formula&&) noexcept = default;

const std::vector<std::string>& Formula::names() const { return parsed_->names; }

double Formula::value(std::span<const double> values) const {
  if (values.size() != parsed_->names.size())
    throw std::invalid_argument(
        fmt::format("a formula of {} names was given {} values", parsed_->names.size(), values.size()));
  std::copy(values.begin(), values.end(), parsed_->values.begin());
  return parsed_->parser.Eval();
}

}  // namespace fourscore
