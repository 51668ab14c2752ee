#include "jobscripts/schedulers/shared/script_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/errors.hpp"
#include "jobscripts/base/process.hpp"
#include "results/printable.hpp"

namespace fourscore {
namespace {

bool is_control(char c) { return std::iscntrl(static_cast<unsigned char>(c)) != 0; }

/// What a comment may hold.
std::string one_line(const std::string& text) { return printable(text); }

}  // namespace

std::string directive_word(const std::string& what, const std::string& text) {
  if (std::any_of(text.begin(), text.end(), is_control))
    throw InputError(fmt::format("{} is '{}'; expected one line without control characters", what, printable(text)));
  if (is_plain_word(text)) return text;
  std::string word = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') word += '\\';
    word += c;
  }
  return word + '"';
}

std::string clock_time(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::ceil(std::max(seconds, 1.0)));
  return fmt::format("{:02}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string script_head(const Machine& machine, const JobRequest& job, const std::string& program) {
  // A login shell knows the command `module`.
  return fmt::format(
      "#!/bin/bash{}\n"
      "# {}, on machine {}. By hand: {} THIS_FILE\n",
      machine.modules.empty() ? "" : " -l", one_line(job.name), one_line(machine.name), program);
}

std::string script_body(const Machine& machine, const JobRequest& job) {
  std::string text;
  for (const auto& module : machine.modules) text += fmt::format("module load {} || exit 3\n", shell_word(module));
  for (const auto& [name, value] : machine.environment) text += fmt::format("export {}={}\n", name, shell_word(value));
  for (const auto& line : machine.setup) text += line + '\n';
  if (!text.empty()) text = "# The environment of machine " + one_line(machine.name) + '\n' + text + '\n';
  for (const auto& line : job.commands) text += line + '\n';
  return text;
}

std::string directive_lines(const Machine& machine, const std::string& mark) {
  std::string lines;
  for (const auto& directive : machine.directives) {
    (void)directive_word("a directive of machine " + machine.name, directive);
    lines += mark + directive + '\n';
  }
  return lines;
}

std::set<std::string> options_of(const std::vector<std::string>& directives) {
  std::set<std::string> options;
  for (const auto& directive : directives)
    for (std::size_t begin = directive.find_first_not_of(' '); begin < directive.size();
         begin = directive.find_first_not_of(' ', directive.find(' ', begin))) {
      const std::string word = directive.substr(begin, directive.find(' ', begin) - begin);
      if (word.size() > 1 && word.front() == '-') options.insert(word.substr(0, word.find('=')));
    }
  return options;
}

int tasks_per_node(const Machine& machine, const JobRequest& job) {
  if (machine.cores <= 0) return job.ranks_per_node;
  return std::clamp(machine.cores / std::max(job.threads, 1), 1, job.ranks_per_node);
}

}  // namespace fourscore
