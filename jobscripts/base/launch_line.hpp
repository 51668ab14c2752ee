#pragma once
// A launch line of a machine file: the words that start an MPI program, with placeholders for what a launch needs.

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace fourscore {

/// What a launch line may hold between { and }. `ranks_per_node`: on the node that has most. `hosts`: with commas
/// between. `program`: the program with its arguments, a word of its own.
inline constexpr std::array<const char*, 7> launch_placeholders{"ranks", "nodes",     "ranks_per_node", "threads",
                                                                "hosts", "placement", "program"};

/// Words are split as a shell splits them: at blanks, with '...', "..." and \c. $NAME and ${NAME} stand for variables
/// of the environment at the time of the launch. No shell is run, so | ; & < > ( ) and ` are refused where they are not
/// quoted. A brace is written twice.
class LaunchLine {
 public:
  /// Throws InputError for an unknown placeholder (with the nearest), a quote or brace that does not end, what only a
  /// shell could do, and a line without {ranks} or {program}.
  explicit LaunchLine(std::string_view text);

  [[nodiscard]] bool holds(std::string_view placeholder) const;
  /// Names of the variables that it takes from the environment, which are not set now.
  [[nodiscard]] std::vector<std::string> unset_variables() const;
  /// Its first word, in which only variables are replaced: the program that it starts.
  [[nodiscard]] std::string first_word() const;
  /// argv: `values` by placeholder, and `program` in the place of {program}. Variables that are not set are empty.
  [[nodiscard]] std::vector<std::string> argv(const std::map<std::string, std::string>& values,
                                              const std::vector<std::string>& program) const;

 private:
  struct Piece {
    enum class Kind { text, placeholder, variable } kind;
    std::string text;
  };
  using Word = std::vector<Piece>;
  class Parser;
  [[nodiscard]] static std::string text_of(const Word& word, const std::map<std::string, std::string>& values);

  std::vector<Word> words_;
};

}  // namespace fourscore
