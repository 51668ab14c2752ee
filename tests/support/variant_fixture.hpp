#pragma once
// What the tests of variants share: known fields, their transforms by the definition, and plans that are run and
// compared element by element.

#include <memory>
#include <string>
#include <vector>

#include "interfaces/variant.hpp"
#include "support/naive_dft.hpp"
#include "support/problem_of.hpp"
#include "support/test_name.hpp"
#include "support/turns.hpp"

namespace fourscore::test {

/// Values on the whole grid, last axis fastest, the same on all ranks.
struct Field {
  std::vector<Wide> values;
  long double largest = 0;  ///< absolute value
};

[[nodiscard]] std::size_t position(const Extents& shape, const Extents& index);
/// Both are computed once and kept, until there are hundreds of them: hold no reference while asking for others.
[[nodiscard]] const Field& random_field(const Extents& shape);
[[nodiscard]] const Field& transformed_field(const Extents& shape, Direction direction);

/// For each local element of rank `me`, in memory order: its place in a Field, position(shape, global_index(me, i)).
[[nodiscard]] std::vector<std::size_t> positions(const Decomposition& layout, int me);
/// This rank's part of the field, in the order in which the layout stores it.
void write(const Field& field, const Decomposition& layout, int me, Precision precision, void* data);
[[nodiscard]] Wide element(const void* data, Precision precision, Index i);
[[nodiscard]] long double epsilon_of(Precision precision);
/// Largest error on this rank relative to the largest expected value, in units of the precision's epsilon; infinite
/// where the data holds a NaN or an infinity.
[[nodiscard]] double error_of(const Field& expected, long double factor, const Decomposition& layout, int me,
                              Precision precision, const void* data);
/// The same of what run_on_random_field() left in a plan.
[[nodiscard]] double error_of_result(const Plan& plan, const Problem& problem);
/// Each global index lies on exactly one rank.
[[nodiscard]] bool covers_once(const Decomposition& layout);

/// Every precision, direction, layout and placement, planned by estimate: 16 problems.
[[nodiscard]] std::vector<Problem> contracts(const std::vector<Index>& shape);
/// The exchanges that can run here and that the variant does not refuse; null alone for a variant that takes none.
[[nodiscard]] std::vector<const ExchangeMethod*> exchanges_of(const Variant& variant);
/// 0 to 3: a quarter of contracts() has both values of each of their four properties, also where one of these is the
/// same for all.
[[nodiscard]] std::size_t quarter_of(const Problem& problem);
/// The exchanges whose turn it is: on one rank all. On more, where a plan and its runs take their time, each
/// exchange has one quarter of contracts(), another one on the next grid, and the exchange after it has the next.
[[nodiscard]] std::vector<const ExchangeMethod*> exchanges_in_turn(const Variant& variant, const Problem& problem);
/// The shape, or all its elements along one axis for a variant that takes no more axes.
[[nodiscard]] std::vector<Index> shape_for(const Variant& variant, const std::vector<Index>& shape);
/// Over MPI_COMM_WORLD.
[[nodiscard]] std::unique_ptr<Plan> make_plan(const Variant& variant, const Problem& problem,
                                              const ExchangeMethod* exchange);
/// Fills the output with NaN, so that nothing stale is taken for a result, writes the random field and executes.
void run_on_random_field(Plan& plan, const Problem& problem, PhaseClock& clock);
/// Runs so, and compares.
[[nodiscard]] double error_of_run(Plan& plan, const Problem& problem);

/// Kind r2c: writes the known real field or its spectrum, times `scale`, as rank `me` of the plan's. The padding and
/// the output hold NaN, so that nothing read from them passes.
void fill_real(Plan& plan, const Problem& problem, int me, long double scale = 1);
/// Largest error of the output in units of epsilon of the largest value expected; infinite where a NaN came out.
[[nodiscard]] double error_of_real(Plan& plan, const Problem& problem, int me, long double scale = 1);
/// Fills, runs, and compares.
[[nodiscard]] double error_of_real_run(Plan& plan, const Problem& problem);

/// With the problem's parameters.
[[nodiscard]] std::string text_of(const Problem& problem, const ExchangeMethod* exchange);

}  // namespace fourscore::test
