// fourscore predict: what a point would take, by the models; the Python package answers, and checks the values.

#include <memory>

#include "jobscripts/commands/command.hpp"
#include "jobscripts/commands/forwarded.hpp"

namespace fourscore {
namespace {

Command predict_command() {
  return {
      "predict", "Say what a point would take by the papers' models: here, on another machine, in other years",
      "  fourscore run sizes && fourscore predict --variant pencil --shape LxMxN --ranks 64\n"
      "  fourscore predict --list-machines\n"
      "  fourscore predict --variant pencil --shape LxMxN --ranks 4096 --machine czechowski2012-gpu-2010\n"
      "  fourscore predict --variant pencil,pencil-gpu --shape LxMxN --machine cpu.toml --machine gpu.toml \\\n"
      "      --ranks 1:4096 -o times.svg --csv times.csv\n"
      "  fourscore predict --variant slab --shape LxMxN --ranks 2 --save-machine mine.toml\n"
      "  fourscore predict --variant pencil --shape LxMxN --machine mine.toml --ranks 2 --project trends.toml \\\n"
      "      --years 2026:2036 --beside frontier -o projected.svg\n"
      "Without a file or a published machine the models are fitted to the archive, as `fourscore fit` does it. Times\n"
      "have an interval, and what lies outside of what was measured is marked.\n",
      81, [](CLI::App& app) -> std::function<int()> {
        ForwardedOptions options(app);
        options.one("--variant", "LIST", "pencil, or several with commas: pencil,pencil-gpu");
        options.one("--exchange", "NAME", "of the archive (default: each that was measured)");
        add_question(options);
        options.one("--ranks", "LIST", "64, 64,128 or 1:4096, which doubles (default with --machine: all of it)");
        options.one("--grid", "AxB", "process grid (default: the variant's own choice)");
        options.repeated("--machine", "M", "a file of parameters, a published machine, or how the hash of one begins");
        options.flag("--list-machines", "published machines, flops for each byte, and what each cannot predict");
        options.one("--save-machine", "FILE", "write the fitted parameters as a file for --machine");
        options.one("--project", "TRENDS", "a file of trends, or published ones: czechowski2012");
        options.one("--years", "FIRST:LAST", "of the projection: 2026:2036");
        options.one("--beside", "M", "a real machine beside the last year that is projected");
        options.one("-o,--output", "FILE", "draw times over ranks, or the projection: .svg, .png or .pdf");
        options.one("--csv", "FILE", "write a line for each prediction");
        auto archive = std::make_shared<std::string>();
        add_archive_option(app, *archive);
        return [&app, archive]() -> int {
          forward_unless(app, *archive, {"--machine", "--project", "--list-machines"});
        };
      }};
}

FOURSCORE_REGISTER_COMMAND(predict_command);

}  // namespace
}  // namespace fourscore
