// fourscore history: what changed where over revisions of the code; the Python package answers. The package starts no
// program and so does not ask git, and Python 3.10 reads no TOML: this command hands it both.

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <sstream>

#include "core/problem.hpp"
#include "jobscripts/base/paths.hpp"
#include "jobscripts/base/process.hpp"
#include "jobscripts/commands/analysis.hpp"
#include "jobscripts/commands/campaigns.hpp"
#include "jobscripts/commands/command.hpp"
#include "jobscripts/gate/acknowledgements.hpp"
#include "results/index.hpp"

namespace fourscore {
namespace {

using nlohmann::json;

constexpr double git_patience_s = 120;

/// Every commit of the repository, parents first. Throws InputError, EnvironmentError.
json revisions_of(const std::string& repository) {
  ProcessSpec spec;
  spec.argv = {"git", "-C", repository, "rev-list", "--topo-order", "--reverse", "--all", "HEAD"};
  spec.time_limit_s = git_patience_s;
  spec.output_limit = 0;
  const ProcessResult result = run_process(spec);
  if (result.start_error != 0)
    throw EnvironmentError(fmt::format("--repo: git cannot be started: {}", result.start_problem()));
  if (result.interrupted) throw Interrupted();
  if (result.timed_out)
    throw EnvironmentError(
        fmt::format("--repo {}: {} took more than {:.0f} s", repository, shown_command(spec.argv), git_patience_s));
  if (!result.succeeded()) {
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

int history(std::vector<std::string> words) {
  std::string repository;
  std::string acknowledged;
  CLI::App app("", "history");
  app.add_option("--repo", repository,
                 "ask this git repository for the order of revisions (default: the order in which they were first "
                 "measured)")
      ->type_name("DIR");
  app.add_option("--acknowledged", acknowledged,
                 "changes that are expected: a TOML file with [[change]] series, first, last, reason")
      ->type_name("FILE");
  SharedCommand shared = parse_shared(app, std::move(words), "");
  const Archive archive = open_archive(shared.value("archive"));
  json context = json::object();
  if (!acknowledged.empty()) context["acknowledgements"] = read_acknowledgements(acknowledged);
  if (!repository.empty()) context.update({{"repository", repository}, {"revisions", revisions_of(repository)}});
  complete_index(archive);  // here: the package takes ten times as long to read a record
  if (!context.empty()) shared.words.insert(shared.words.begin() + 1, "--context=" + handed_on(context));
  run_analysis(shared.words);
}

Command history_command() {
  return {"history", "Say what changed where over revisions of the code, and write a page of all series", "", 77, {},
          history};
}

FOURSCORE_REGISTER_COMMAND(history_command);

}  // namespace
}  // namespace fourscore
