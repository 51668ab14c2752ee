#include "harness/verifier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "core/parameters.hpp"
#include "core/text.hpp"
#include "harness/product.hpp"
#include "harness/verified_rows.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace fourscore {
namespace {

using Complex = std::complex<double>;

constexpr int rows_looked_at = 4;

double machine_epsilon(Precision precision) {
  return precision == Precision::double_precision ? std::numeric_limits<double>::epsilon()
                                                  : static_cast<double>(std::numeric_limits<float>::epsilon());
}

/// What an exchange may take away of a number, relative to the numbers around it (Wire).
double rounding_of(const Problem& problem) {
  switch (problem.wire) {
    case Wire::as_is:
      return 0;
    case Wire::single:
      return machine_epsilon(Precision::single_precision) / 2;
    case Wire::zfp:
      return std::exp2(2 - std::floor((4 * zfp_rate_of(problem) - 16) / 5.0));
  }
  return 0;
}

double tolerance_of(const Problem& problem) {
  constexpr double most_exchanges = 8;
  const double log2_size = std::max(1.0, std::log2(static_cast<double>(problem.elements())));
  const double of_transform = 4 * machine_epsilon(problem.precision) * log2_size;
  return of_transform + most_exchanges * rounding_of(problem);
}

}  // namespace

Verifier::Verifier(const Problem& problem, MPI_Comm comm, const Plan& plan, std::uint64_t seed)
    : problem_(problem),
      operator_(problem.direction == Direction::convolution ? &operator_of(problem) : nullptr),
      comm_(comm),
      rank_(mpi::rank_in(comm)),
      fields_(plan.fields()),
      seed_(seed),
      tolerance_(tolerance_of(problem)),
      symmetry_(problem.real_input()    ? Symmetry::real
                : problem.real_output() ? Symmetry::hermitian
                                        : Symmetry::none),
      input_(plan.input_layout(), plan.facts().input_fields, rank_, problem.extents(), problem.real_input()),
      output_(plan.output_layout(), plan.facts().output_fields, rank_, problem.extents(), problem.real_output()),
      scratch_(static_cast<std::size_t>(
          std::min(RowTile::max_extent, std::max(input_.rows.longest_row(), output_.rows.longest_row())))),
      looked_at_(static_cast<std::size_t>(fields_)) {
  if (plan.input_layout().shape != problem.input_extents() || plan.output_layout().shape != problem.output_extents())
    throw std::logic_error("the layouts of the plan do not have the shapes of the problem");
  if (fields_ != problem.fields) throw std::logic_error("the plan does not have the fields of the problem");
  input_field_.assign(timed_field(0, 0));
}

std::uint64_t Verifier::seed(Index field) const {
  return field == 0 ? seed_ : mix(mix(seed_) + static_cast<std::uint64_t>(field));
}

void Verifier::write(RowSource& source, const Data& data) {
  RowTile& tile = input_.tile;
  tile.for_each_place([&] {
    source.enter(tile);
    const std::span<Complex> values(scratch_.data(), static_cast<std::size_t>(tile.count(2)));
    for (Index i = 0; i < tile.count(0); ++i)
      for (Index j = 0; j < tile.count(1); ++j) {
        source.row(i, j, values);
        at_element(problem_.precision, input_.real, data.array,
                   input_.interleaving.place(tile.offset(i, j), data.field),
                   [&](auto* out) { write_row(values, Strided(out, input_.interleaving.step())); });
      }
  });
}

Verifier::Found Verifier::compare(Side& side, const Expected& expected, const Data& data) {
  Found found;
  side.tile.for_each_place([&] {
    expected.rows.enter(side.tile);
    compare_tile(side, expected, data, found);
  });
  return found;
}

void Verifier::compare_tile(Side& side, const Expected& expected, const Data& data, Found& found) {
  const RowTile& tile = side.tile;
  const std::span<Complex> values(scratch_.data(), static_cast<std::size_t>(tile.count(2)));
  for (Index i = 0; i < tile.count(0); ++i)
    for (Index j = 0; j < tile.count(1); ++j) {
      expected.rows.row(i, j, values);
      at_element(problem_.precision, side.real, data.array, side.interleaving.place(tile.offset(i, j), data.field),
                 [&](const auto* computed) {
                   const double error = judge_row(
                       values, Strided(computed, side.interleaving.step()), expected.scale, expected.size, tolerance_,
                       [&](Index k) { return tile.global(i, j, k); }, side.extents, found.wrong);
                   found.error = std::max(found.error, error);
                 });
    }
}

