#pragma once
// The help of programs, in lines that a terminal of 100 columns shows whole.

#include <CLI/CLI.hpp>
#include <sstream>
#include <string>

namespace fourscore {

class WrappedHelp : public CLI::Formatter {
 public:
  WrappedHelp() { column_width(left_columns); }

  std::string make_option_desc(const CLI::Option* option) const override {
    return wrapped(CLI::Formatter::make_option_desc(option), right_columns);
  }
  std::string make_subcommand(const CLI::App* command) const override {
    std::stringstream text;
    CLI::detail::format_help(text, command->get_display_name(), wrapped(command->get_description(), right_columns),
                             left_columns);
    return text.str();
  }
  /// What is indented, as examples are, stays as it is.
  std::string make_footer(const CLI::App* command) const override {
    std::istringstream lines(command->get_footer());
    std::string text, paragraph;
    const auto end_paragraph = [&] {
      if (!paragraph.empty()) text += wrapped(paragraph, columns) + '\n';
      paragraph.clear();
    };
    for (std::string line; std::getline(lines, line);) {
      if (!line.empty() && line.front() != ' ') {
        paragraph += line + ' ';
        continue;
      }
      end_paragraph();
      text += line + '\n';
    }
    end_paragraph();
    return text;
  }

 private:
  static constexpr std::size_t left_columns = 32;
  static constexpr std::size_t columns = 100;
  static constexpr std::size_t right_columns = columns - left_columns;

  /// Broken between words.
  static std::string wrapped(const std::string& text, std::size_t width) {
    std::istringstream words(text);
    std::string lines;
    std::size_t used = 0;
    for (std::string word; words >> word; used += word.size()) {
      const bool fits = used + 1 + word.size() <= width;
      if (!lines.empty()) {
        lines += fits ? ' ' : '\n';
        used = fits ? used + 1 : 0;
      }
      lines += word;
    }
    return lines;
  }
};

}  // namespace fourscore
