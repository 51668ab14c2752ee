#pragma once
// What the job scripts of all schedulers have in common.

#include <set>
#include <string>
#include <vector>

#include "jobscripts/base/machine.hpp"
#include "jobscripts/schedulers/scheduler.hpp"

namespace fourscore {

/// The text as one word of a directive (#SBATCH, #PBS), in double quotes where it needs them. Throws InputError naming
/// `what` for text that no directive can hold: a control character.
[[nodiscard]] std::string directive_word(const std::string& what, const std::string& text);

/// "01:30:00", rounded up to seconds; hours are not limited to a day.
[[nodiscard]] std::string clock_time(double seconds);

/// The first line, and lines that say what the job is and how to submit it by hand.
[[nodiscard]] std::string script_head(const Machine& machine, const JobRequest& job, const std::string& program);

/// From the machine file: `module load` lines, of which a failed one ends the job, exports with their values as they
/// are, then its lines of shell. Then the job's commands.
[[nodiscard]] std::string script_body(const Machine& machine, const JobRequest& job);

/// The machine file's directives, each behind `mark`.
[[nodiscard]] std::string directive_lines(const Machine& machine, const std::string& mark);

/// The options that the directives set, without values: "--time=10 --exclusive" sets --time and --exclusive, "-l x=1"
/// sets -l.
[[nodiscard]] std::set<std::string> options_of(const std::vector<std::string>& directives);

/// Tasks of a node for which its cores suffice, at least one: the most ranks and the most threads of a job need not be
/// of one launch.
[[nodiscard]] int tasks_per_node(const Machine& machine, const JobRequest& job);

}  // namespace fourscore