namespace {

/// What a convolution leaves; of other directions one.
int outputs_of(const Plan& plan) { return 1 + static_cast<int>(plan.facts().further_outputs.size()); }

/// The index of a mode as a wave number, told apart from the operators' tables by other means than theirs.
Extents signed_wave_numbers(const Wave& wave, const Extents& shape) {
  Extents k{};
  for (std::size_t a = 0; a < 3; ++a) k[a] = wave.k[a] - (wave.k[a] > shape[a] / 2 ? shape[a] : 0);
  return k;
}

}  // namespace

Verifier::Data Verifier::answer_of(const Plan& plan, Index field, int output) {
  if (output == 0) return output_of(plan, field);
  return {plan.facts().further_outputs[static_cast<std::size_t>(output) - 1], 0};
}

SparseField Verifier::answer(const SparseField& given, int output) const {
  SparseField result = transform(given, problem_.direction);
  if (operator_ == nullptr) return result;
  for (Wave& wave : result.waves)
    wave.amplitude *= operator_->factor(problem_, signed_wave_numbers(wave, result.shape), output);
  return result;
}

/// An operator may take from a wave what it gives to the rounding errors of all others: so the largest factor counts.
double Verifier::size_of_answer(const SparseField& given, const SparseField& answer, int output) const {
  if (operator_ == nullptr) return largest_norm_of_terms(answer);
  const double most = operator_->largest_factor(problem_, output) * static_cast<double>(problem_.elements());
  return largest_norm_of_terms(given) * std::max(most, std::numeric_limits<double>::min());
}

Verifier::Found Verifier::compare_answers(const Plan& plan, const SparseField& given, FieldRows& rows, Index field) {
  Found worst;
  for (int output = 0; output < outputs_of(plan) && worst.error <= tolerance_; ++output) {
    const SparseField result = answer(given, output);
    rows.assign(result);
    const Found found = compare(output_, {rows, size_of_answer(given, result, output)}, answer_of(plan, field, output));
    if (found.error >= worst.error) worst = found;
  }
  return worst;
}

/// Other rows in each run.
void Verifier::look_at_rows(const Plan& plan, int run) {
  ++runs_looked_at_;
  for (Index field = 0; field < fields_; ++field) look_at_rows(plan, run, field);
}

void Verifier::look_at_rows(const Plan& plan, int run, Index number) {
  LocalRows& rows = output_.rows;
  const SparseField given = timed_field(run, number);
  std::uint64_t chosen = mix(seed(number) + 5) + static_cast<std::uint64_t>(run);
  const auto one_of = [&](Index count) {
    chosen = mix(chosen);
    return static_cast<Index>(chosen % static_cast<std::uint64_t>(count));
  };
  for (int row = 0; row < rows_looked_at; ++row) {
    rows.select(static_cast<std::size_t>(one_of(static_cast<Index>(rows.boxes()))));
    if (rows.count(0) * rows.count(1) * rows.count(2) == 0) return;
    const Index i = one_of(rows.count(0));
    output_.tile.place_at(i, one_of(rows.count(1)));
    const int output = row % outputs_of(plan);
    const SparseField result = answer(given, output);
    output_field_.assign(result);
    output_field_.enter(output_.tile);
    compare_tile(output_, {output_field_, size_of_answer(given, result, output)}, answer_of(plan, number, output),
                 looked_at_[static_cast<std::size_t>(number)]);
  }
}

SparseField Verifier::field(int waves, int spikes, double spike_amplitude, std::uint64_t seed) const {
  return random_field(problem_.extents(), waves, spikes, spike_amplitude, seed, symmetry_);
}

Check Verifier::finish(const std::string& name, const std::string& when, const Side& side, const Found& found) const {
  double error = found.error;
  FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX, comm_));
  Check check{name, when, error, tolerance_, error <= tolerance_};
  if (!check.ok) check.finding = found.wrong.text(comm_, side.extents, problem_.shape.size(), side.real);
  return check;
}

Check Verifier::check_fields(const std::string& name, const std::string& when, const Side& side,
                             const std::function<Found(Index field)>& find) const {
  Check check{name, when, 0, tolerance_, true};
  for (Index field = 0; field < fields_; ++field) {
    Check of_field = finish(name, when, side, find(field));
    if (!of_field.ok && fields_ > 1) of_field.finding = fmt::format("field {}: {}", field + 1, of_field.finding);
    if (check.ok && (!of_field.ok || of_field.error >= check.error)) check = std::move(of_field);
  }
  return check;
}

/// What the first execution sends is counted: each sends the same.
void Verifier::execute(Plan& plan) {
  PhaseClock clock(false);
  if (sent_)
    plan.execute(clock);
  else
    sent_ = count_messages([&] { plan.execute(clock); });
}

