#include "support/variant_fixture.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <random>

#include "mpi/handles.hpp"
#include "support/elements.hpp"

namespace fourscore::test {

namespace {

/// Tests of random shapes must not keep all of them.
constexpr std::size_t most_fields_kept = 200;

void note_largest(Field& field) {
  long double squared = 0;  // std::abs guards against overflow, which took 18 % of variant_test here and in error_of
  for (const Wide& value : field.values) squared = std::max(squared, std::norm(value));
  field.largest = std::sqrt(squared);
}

/// Real values and the whole spectrum of them.
struct RealField {
  Field space;
  Field spectrum;
};

const RealField& real_field(const Extents& shape) {
  static std::map<Extents, RealField> fields;
  if (fields.size() > most_fields_kept) fields.clear();
  RealField& pair = fields[shape];
  if (!pair.space.values.empty()) return pair;
  for (const Wide& value : random_field(shape).values) pair.space.values.emplace_back(value.real());
  pair.spectrum = pair.space;
  naive_dft(pair.spectrum.values, shape, -1);
  note_largest(pair.space);
  note_largest(pair.spectrum);
  return pair;
}

template <class Real>
void fill_with_nan(const Decomposition& layout, int me, bool is_real, void* data) {
  const auto bytes = static_cast<std::size_t>(layout.memory_volume(me)) * sizeof(Real) * (is_real ? 1 : 2);
  if (bytes > 0) std::memset(data, 0xff, bytes);
}

template <class Real>
void fill_real_as(Plan& plan, const Problem& problem, int me, long double scale) {
  const bool forward = problem.direction == Direction::forward;
  const Decomposition& layout = plan.input_layout();
  fill_with_nan<Real>(plan.output_layout(), me, !forward, plan.output());
  fill_with_nan<Real>(layout, me, forward, plan.input());
  const Extents shape = problem.extents();
  const RealField& pair = real_field(shape);
  const Field& given = forward ? pair.space : pair.spectrum;
  const Places place(layout, me);
  for_each_element(layout, me, [&](Index i, const Extents& index) {
    const Wide value = given.values[position(shape, index)] * scale;
    if (forward)
      static_cast<Real*>(plan.input())[place(i)] = static_cast<Real>(value.real());
    else
      static_cast<std::complex<Real>*>(plan.input())[place(i)] = std::complex<Real>(value);
  });
}

template <class Real>
double error_of_real_as(Plan& plan, const Problem& problem, int me, long double scale) {
  const bool forward = problem.direction == Direction::forward;
  const Decomposition& layout = plan.output_layout();
  const Extents shape = problem.extents();
  const RealField& pair = real_field(shape);
  const Field& expected = forward ? pair.spectrum : pair.space;
  const long double factor = scale * (forward ? 1 : static_cast<long double>(problem.elements()));
  const Places place(layout, me);
  long double worst = 0;
  for_each_element(layout, me, [&](Index i, const Extents& index) {
    const Wide value = forward ? Wide(static_cast<std::complex<Real>*>(plan.output())[place(i)])
                               : Wide(static_cast<Real*>(plan.output())[place(i)]);
    const long double squared = std::norm(expected.values[position(shape, index)] * factor - value);
    worst = std::isfinite(squared) ? std::max(worst, squared) : std::numeric_limits<long double>::infinity();
  });
  if (std::isinf(worst)) return std::numeric_limits<double>::infinity();
  return static_cast<double>(std::sqrt(worst) / (expected.largest * factor)) / std::numeric_limits<Real>::epsilon();
}

}  // namespace

std::size_t position(const Extents& shape, const Extents& index) {
  return static_cast<std::size_t>((index[0] * shape[1] + index[1]) * shape[2] + index[2]);
}

const Field& random_field(const Extents& shape) {
  static std::map<Extents, Field> fields;
  if (fields.size() > most_fields_kept) fields.clear();
  Field& field = fields[shape];
  if (field.values.empty()) {
    std::mt19937 random(static_cast<unsigned>(shape[0] * 1000 + shape[1] * 100 + shape[2]));
    std::uniform_real_distribution<float> values(-1, 1);  // exact in both precisions
    for (Index i = 0; i < shape[0] * shape[1] * shape[2]; ++i)
      field.values.emplace_back(values(random), values(random));
    note_largest(field);
  }
  return field;
}

const Field& transformed_field(const Extents& shape, Direction direction) {
  static std::map<std::pair<Extents, Direction>, Field> fields;
  if (fields.size() > most_fields_kept) fields.clear();
  Field& field = fields[{shape, direction}];
  if (field.values.empty()) {
    field.values = random_field(shape).values;
    naive_dft(field.values, shape, direction == Direction::forward ? -1 : 1);
    note_largest(field);
  }
  return field;
}

std::vector<std::size_t> positions(const Decomposition& layout, int me) {
  std::vector<std::size_t> all(static_cast<std::size_t>(layout.volume(me)));
  for_each_element(layout, me, [&](Index i, const Extents& index) {
    all[static_cast<std::size_t>(i)] = position(layout.shape, index);
  });
  return all;
}

void write(const Field& field, const Decomposition& layout, int me, Precision precision, void* data) {
  for_each_element(layout, me, [&](Index i, const Extents& index) {
    const Wide value = field.values[position(layout.shape, index)];
    if (precision == Precision::double_precision)
      static_cast<std::complex<double>*>(data)[i] = std::complex<double>(value);
    else
      static_cast<std::complex<float>*>(data)[i] = std::complex<float>(value);
  });
}

Wide element(const void* data, Precision precision, Index i) {
  if (precision == Precision::double_precision) return Wide(static_cast<const std::complex<double>*>(data)[i]);
  return Wide(static_cast<const std::complex<float>*>(data)[i]);
}

long double epsilon_of(Precision precision) {
  return precision == Precision::double_precision ? std::numeric_limits<double>::epsilon()
                                                  : std::numeric_limits<float>::epsilon();
}

double error_of(const Field& expected, long double factor, const Decomposition& layout, int me, Precision precision,
                const void* data) {
  long double squared = 0;
  for_each_element(layout, me, [&](Index i, const Extents& index) {
    const Wide value = expected.values[position(layout.shape, index)] * factor;
    const long double difference = std::norm(value - element(data, precision, i));
    squared = std::isfinite(difference) ? std::max(squared, difference) : std::numeric_limits<long double>::infinity();
  });
  if (std::isinf(squared)) return std::numeric_limits<double>::infinity();
  return static_cast<double>(std::sqrt(squared) / (expected.largest * factor) / epsilon_of(precision));
}

double error_of_result(const Plan& plan, const Problem& problem) {
  return error_of(transformed_field(problem.extents(), problem.direction), 1, plan.output_layout(),
                  mpi::rank_in(MPI_COMM_WORLD), problem.precision, plan.output());
}

bool covers_once(const Decomposition& layout) {
  std::vector<int> seen(static_cast<std::size_t>(layout.shape[0] * layout.shape[1] * layout.shape[2]), 0);
  for (int rank = 0; rank < layout.ranks(); ++rank)
    for_each_element(layout, rank, [&](Index, const Extents& index) { ++seen[position(layout.shape, index)]; });
  return std::ranges::all_of(seen, [](int times) { return times == 1; });
}

std::vector<Problem> contracts(const std::vector<Index>& shape) {
  std::vector<Problem> problems;
  for (const auto precision : {Precision::double_precision, Precision::single_precision})
    for (const auto direction : {Direction::forward, Direction::backward})
      for (const auto layout : {LayoutContract::natural, LayoutContract::transposed})
        for (const auto placement : {Buffers::in_place, Buffers::out_of_place}) {
          Problem problem;
          problem.shape = shape;
          problem.precision = precision;
          problem.direction = direction;
          problem.contract = {layout, placement, Effort::estimate};
          problems.push_back(problem);
        }
  return problems;
}

std::vector<const ExchangeMethod*> exchanges_of(const Variant& variant) {
  if (!variant.takes_exchange()) return {nullptr};
  std::vector<const ExchangeMethod*> methods;
  for (const auto& name : ExchangeRegistry::instance().names())
    if (const auto* method = ExchangeRegistry::instance().find(name);
        method->unavailable().empty() && !variant.refuses(*method, {}))
      methods.push_back(method);
  return methods;
}

std::size_t quarter_of(const Problem& problem) {
  const bool odd = (problem.precision == Precision::single_precision) != (problem.direction == Direction::backward);
  return (odd != (problem.contract.layout == LayoutContract::transposed) ? 1 : 0) +
         (odd != (problem.contract.buffers == Buffers::out_of_place) ? 2 : 0);
}

std::vector<const ExchangeMethod*> exchanges_in_turn(const Variant& variant, const Problem& problem) {
  const auto all = exchanges_of(variant);
  if (all.size() == 1 || mpi::size_of(MPI_COMM_WORLD) == 1) return all;
  const auto turn = static_cast<std::size_t>(problem.grid.empty() ? 0 : problem.grid.front());
  std::vector<const ExchangeMethod*> chosen;
  for (std::size_t i = 0; i < all.size(); ++i)
    if ((i + turn) % 4 == quarter_of(problem)) chosen.push_back(all[i]);
  return chosen;
}

std::vector<Index> shape_for(const Variant& variant, const std::vector<Index>& shape) {
  Problem problem;
  problem.shape = {4, 4, 4};
  if (!variant.supports(problem, 1)) return shape;
  problem.shape = {64};
  if (variant.supports(problem, 1)) return shape;
  return {std::accumulate(shape.begin(), shape.end(), Index{1}, std::multiplies<>())};
}

std::unique_ptr<Plan> make_plan(const Variant& variant, const Problem& problem, const ExchangeMethod* exchange) {
  return variant.make_plan({problem, MPI_COMM_WORLD, exchange, LocalFftRegistry::instance().get("fftw", "local FFT")});
}

void run_on_random_field(Plan& plan, const Problem& problem, PhaseClock& clock) {
  const int me = mpi::rank_in(MPI_COMM_WORLD);
  const auto elements = static_cast<std::size_t>(plan.output_layout().volume(me));
  std::memset(plan.output(), 0xff, elements * problem.element_bytes());
  write(random_field(problem.extents()), plan.input_layout(), me, problem.precision, plan.input());
  clock.start();
  plan.execute(clock);
  clock.stop();
}

double error_of_run(Plan& plan, const Problem& problem) {
  PhaseClock clock;
  run_on_random_field(plan, problem, clock);
  return error_of_result(plan, problem);
}

void fill_real(Plan& plan, const Problem& problem, int me, long double scale) {
  if (problem.precision == Precision::double_precision) return fill_real_as<double>(plan, problem, me, scale);
  fill_real_as<float>(plan, problem, me, scale);
}

double error_of_real(Plan& plan, const Problem& problem, int me, long double scale) {
  return problem.precision == Precision::double_precision ? error_of_real_as<double>(plan, problem, me, scale)
                                                          : error_of_real_as<float>(plan, problem, me, scale);
}

double error_of_real_run(Plan& plan, const Problem& problem) {
  const int me = mpi::rank_in(MPI_COMM_WORLD);
  fill_real(plan, problem, me);
  PhaseClock clock;
  clock.start();
  plan.execute(clock);
  return error_of_real(plan, problem, me);
}

std::string text_of(const Problem& problem, const ExchangeMethod* exchange) {
  std::string text = shape_text(problem.shape) + " grid " + grid_text(problem.grid) + " " +
                     to_string(problem.precision) + " " + to_string(problem.direction) + " " +
                     to_string(problem.contract.layout) + " " + to_string(problem.contract.buffers) + " " +
                     (exchange == nullptr ? "none" : exchange->card().name);
  for (const auto& [key, value] : problem.parameters) text += " " + key + "=" + value;
  return text;
}

}  // namespace fourscore::test
