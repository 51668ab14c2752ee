// fourscore fit: the papers' models of what was measured; the Python package fits, and checks the values.

#include <memory>

#include "jobscripts/commands/command.hpp"
#include "jobscripts/commands/forwarded.hpp"

namespace fourscore {
namespace {

Command fit_command() {
  return {
      "fit", "Fit the papers' models to what was measured, and check them on points left out",
      "  fourscore run sizes && fourscore fit\n"
      "  fourscore fit sizes --variant pencil --json\n"
      "  fourscore fit --model czechowski2012 --form compute=sum --given memory_constant=6.3\n"
      "  fourscore fit --suggest more.toml && fourscore run more.toml && fourscore fit\n"
      "Each method is fitted apart, by every model that is of it. The one that errs least on sizes that it has not\n"
      "seen comes first. Parameters that these points do not tell are refused, with the reason.\n",
      80, [](CLI::App& app) -> std::function<int()> {
        ForwardedOptions options(app);
        options.arguments("campaign", "CAMPAIGN",
                          "campaigns, or suites for the newest of each (default: all of the archive)");
        options.one("--model", "NAME", "one model (default: all of a method)");
        options.one("--variant", "NAME", "one variant (default: all that were measured)");
        options.repeated("--form", "NAME=CHOICE", "how a model is read: compute=sum; docs/models.md has all");
        options.repeated("--given", "NAME=VALUE", "a parameter that is known, in SI units: it is not fitted");
        options.repeated("--fit-anyway", "NAME", "a parameter that a component program measured: fit it all the same");
        options.one("--machine-hash", "HASH", "of one machine, or how it begins");
        options.one("--suggest", "FILE", "write the points that would tell more, as a suite");
        options.one("--platform", "FILE", "write the machine as a platform to simulate (docs/simulation.md)");
        options.flag("--json", "print the fits as JSON for machines");
        auto archive = std::make_shared<std::string>();
        add_archive_option(app, *archive);
        return [&app, archive]() -> int { forward(app, *archive); };
      }};
}

FOURSCORE_REGISTER_COMMAND(fit_command);

}  // namespace
}  // namespace fourscore