Check Verifier::check_terms(const std::string& name, Plan& plan,
                            const std::function<SparseField(std::uint64_t seed)>& terms) {
  FieldRows rows;
  for (Index field = 0; field < fields_; ++field) {
    rows.assign(terms(seed(field)));
    write(rows, input_of(plan, field));
  }
  execute(plan);
  return check_fields(name, "before", output_,
                      [&](Index field) { return compare_answers(plan, terms(seed(field)), rows, field); });
}

void Verifier::write_noise(const Plan& plan) {
  for (Index field = 0; field < fields_; ++field) {
    NoiseRows given(seed(field), symmetry_);
    write(given, input_of(plan, field));
  }
}

/// The output must be the noise of write_noise() again.
Check Verifier::check_noise(const Plan& plan, Side& side, double scale) {
  return check_fields("inverse", "before", side, [&](Index field) {
    NoiseRows given(seed(field), symmetry_);
    return compare(side, {given, noise_size(), scale}, output_of(plan, field));
  });
}

/// More than is declared is wrong, whatever else the plan sends by calls that are not counted.
Check Verifier::check_message_volume(const Plan& plan) const {
  const MessageVolume& volume = plan.message_volume();
  const std::array<Index, 3> declared{volume.bytes_sent, volume.messages_sent, volume.control_messages_sent};
  const std::array<Index, 3> sent{sent_->bytes, sent_->messages, sent_->control_messages};
  const bool differs = sent_->complete ? sent != declared : !std::ranges::equal(sent, declared, std::less_equal<>());
  const int ranks = mpi::size_of(comm_);
  int speaker = differs ? rank_ : ranks;
  FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, &speaker, 1, MPI_INT, MPI_MIN, comm_));
  Check check{"message-volume", "before", speaker < ranks ? 1.0 : 0.0, 0, speaker == ranks};
  if (check.ok) return check;
  std::array<Index, 7> told{
      declared[0], declared[1], declared[2], sent[0], sent[1], sent[2], mpi::rank_in(MPI_COMM_WORLD)};
  FOURSCORE_MPI(MPI_Bcast(told.data(), 7, MPI_INT64_T, speaker, comm_));
  check.finding = fmt::format(
      "rank {} declares {} bytes in {} messages and {} control messages, but hands MPI {} bytes in {} messages and {} "
      "control messages",
      told[6], told[0], told[1], told[2], told[3], told[4], told[5]);
  return check;
}

/// Adds a check where it fails.
void Verifier::add_open_requests(std::vector<Check>& checks) const {
  struct {
    int open;
    int rank;
  } most{static_cast<int>(sent_->open_requests), mpi::rank_in(MPI_COMM_WORLD)};
  FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_2INT, MPI_MAXLOC, comm_));
  if (most.open <= 0) return;
  checks.push_back({"requests", "before", static_cast<double>(most.open), 0, false,
                    fmt::format("rank {} leaves {} of MPI open", most.rank, plural(most.open, "request"))});
}

/// Each rank sums a hash over what it holds, and over its share of all indices: no rank asks what the others hold.
bool Verifier::covers_once(const Decomposition& layout) const {
  LocalRows rows(layout, rank_);
  RowTile tile(rows);
  std::uint64_t held = 0;
  tile.for_each_place([&] {
    for (Index i = 0; i < tile.count(0); ++i)
      for (Index j = 0; j < tile.count(1); ++j) {
        const Index base = tile.linear(i, j);
        for (const Index index : tile.index(2))
          held += mix(static_cast<std::uint64_t>(base + index * rows.linear_step(2)));
      }
  });
  const Index elements = layout.shape[0] * layout.shape[1] * layout.shape[2];
  const Range share = block_range(elements, mpi::size_of(comm_), rank_);
  std::uint64_t all = 0;
  for (Index linear = share.low; linear < share.high; ++linear) all += mix(static_cast<std::uint64_t>(linear));
  std::array<std::uint64_t, 2> sums{held, all};
  FOURSCORE_MPI(MPI_Allreduce(MPI_IN_PLACE, sums.data(), 2, MPI_UINT64_T, MPI_SUM, comm_));
  return sums[0] == sums[1];
}

Check Verifier::check_layouts(const Plan& plan) const {
  const int size = mpi::size_of(comm_);
  Check check{"layouts", "before", 0, 0, true};
  for (const auto& [layout, side] : {std::pair(&plan.input_layout(), "input"), {&plan.output_layout(), "output"}}) {
    if (layout->ranks() == size && covers_once(*layout)) continue;
    check = {"layouts", "before", 1, 0, false, fmt::format("the ranks do not hold each element of the {} once", side)};
  }
  return check;
}

