#pragma once
// What the command prints, and what becomes of it where nobody can read it.

#include <fmt/format.h>

#include <cstdio>
#include <functional>
#include <string>
#include <utility>

namespace fourscore {

/// Writes and flushes. That nobody can read it (a closed terminal, a reader that has gone) is no error.
void say_to(std::FILE* stream, const std::string& text);

/// The same on standard error.
template <typename... Values>
void say(fmt::format_string<Values...> text, Values&&... values) {
  say_to(stderr, fmt::format(text, std::forward<Values>(values)...));
}

/// Runs what prints to standard output after work that must not fail because of it. When the reader has gone (EPIPE,
/// and EIO of a closed terminal) the rest is dropped.
void print_if_read(const std::function<void()>& print);

/// The exit code of a program that prints no more: `code`, or 3 after a message when standard output is incomplete.
[[nodiscard]] int end_output(int code);

}  // namespace fourscore
