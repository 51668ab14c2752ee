#pragma once
// Whether a plan computes the DFT, found out without any FFT library: known answers, the definition, and the inverse.

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/field.hpp"
#include "harness/sent_messages.hpp"
#include "harness/wrong_elements.hpp"
#include "interfaces/pointwise_operator.hpp"
#include "interfaces/variant.hpp"

namespace fourscore {

/// error: largest |computed - expected| over all ranks, relative to the size of the expected values (Verifier). Not
/// finite where the result holds a NaN or an infinity; never ok then.
struct Check {
  std::string name;
  std::string when;  ///< "before" or "after" the timing
  double error = 0;
  double tolerance = 0;
  bool ok = false;
  std::string finding{};  ///< what is wrong and where; empty where ok
};

[[nodiscard]] inline bool all_ok(const std::vector<Check>& checks) { return std::ranges::all_of(checks, &Check::ok); }

/// All calls are collective over comm and give the same answer on every rank. One Verifier serves one plan, all fields
/// of which it checks in each execution, each with data of its own: no field passes with another's. Beside the
/// plan it holds some megabytes, whatever the size of the problem: rows are written and compared in tiles. Where the
/// plan's data is real so are all fields, and their spectra hermitian, of which the plan holds the half.
///
/// Tolerance: 4 eps max(1, log2 N). The error of an FFT grows as eps sqrt(log2 N) in the root mean square (Gentleman
/// and Sande 1966; Schatzman 1996) and its largest element over N lies a few times above that, so the linear law with a
/// small factor holds for correct programs of any size and no wrong element passes it.
///
/// Messages of single precision add 4 eps of single. An exchange rounds each number once, by at most eps / 2 of it. The
/// transforms after it are linear, and spread these errors as they spread the data: of few waves and spikes, whose
/// terms have one modulus, an element is off by at most eps / 2 of the size below for each exchange; of noise, whose
/// errors are independent, the root mean square over an exchange is about eps / 5 of it and the largest element of N
/// lies sqrt(2 ln N) times above, but k exchanges add up as sqrt(k). No check passes more than eight exchanges: four of
/// a volumetric transform, or of pencils in natural order, and four on the way back. Compressed messages add eight
/// times what ZfpMethod (drivers/redistribution) says of one.
///
/// It is relative to a size that the terms of an element have, and not to their sum, which may be next to nothing: of
/// waves and spikes, the largest norm of the terms of an element; of noise, its root mean square; of the transform of
/// noise by the definition, the largest element (never less than the norm of its terms, by Parseval, but for the luck
/// of few elements), and of spots of it the root mean square.
class Verifier {
 public:
  Verifier(const Problem& problem, MPI_Comm comm, const Plan& plan, std::uint64_t seed);

  using MakeInverse = std::function<std::unique_ptr<Plan>()>;
  /// layouts:     every element is on exactly one rank, before and after: the sum of a hash of the indices that the
  /// ranks
  ///              hold is that of all indices (wrong by chance once in 2^64).
  /// plane-waves: three waves give three peaks and nothing else.
  /// message-volume: what the plan sent meanwhile is what it declares. Left out where it does not declare that exactly,
  ///              or this build cannot count.
  /// requests:    where the plan leaves requests of MPI open.
  /// impulse:     one spike gives a wave: a different known value at every place of the output.
  /// dft:         noise against the definition; for large N dft-spots: eight elements of it, as distributed sums.
  /// inverse:     the opposite plan gives the noise back (left out when make_inverse returns null). A round trip does
  /// so
  ///              itself, and is not asked for the definition, which its forward half alone can answer.
  /// In a convolution each wave must come back times the operator's factor of it, in each of the fields, and the other
  /// checks but the first four are left out: its forward half is checked alone, and check_energy() sees all modes.
  [[nodiscard]] std::vector<Check> check_before(Plan& plan, const MakeInverse& make_inverse);
  /// The first four of these alone, with one execution: each element of the output is compared.
  [[nodiscard]] std::vector<Check> check_waves(Plan& plan);

  /// Writes the input of timed run number `run` (negative: warm-up), after a look at some rows of what the run before
  /// it left. Every run has another field, so that a stale output cannot pass; two waves and a spike of modulus N (of a
  /// round trip of modulus 1; of a convolution waves alone, because a spike comes back as the operator's kernel), so
  /// that no element of input or output underflows or is lost beside others.
  void fill(const Plan& plan, int run);
  /// last-timed-run: the whole output of the run that was filled last.
  /// each-run:       the rows of all runs before it that were looked at. A run that is wrong now and then, as by a
  /// race,
  ///                 need not be the last.
  [[nodiscard]] std::vector<Check> check_after(const Plan& plan);

  /// What this rank handed to MPI in the first execution; nothing before it.
  [[nodiscard]] const std::optional<SentMessages>& sent() const { return sent_; }

