// Commands that the Python package of analysis/ answers alone. It declares their options, and prints their --help: here
// are the lines of `fourscore --help`.

#include "jobscripts/commands/analysis.hpp"
#include "jobscripts/commands/command.hpp"

namespace fourscore {
namespace {

Command analysed(int place, const std::string& name, const std::string& summary) {
  Command command;
  command.name = name;
  command.summary = summary;
  command.place = place;
  command.pass_on = [name](std::vector<std::string> words) -> int {
    tell_default_archive("");
    words.insert(words.begin(), name);
    run_analysis(words);
  };
  return command;
}

Command report() {
  return analysed(70, "report", "Write one self-contained page of what the campaigns found, or of the papers' numbers");
}
Command best() {
  return analysed(75, "best", "Say which method was fastest for a shape on so many ranks, with its evidence");
}
Command publish() {
  return analysed(77, "publish", "Write a static site of any number of archives: machines, problems, methods, history");
}
Command fit() {
  return analysed(80, "fit", "Fit the papers' models to what was measured, and check them on points left out");
}
Command predict() {
  return analysed(81, "predict",
                  "Say what a point would take by the papers' models: here, on another machine, in other years");
}
Command advise() {
  return analysed(82, "advise", "Rank variants, grids and exchanges by predicted time, and say what to measure next");
}

FOURSCORE_REGISTER_COMMAND(report);
FOURSCORE_REGISTER_COMMAND(best);
FOURSCORE_REGISTER_COMMAND(publish);
FOURSCORE_REGISTER_COMMAND(fit);
FOURSCORE_REGISTER_COMMAND(predict);
FOURSCORE_REGISTER_COMMAND(advise);

}  // namespace
}  // namespace fourscore
