// fourscore advise: which method to use, by prediction; the Python package answers, and checks the values.

#include <memory>

#include "jobscripts/commands/command.hpp"
#include "jobscripts/commands/forwarded.hpp"

namespace fourscore {
namespace {

Command advise_command() {
  return {"advise", "Rank variants, grids and exchanges by predicted time, and say what to measure next",
          "  fourscore run sizes && fourscore advise --shape LxMxN --ranks 64:4096\n"
          "  fourscore advise --shape LxMxN --ranks 2,4,8 --layout natural --json\n"
          "  fourscore advise --shape LxMxN --ranks 4 --suggest more.toml && fourscore run more.toml\n"
          "64:4096 doubles: 64, 128, ... 4096. `fourscore best` says which method was fastest where it was measured.\n",
          82, [](CLI::App& app) -> std::function<int()> {
            ForwardedOptions options(app);
            add_question(options);
            options.one("--ranks", "LIST", "64:4096, which doubles, or 64,128,256")->required();
            options.one("--variant", "NAME", "only this one (default: all that were measured)");
            options.one("--exchange", "NAME", "only this one");
            options.one("--machine", "M", "a file of parameters, a published machine, or how the hash of one begins");
            options.one("--top", "INT", "rows of a table (default: 5)");
            options.one("--suggest", "FILE", "write what to measure next as a suite");
            auto archive = std::make_shared<std::string>();
            add_archive_option(app, *archive);
            return [&app, archive]() -> int { forward_unless(app, *archive, {"--machine"}); };
          }};
}

FOURSCORE_REGISTER_COMMAND(advise_command);

}  // namespace
}  // namespace fourscore
