#pragma once
// Google Benchmark's own flags, as a program that writes records may take them. No MPI and no Google Benchmark here.

#include <string>
#include <vector>

namespace fourscore::component {

/// Throws InputError for a flag (a text that starts with --benchmark_) that no version has, for a value that Google
/// Benchmark would end the program for, and for what would make the record untrue: the record says how often and for
/// how long each benchmark ran, so --repetitions and --min-time-s alone may say it. Judges the environment variables
/// alike that Google Benchmark reads in place of flags (BENCHMARK_FORMAT of --benchmark_format).
void check_benchmark_flags(const std::vector<std::string>& flags);

/// What holds for the flag --benchmark_`name`: the last of these flags, else the environment, else `fallback`. A flag
/// without "=" is "true".
[[nodiscard]] std::string benchmark_flag(const std::vector<std::string>& flags, const std::string& name,
                                         const std::string& fallback);
/// The same of a flag that is on or off, as Google Benchmark reads it.
[[nodiscard]] bool benchmark_flag_is_on(const std::vector<std::string>& flags, const std::string& name);

}  // namespace fourscore::component
