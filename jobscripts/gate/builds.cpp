#include "jobscripts/gate/builds.hpp"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>
#include <thread>
#include <utility>

#include "core/environment.hpp"
#include "core/json_value.hpp"
#include "core/path_kind.hpp"
#include "core/problem.hpp"
#include "core/regular_file.hpp"
#include "core/sha256.hpp"
#include "jobscripts/base/output.hpp"
#include "jobscripts/base/paths.hpp"
#include "jobscripts/base/process.hpp"
#include "results/archive.hpp"
#include "results/file_lock.hpp"
#include "results/output_file.hpp"
#include "results/printable.hpp"

namespace fourscore {
namespace fs = std::filesystem;

namespace {

constexpr std::size_t shown_output = 3000;
constexpr const char* built_mark = "built";  ///< a file that says that all went well

fs::path builds_folder() {
  if (const std::string cache = environment("XDG_CACHE_HOME"); !cache.empty())
    return fs::path(cache) / "fourscore" / "builds";
  if (const std::string home = environment("HOME"); !home.empty())
    return fs::path(home) / ".cache" / "fourscore" / "builds";
  throw EnvironmentError("neither XDG_CACHE_HOME nor HOME says where revisions may be built");
}

ProcessResult git(const RevisionRequest& request, std::vector<std::string> arguments) {
  ProcessSpec spec;
  spec.argv = {"git"};
  if (!request.repository.empty()) {
    spec.argv.emplace_back("-C");
    spec.argv.push_back(request.repository.string());
  }
  for (auto& argument : arguments) spec.argv.push_back(std::move(argument));
  return run_process(spec);
}

/// What a program said last: its errors, or where it said none there, the end of its output.
std::string last_words(const ProcessResult& result) {
  std::string said =
      result.output + (result.output.empty() || result.stderr_tail.empty() ? "" : "\n") + result.stderr_tail;
  while (!said.empty() && said.back() == '\n') said.pop_back();
  return said.size() > shown_output ? "..." + said.substr(said.size() - shown_output) : said;
}

void require_step(const std::string& revision, const std::string& step, const ProcessResult& result,
                  const std::string& program) {
  if (result.start_error != 0)
    throw EnvironmentError(fmt::format("{} cannot be started: {}", program, result.start_problem()));
  if (result.interrupted) throw Interrupted();
  if (!result.succeeded())
    throw InputError(fmt::format("revision '{}' does not build: {} failed:\n{}", revision, step, last_words(result)));
}

/// One builder of a commit at a time.
class BuildLock {
 public:
  explicit BuildLock(const fs::path& file) {
    bool said = false;
    while (!(lock_ = taken(file))) {
      const LockHolder holder = FileLock::holder(file);
      if (!std::exchange(said, true))
        say("waiting for process {} on {}, which builds in {}\n", holder.pid, printable(holder.host),
            file.parent_path().string());
      InterruptGuard::check();
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }

 private:
  static std::unique_ptr<FileLock> taken(const fs::path& file) {
    try {
      auto lock = FileLock::attempt(file, FileLock::Kind::exclusive);
      return lock ? std::make_unique<FileLock>(std::move(*lock)) : nullptr;
    } catch (const std::system_error& error) {
      throw EnvironmentError(error.what());
    }
  }

  std::unique_ptr<FileLock> lock_;
};

bool has_release_preset(const fs::path& source) {
  const auto presets = nlohmann::json::parse(text_or_nothing(source / "CMakePresets.json"), nullptr, false);
  if (!presets.is_object()) return false;
  const auto of_configuring = value_or(presets, "configurePresets", nlohmann::json::array());
  return std::any_of(of_configuring.begin(), of_configuring.end(),
                     [](const auto& preset) { return value_or(preset, "name", "") == "release"; });
}

}  // namespace

std::optional<ComparedBuild> installed_build(const std::string& text) {
  std::error_code error;
  const fs::path path = fs::absolute(text, error);
  if (error) return std::nullopt;
  if (is_program(path)) return ComparedBuild{text, path};
  for (const char* place : {"fft_bench", "bin/fft_bench", "libexec/fourscore/fft_bench"})
    if (is_program(path / place)) return ComparedBuild{text, path / place};
  return std::nullopt;
}

ComparedBuild plugin_build(const std::string& file, const fs::path& bench) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) throw InputError(fmt::format("--plugin: {} is no file", file));
  return {file, bench, {fs::absolute(file)}};
}