  [[nodiscard]] double tolerance() const { return tolerance_; }

 private:
  /// The plan's data before it runs, or after.
  struct Side {
    Side(const Decomposition& layout, const Interleaving& fields, int rank, const Extents& shape, bool is_real)
        : rows(layout, rank, shape), tile(rows), interleaving(fields), extents(layout.shape), real(is_real) {}
    Side(const Side&) = delete;
    Side& operator=(const Side&) = delete;
    LocalRows rows;
    RowTile tile;
    Interleaving interleaving;
    Extents extents;
    bool real;  ///< elements are reals
  };
  /// One field's data on one side.
  struct Data {
    void* array;
    Index field;
  };
  /// What a buffer must hold once it is multiplied by `scale`, and how large that is.
  struct Expected {
    RowSource& rows;
    double size;
    double scale = 1;
  };
  [[nodiscard]] static Data input_of(const Plan& plan, Index field) { return {plan.arrays_of(field).input, field}; }
  [[nodiscard]] static Data output_of(const Plan& plan, Index field) { return {plan.arrays_of(field).output, field}; }
  void write(RowSource& source, const Data& data);  ///< the input
  /// What this rank found.
  struct Found {
    double error = 0;  ///< the largest, relative to the size of what is expected; infinite for NaN
    WrongElements wrong{};
  };
  [[nodiscard]] Found compare(Side& side, const Expected& expected, const Data& data);
  void compare_tile(Side& side, const Expected& expected, const Data& data, Found& found);
  void look_at_rows(const Plan& plan, int run);
  void look_at_rows(const Plan& plan, int run, Index field);
  /// The data of a field that the plan leaves; of a convolution, of one of its outputs.
  [[nodiscard]] static Data answer_of(const Plan& plan, Index field, int output);
  /// What the plan makes of a field: the field that it leaves, or each of several.
  [[nodiscard]] SparseField answer(const SparseField& given, int output) const;
  /// How large the answer can be, whatever the waves: Expected::size.
  [[nodiscard]] double size_of_answer(const SparseField& given, const SparseField& answer, int output) const;
  [[nodiscard]] Found compare_answers(const Plan& plan, const SparseField& given, FieldRows& rows, Index field);
  void weigh(Index i, Index j, std::span<std::complex<double>> row) const;
  [[nodiscard]] std::uint64_t seed(Index field) const;
  [[nodiscard]] SparseField field(int waves, int spikes, double spike_amplitude, std::uint64_t seed) const;
  /// The check of all fields, of which `find` says what is found in one.
  [[nodiscard]] Check check_fields(const std::string& name, const std::string& when, const Side& side,
                                   const std::function<Found(Index field)>& find) const;
  [[nodiscard]] Check finish(const std::string& name, const std::string& when, const Side& side,
                             const Found& found) const;
  [[nodiscard]] Check check_terms(const std::string& name, Plan& plan,
                                  const std::function<SparseField(std::uint64_t seed)>& terms);
  void write_noise(const Plan& plan);
  [[nodiscard]] Check check_noise(const Plan& plan, Side& side, double scale);
  [[nodiscard]] bool small_enough_for_the_definition() const;
  [[nodiscard]] Check check_layouts(const Plan& plan) const;
  [[nodiscard]] Check check_message_volume(const Plan& plan) const;
  void add_open_requests(std::vector<Check>& checks) const;
  void execute(Plan& plan);
  [[nodiscard]] bool covers_once(const Decomposition& layout) const;
  [[nodiscard]] Check check_dft(const Plan& plan);
  [[nodiscard]] Check check_spots(const Plan& plan);
  [[nodiscard]] Found find_spots(const Plan& plan, Index field);
  [[nodiscard]] Check check_inverse(const Plan& plan, Plan& inverse);
  [[nodiscard]] SparseField waves(std::uint64_t seed) const;
  [[nodiscard]] SparseField timed_field(int run, Index field) const;
  [[nodiscard]] double noise_size() const;
  [[nodiscard]] double transformed_noise_size() const;

  Problem problem_;
  const PointwiseOperator* operator_;  ///< null: no convolution
  MPI_Comm comm_;
  int rank_ = 0;
  Index fields_;
  std::uint64_t seed_;
  double tolerance_;
  Symmetry symmetry_;  ///< symmetry of the input
  Side input_;
  Side output_;
  FieldRows input_field_;
  std::vector<std::complex<double>> scratch_;
  FieldRows output_field_;
  std::optional<SentMessages> sent_;  ///< in the first execution
  std::optional<int> filled_run_;     ///< whose output is still there
  std::vector<Found> looked_at_;      ///< by field, over all runs since the last check_after()
  int runs_looked_at_ = 0;
};

}  // namespace fourscore
