// fourscore best: which method was fastest; the Python package answers, and checks the values.

#include <memory>

#include "jobscripts/commands/command.hpp"
#include "jobscripts/commands/forwarded.hpp"

namespace fourscore {
namespace {

Command best_command() {
  return {
      "best", "Say which method was fastest for a shape on so many ranks, with its evidence",
      "  fourscore best --shape LxMxN --ranks 8\n"
      "  fourscore best --shape LxMxN --ranks 64 --nodes 4 --precision single --json\n"
      "Only what was measured counts. Where it was not, the nearest that was is named, and the exit code is 1.\n",
      75, [](CLI::App& app) -> std::function<int()> {
        ForwardedOptions options(app);
        options.one("--shape", "TEXT", "1 to 3 extents, slowest in memory first, with an x between them")->required();
        options.one("--ranks", "INT", "how many ranks")->required();
        options.one("--nodes", "INT", "nodes that the ranks are on (default: any, each apart)");
        options.one("--precision", "TEXT", "double or single (default: any, each apart; so also the following)");
        options.one("--kind", "TEXT", "c2c, r2c, or c2r, which is r2c backward");
        options.one("--direction", "TEXT", "forward, backward or roundtrip");
        options.one("--layout", "TEXT", "natural or transposed");
        options.one("--machine-hash", "HASH", "of one machine, or how it begins (default: every machine, each apart)");
        options.flag("--json", "print the answer as JSON for machines");
        auto archive = std::make_shared<std::string>();
        add_archive_option(app, *archive);
        return [&app, archive]() -> int { forward(app, *archive); };
      }};
}

FOURSCORE_REGISTER_COMMAND(best_command);

}  // namespace
}  // namespace fourscore
