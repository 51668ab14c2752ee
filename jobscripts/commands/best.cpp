// fourscore best: which method was fastest; the Python package answers.

#include <array>
#include <memory>

#include "jobscripts/commands/analysis.hpp"
#include "jobscripts/commands/campaigns.hpp"
#include "jobscripts/commands/command.hpp"
#include "jobscripts/paths.hpp"

namespace fourscore {
namespace {

struct Term {
  const char* option;
  const char* type;
  const char* help;
};

/// What may be asked for; the package checks the values.
constexpr std::array<Term, 8> terms{
    {{"--shape", "TEXT", "1 to 3 extents, slowest in memory first, with an x between them"},
     {"--ranks", "INT", "how many ranks"},
     {"--nodes", "INT", "nodes that the ranks are on (default: any, each apart)"},
     {"--precision", "TEXT", "double or single (default: any, each apart; so also the following)"},
     {"--kind", "TEXT", "c2c, r2c, or c2r, which is r2c backward"},
     {"--direction", "TEXT", "forward, backward or roundtrip"},
     {"--layout", "TEXT", "natural or transposed"},
     {"--machine-hash", "HASH", "of one machine, or how it begins (default: every machine, each apart)"}}};

struct BestOptions {
  std::string archive;
  std::array<std::string, terms.size()> values;
  bool json = false;
};

int best(const BestOptions& options) {
  (void)open_archive(options.archive);  // it is there
  std::vector<std::string> command{"best", "--archive=" + archive_folder(options.archive).string()};
  for (std::size_t i = 0; i < terms.size(); ++i)
    if (!options.values[i].empty()) command.push_back(std::string(terms[i].option) + "=" + options.values[i]);
  if (options.json) command.emplace_back("--json");
  run_analysis(command);
}

Command best_command() {
  return {"best", "Say which method was fastest for a shape on so many ranks, with its evidence",
          "  fourscore best --shape LxMxN --ranks 8\n"
          "  fourscore best --shape LxMxN --ranks 64 --nodes 4 --precision single --json\n"
          "Only what was measured counts. Where it was not, the nearest that was is named, and the exit code is 1.\n",
          75, [](CLI::App& app) -> std::function<int()> {
            auto options = std::make_shared<BestOptions>();
            for (std::size_t i = 0; i < terms.size(); ++i) {
              CLI::Option* option =
                  app.add_option(terms[i].option, options->values[i], terms[i].help)->type_name(terms[i].type);
              if (i < 2) option->required();  // shape and ranks
            }
            add_archive_option(app, options->archive);
            add_json_option(app, options->json);
            return [options] { return best(*options); };
          }};
}

FOURSCORE_REGISTER_COMMAND(best_command);

}  // namespace
}  // namespace fourscore