/// The root mean square. The variance is 1/12 in each part; real noise has one part, and the mean of two that hermitian
/// noise is has half the variance.
double Verifier::noise_size() const { return std::sqrt((symmetry_ == Symmetry::none ? 2.0 : 1.0) / 12); }

/// By Parseval.
double Verifier::transformed_noise_size() const {
  return std::sqrt(static_cast<double>(problem_.elements())) * noise_size();
}

Check Verifier::check_inverse(const Plan& plan, Plan& inverse) {
  if (plan.output_layout() != inverse.input_layout() || plan.input_layout() != inverse.output_layout() ||
      plan.facts().output_fields != inverse.facts().input_fields ||
      plan.facts().input_fields != inverse.facts().output_fields)
    return {"inverse-layouts", "before", 1, 0, false, "the inverse does not begin where the transform ends"};
  const auto bytes = static_cast<std::size_t>(plan.output_layout().memory_volume(rank_) * output_.interleaving.fields) *
                     problem_.output_element_bytes();
  for (Index array = 0; bytes > 0 && array < fields_ / output_.interleaving.fields; ++array)
    std::memcpy(inverse.arrays_of(array).input, plan.arrays_of(array).output, bytes);
  PhaseClock clock(false);
  inverse.execute(clock);
  return check_noise(inverse, input_, 1 / static_cast<double>(problem_.elements()));
}

std::vector<Check> Verifier::check_waves(Plan& plan) {
  std::vector<Check> checks{check_layouts(plan)};
  // Where elements are missing or doubled the other checks would read what is not there.
  if (!checks.front().ok) return checks;
  checks.push_back(check_terms("plane-waves", plan, [&](std::uint64_t seed) { return waves(mix(seed + 2)); }));
  if (can_count_messages() && plan.facts().message_volume_is_exact) checks.push_back(check_message_volume(plan));
  if (can_count_messages()) add_open_requests(checks);
  return checks;
}

std::vector<Check> Verifier::check_before(Plan& plan, const MakeInverse& make_inverse) {
  std::vector<Check> checks = check_waves(plan);
  if (!checks.front().ok || operator_ != nullptr) return checks;
  checks.push_back(check_terms("impulse", plan, [&](std::uint64_t seed) { return field(0, 1, 1, mix(seed + 3)); }));
  write_noise(plan);
  execute(plan);
  if (problem_.direction == Direction::roundtrip) {
    checks.push_back(check_noise(plan, output_, 1 / static_cast<double>(problem_.elements())));
    return checks;
  }
  checks.push_back(small_enough_for_the_definition() ? check_dft(plan) : check_spots(plan));
  if (!make_inverse) return checks;
  if (const auto inverse = make_inverse()) checks.push_back(check_inverse(plan, *inverse));
  return checks;
}

SparseField Verifier::waves(std::uint64_t seed) const {
  if (operator_ != nullptr) return random_modes(problem_.extents(), seed, symmetry_);
  return field(3, 0, 0, seed);
}

SparseField Verifier::timed_field(int run, Index number) const {
  if (operator_ != nullptr) return waves(mix(seed(number) + 4) + static_cast<std::uint64_t>(run));
  const bool returns = problem_.direction == Direction::roundtrip;
  return field(2, 1, returns ? 1.0 : static_cast<double>(problem_.elements()),
               mix(seed(number) + 4) + static_cast<std::uint64_t>(run));
}

void Verifier::fill(const Plan& plan, int run) {
  if (filled_run_) look_at_rows(plan, *filled_run_);
  filled_run_ = run;
  for (Index field = 0; field < fields_; ++field) {
    input_field_.assign(timed_field(run, field));
    write(input_field_, input_of(plan, field));
  }
}

std::vector<Check> Verifier::check_after(const Plan& plan) {
  std::vector<Check> checks{check_fields("last-timed-run", "after", output_, [&](Index number) {
    return compare_answers(plan, timed_field(filled_run_.value_or(0), number), output_field_, number);
  })};
  if (runs_looked_at_ > 0)
    checks.push_back(check_fields("each-run", "after", output_,
                                  [&](Index field) { return looked_at_[static_cast<std::size_t>(field)]; }));
  // What follows may run parts of the plan alone.
  filled_run_.reset();
  looked_at_.assign(static_cast<std::size_t>(fields_), {});
  runs_looked_at_ = 0;
  return checks;
}

}  // namespace fourscore