ComparedBuild program_build(const std::string& file, const fs::path& bench) {
  if (!is_program(file)) throw InputError(fmt::format("--program: {} is no program", file));
  return {file, bench, {}, fs::absolute(file)};
}

std::optional<std::string> find_revision(const std::string& text, const RevisionRequest& request) {
  if (text.empty() || text.front() == '-') return std::nullopt;
  const ProcessResult result = git(request, {"rev-parse", "--verify", "--quiet", text + "^{commit}"});
  if (!result.succeeded()) return std::nullopt;
  return result.output.substr(0, result.output.find('\n'));
}

RevisionBuild find_build(const std::string& text, const std::string& commit, const RevisionRequest& request) {
  std::string settings;
  for (const auto& argument : request.configure) settings += argument + '\n';
  if (!request.artifact.empty()) settings += request.build + '\n' + request.artifact.string() + '\n';
  // Other settings make another build.
  const std::string digits = settings.empty() ? "" : fmt::format("-{}", sha256_hex(settings).substr(0, 8));
  const fs::path folder = builds_folder() / (commit.substr(0, 12) + digits);
  const std::string label = text == commit.substr(0, text.size()) ? text : text + " (" + commit.substr(0, 7) + ")";
  if (!request.artifact.empty()) {
    const fs::path made = folder / "source" / request.artifact;
    ComparedBuild build{label, request.bench};
    build.revision = commit;
    if (request.makes_program)
      build.program = made;
    else
      build.plugins = {made};
    return {build, folder, names_something(folder / built_mark) && names_something(made)};
  }
  const ComparedBuild build{label, folder / "build" / "bin" / "fft_bench"};
  return {build, folder, names_something(folder / built_mark) && is_program(build.bench)};
}

namespace {

/// fourscore's own.
void build_bench(const std::string& text, const fs::path& source, const fs::path& build,
                 const RevisionRequest& request) {
  ProcessSpec configure;
  configure.argv = {"cmake", "-S", source.string(), "-B", build.string()};
  if (has_release_preset(source))
    configure.argv.emplace_back("--preset=release");
  else
    configure.argv.emplace_back("-DCMAKE_BUILD_TYPE=Release");
  configure.argv.insert(configure.argv.end(), request.configure.begin(), request.configure.end());
  require_step(text, "cmake (configure)", run_process(configure), "cmake");
  ProcessSpec compile;
  compile.argv = {"cmake", "--build", build.string(), "--target", "fft_bench", "-j", std::to_string(request.jobs)};
  require_step(text, "cmake --build", run_process(compile), "cmake");
}

/// Anyone's, by a command of their own.
void build_plugin(const std::string& text, const fs::path& source, const RevisionRequest& request) {
  ProcessSpec spec;
  spec.argv = {"sh", "-c", R"(cd "$0" && eval "$1")", source.string(), request.build};
  require_step(text, fmt::format("--build '{}'", request.build), run_process(spec), "sh");
}

}  // namespace

ComparedBuild build_revision(const std::string& text, const std::string& commit, const RevisionRequest& request) {
  const auto [result, folder, is_built] = find_build(text, commit, request);
  const fs::path source = folder / "source";
  const fs::path& made = !result.program.empty()   ? result.program
                         : !result.plugins.empty() ? result.plugins.front()
                                                   : result.bench;
  make_folder(folder);
  const BuildLock lock(folder / "lock");
  if (find_build(text, commit, request).is_built) return result;
  say("building {} in {}\n", result.label, folder.string());
  if (!names_something(source / ".git")) {
    (void)git(request, {"worktree", "prune"});  // forgets one that was removed by hand
    require_step(text, "git worktree add",
                 git(request, {"worktree", "add", "--force", "--detach", source.string(), commit}), "git");
  }
  if (request.artifact.empty())
    build_bench(text, source, folder / "build", request);
  else
    build_plugin(text, source, request);
  if (!names_something(made))
    throw InputError(fmt::format("revision '{}' was built, but has no {}", text, made.string()));
  write_file(folder / built_mark, commit + '\n', Named::by_us);
  return result;
}

}  // namespace fourscore
