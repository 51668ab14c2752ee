#include "jobscripts/base/launch_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "core/problem.hpp"

namespace fourscore {
namespace {

constexpr std::string_view blanks = " \t";
constexpr std::string_view of_a_shell = "|;&<>()`";

bool has(std::string_view set, char c) { return set.find(c) != std::string_view::npos; }

bool begins_name(char c) { return c == '_' || std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool continues_name(char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; }

void check_placeholder(const std::string& name) {
  const std::vector<std::string> known(launch_placeholders.begin(), launch_placeholders.end());
  if (std::ranges::find(known, name) != known.end()) return;
  const auto nearest = nearest_name(name, known);
  throw InputError(fmt::format("unknown placeholder {{{}}}{}; expected {{{}}}, and a brace itself as {{{{ or }}}}",
                               name, nearest ? fmt::format(", did you mean {{{}}}?", *nearest) : "",
                               fmt::join(known, "}, {")));
}

}  // namespace

class LaunchLine::Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::vector<Word> words() {
    while (at_ < text_.size()) step();
    if (quote_ != 0) throw InputError(fmt::format("a quote {} does not end", quote_));
    end_word();
    return std::move(words_);
  }

 private:
  void step() {
    const char c = text_[at_];
    if (c == '{' || c == '}') return brace();
    if (quote_ == 0) return unquoted(c);
    if (c == quote_) {
      quote_ = 0;
      ++at_;
    } else if (quote_ == '"' && c == '$') {
      variable();
    } else if (quote_ == '"' && c == '\\' && at_ + 1 < text_.size() && has("\"\\$`", text_[at_ + 1])) {
      escaped();
    } else {
      add_text();
    }
  }

  void unquoted(char c) {
    if (has(blanks, c)) {
      end_word();
      ++at_;
    } else if (c == '\'' || c == '"') {
      quote_ = c;
      in_word_ = quoted_ = true;
      ++at_;
    } else if (c == '\\') {
      if (at_ + 1 == text_.size()) throw InputError("\\ at the end stands before nothing");
      escaped();
    } else if (c == '$') {
      variable();
    } else if (has(of_a_shell, c)) {
      throw InputError(fmt::format(
          "'{}' is for a shell, and none is run; expected a program and its arguments, or '...' around it", c));
    } else {
      add_text();
    }
  }

  void add_text() { add(Piece::Kind::text, std::string(1, text_[at_++])); }

  void escaped() {
    ++at_;
    add_text();
  }

  void brace() {
    const char c = text_[at_];
    if (at_ + 1 < text_.size() && text_[at_ + 1] == c) return escaped();
    const std::size_t end = text_.find('}', at_);
    if (c == '}' || end == std::string_view::npos)
      throw InputError(
          fmt::format("a single {} is part of no placeholder; expected {{ranks}} and the like, or {}{}", c, c, c));
    const std::string name(text_.substr(at_ + 1, end - at_ - 1));
    check_placeholder(name);
    add(Piece::Kind::placeholder, name);
    at_ = end + 1;
  }

  void variable() {
    const bool braced = at_ + 1 < text_.size() && text_[at_ + 1] == '{';
    const std::size_t begin = at_ + (braced ? 2 : 1);
    std::size_t end = begin;
    if (end < text_.size() && begins_name(text_[end]))
      while (end < text_.size() && continues_name(text_[end])) ++end;
    if (end == begin || (braced && (end == text_.size() || text_[end] != '}')))
      throw InputError("$ stands before no name; expected a variable of the environment as $NAME or ${NAME}, or '$'");
    add(Piece::Kind::variable, std::string(text_.substr(begin, end - begin)));
    at_ = end + (braced ? 1 : 0);
  }

  void add(Piece::Kind kind, std::string text) {
    in_word_ = true;
    if (kind == Piece::Kind::text && !word_.empty() && word_.back().kind == kind)
      word_.back().text += text;
    else
      word_.push_back({kind, std::move(text)});
  }

  void end_word() {
    if (!in_word_) return;
    const auto is_program = [](const Piece& piece) {
      return piece.kind == Piece::Kind::placeholder && piece.text == "program";
    };
    if (std::ranges::any_of(word_, is_program) && (word_.size() > 1 || quoted_))
      throw InputError("{program} is several words; expected blanks on both sides of it, and no quotes");
    words_.push_back(std::move(word_));
    word_.clear();
    in_word_ = quoted_ = false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  char quote_ = 0;
  bool in_word_ = false;  ///< '' is a word although it is empty
  bool quoted_ = false;
  Word word_;
  std::vector<Word> words_;
};

LaunchLine::LaunchLine(std::string_view text) : words_(Parser(text).words()) {
  for (const char* needed : {"ranks", "program"})
    if (!holds(needed))
      throw InputError(
          fmt::format("without {{{}}}; expected the words that start a program on so many ranks, as "
                      "mpirun -n {{ranks}} {{program}}",
                      needed));
  if (std::ranges::count_if(words_, [](const Word& word) {
        return word.size() == 1 && word[0].kind == Piece::Kind::placeholder && word[0].text == "program";
      }) > 1)
    throw InputError("{program} stands there more than once");
}

bool LaunchLine::holds(std::string_view placeholder) const {
  return std::ranges::any_of(words_, [&](const Word& word) {
    return std::ranges::any_of(
        word, [&](const Piece& piece) { return piece.kind == Piece::Kind::placeholder && piece.text == placeholder; });
  });
}

std::vector<std::string> LaunchLine::unset_variables() const {
  std::vector<std::string> names;
  for (const Word& word : words_)
    for (const Piece& piece : word)
      if (piece.kind == Piece::Kind::variable && std::getenv(piece.text.c_str()) == nullptr)
        names.push_back(piece.text);
  return names;
}

std::string LaunchLine::text_of(const Word& word, const std::map<std::string, std::string>& values) {
  std::string text;
  for (const Piece& piece : word) {
    if (piece.kind == Piece::Kind::text) text += piece.text;
    if (piece.kind == Piece::Kind::placeholder && values.contains(piece.text)) text += values.at(piece.text);
    if (piece.kind == Piece::Kind::variable) {
      const char* value = std::getenv(piece.text.c_str());
      text += value == nullptr ? "" : value;
    }
  }
  return text;
}

std::string LaunchLine::first_word() const { return text_of(words_.front(), {}); }

std::vector<std::string> LaunchLine::argv(const std::map<std::string, std::string>& values,
                                          const std::vector<std::string>& program) const {
  std::vector<std::string> result;
  for (const Word& word : words_) {
    if (word.size() == 1 && word[0].kind == Piece::Kind::placeholder && word[0].text == "program")
      result.insert(result.end(), program.begin(), program.end());
    else
      result.push_back(text_of(word, values));
  }
  return result;
}

}  // namespace fourscore
