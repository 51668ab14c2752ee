// fourscore compare: whether a candidate is slower than its base; the Python package judges records.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "jobscripts/commands/analysis.hpp"
#include "jobscripts/commands/command.hpp"
#include "jobscripts/paths.hpp"

namespace fourscore {
namespace {

struct CompareOptions {
  std::string archive;
  std::string base;
  std::string candidate;
  std::optional<std::string> comparison;
  std::vector<std::string> allowed;
  std::optional<std::string> json;
  std::optional<std::string> markdown;
  std::optional<std::string> junit;
  bool plan = false;
};

/// Becomes the interpreter, which alone knows what a side is.
int compare(const CompareOptions& options) {
  std::vector<std::string> command{"compare", "--archive=" + archive_folder(options.archive).string()};
  const auto add = [&](const char* name, const std::optional<std::string>& value) {
    if (value) command.push_back(std::string(name) + "=" + *value);
  };
  add("--comparison", options.comparison);
  add("--json", options.json);
  add("--markdown", options.markdown);
  add("--junit", options.junit);
  for (const auto& field : options.allowed) command.push_back("--allow-different=" + field);
  if (options.plan) command.emplace_back("--plan");
  command.emplace_back("--");
  for (const auto* side : {&options.base, &options.candidate})
    if (!side->empty()) command.push_back(*side);
  run_analysis(command);
}

Command compare_command() {
  return {
      "compare", "Say whether a candidate is slower than its base, and which phase is to blame",
      "  fourscore compare strong-1a2b3c4d strong-5e6f7a8b        (two campaigns of the archive)\n"
      "  fourscore compare old-archive new-archive --markdown pull-request.md --junit gate.xml\n"
      "  fourscore compare --comparison fourscore-archive/comparisons/NAME/comparison.json\n"
      "A side is a campaign, a suite for its newest campaign, an archive, a folder of records or one record.\n"
      "Exit code 0: no regression; 1: a regression or a wrong result; 2: unusable input;\n"
      "3: the environment failed; 4: nothing was measured, no series has both sides.\n",
      76, [](CLI::App& app) -> std::function<int()> {
        auto options = std::make_shared<CompareOptions>();
        app.add_option("base", options->base, "what is compared with")->type_name("BASE");
        app.add_option("candidate", options->candidate, "what may be slower")->type_name("CAND");
        app.add_option("--comparison", options->comparison, "comparison.json of a comparison measured in pairs")
            ->type_name("FILE");
        app.add_option("--allow-different", options->allowed,
                       "fields of the identity that may differ, as machine.memory; the result says so")
            ->type_name("FIELD");
        app.add_option("--json", options->json, "write the result as JSON; - for standard output")->type_name("FILE");
        app.add_option("--markdown", options->markdown, "write it for a pull request")->type_name("FILE");
        app.add_option("--junit", options->junit, "write it as JUnit XML")->type_name("FILE");
        app.add_flag("--plan", options->plan,
                     "of a screen: say as JSON which points to measure again, and in how many pairs");
        add_archive_option(app, options->archive);
        return [options] { return compare(*options); };
      }};
}

FOURSCORE_REGISTER_COMMAND(compare_command);

}  // namespace
}  // namespace fourscore
