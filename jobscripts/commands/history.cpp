// fourscore history: what changed where over revisions of the code; the Python package answers. The package starts no
// program and so does not ask git, and Python 3.10 reads no TOML: this command hands it both.

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <sstream>

#include "core/problem.hpp"
#include "jobscripts/base/paths.hpp"
#include "jobscripts/base/process.hpp"
#include "jobscripts/commands/analysis.hpp"
#include "jobscripts/commands/campaigns.hpp"
#include "jobscripts/commands/command.hpp"
#include "jobscripts/gate/acknowledgements.hpp"
#include "jobscripts/machines/archive_folder.hpp"
#include "results/index.hpp"

namespace fourscore {
namespace {

using nlohmann::json;

constexpr double git_patience_s = 120;

struct HistoryOptions {
  std::string archive;
  std::string series;
  std::string margin;
  std::string repository;
  std::string acknowledged;
  std::string output = "history.html";
  std::string json_file;
  bool fail_on_slowdown = false;
};

/// Every commit of the repository, parents first. Throws InputError, EnvironmentError.
json revisions_of(const std::string& repository) {
  ProcessSpec spec;
  spec.argv = {"git", "-C", repository, "rev-list", "--topo-order", "--reverse", "--all", "HEAD"};
  spec.time_limit_s = git_patience_s;
  spec.output_limit = 0;
  const ProcessResult result = run_process(spec);
  if (result.start_error != 0)
    throw EnvironmentError(fmt::format("--repo: git cannot be started: {}", std::strerror(result.start_error)));
  if (result.interrupted) throw Interrupted();
  if (result.timed_out)
    throw EnvironmentError(
        fmt::format("--repo {}: {} took more than {:.0f} s", repository, shown_command(spec.argv), git_patience_s));
  if (result.exit_status != 0 || result.signal != 0) {
    const std::string said = result.stderr_tail.substr(0, result.stderr_tail.find('\n'));
    throw InputError(fmt::format("--repo {}: expected a git repository with commits; git says: {}", repository, said));
  }
  json revisions = json::array();
  std::istringstream lines(result.output);
  for (std::string line; std::getline(lines, line);) revisions.push_back(line);
  return revisions;
}

/// A file of memory that the interpreter inherits; the name under which it opens it.
std::string handed_on(const json& content) {
  const int fd = ::memfd_create("fourscore-history", 0);
  if (fd < 0) throw EnvironmentError(fmt::format("no memory for the revisions: {}", std::strerror(errno)));
  const std::string text = content.dump(-1, ' ', false, json::error_handler_t::replace);
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = ::write(fd, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw EnvironmentError(fmt::format("no memory for the revisions: {}", std::strerror(errno)));
    done += static_cast<std::size_t>(written);
  }
  return fmt::format("/dev/fd/{}", fd);
}

int history(const HistoryOptions& options) {
  const Archive archive = open_archive(options.archive);
  json context = json::object();
  if (!options.acknowledged.empty()) context["acknowledgements"] = read_acknowledgements(options.acknowledged);
  if (!options.repository.empty())
    context.update({{"repository", options.repository}, {"revisions", revisions_of(options.repository)}});
  complete_index(archive);  // here: the package takes ten times as long to read a record
  std::vector<std::string> command{"history", "--archive=" + archive_folder(options.archive).string(),
                                   "--output=" + options.output};
  if (!context.empty()) command.push_back("--context=" + handed_on(context));
  if (!options.series.empty()) command.push_back("--series=" + options.series);
  if (!options.margin.empty()) command.push_back("--margin=" + options.margin);
  if (!options.json_file.empty()) command.push_back("--json=" + options.json_file);
  if (options.fail_on_slowdown) command.emplace_back("--fail-on-slowdown");
  run_analysis(command);
}

Command history_command() {
  return {
      "history", "Say what changed where over revisions of the code, and write a page of all series",
      "  fourscore history -o history.html\n"
      "  fourscore history --repo . --acknowledged expected.toml --fail-on-slowdown\n"
      "  fourscore history --series variant=pencil,ranks=4 --json pencil.json\n"
      "A series is a point on one machine. A change names the revisions between which it came, its size with an\n"
      "interval, and p. The exit code is 0, whatever is found; 1 with --fail-on-slowdown, where one stands.\n",
      77, [](CLI::App& app) -> std::function<int()> {
        auto options = std::make_shared<HistoryOptions>();
        app.add_option("--series", options->series,
                       "only series whose keys match these patterns: variant=pencil,shape=LxM*")
            ->type_name("KEY=PATTERN,...");
        app.add_option("--margin", options->margin, "smaller changes do not count (default: 2)")->type_name("PERCENT");
        app.add_option("--repo", options->repository,
                       "ask this git repository for the order of revisions\n"
                       "(default: the order in which they were first measured)")
            ->type_name("DIR");
        app.add_option("--acknowledged", options->acknowledged,
                       "changes that are expected: a TOML file with [[change]] series, first, last, reason")
            ->type_name("FILE");
        app.add_option("-o,--output", options->output, "the page")->capture_default_str()->type_name("FILE");
        app.add_option("--json", options->json_file, "write everything as JSON too; - is standard output")
            ->type_name("FILE");
        app.add_flag("--fail-on-slowdown", options->fail_on_slowdown,
                     "exit code 1 where a slowdown stands that nobody acknowledged");
        add_archive_option(app, options->archive);
        return [options] { return history(*options); };
      }};
}

FOURSCORE_REGISTER_COMMAND(history_command);

}  // namespace
}  // namespace fourscore
