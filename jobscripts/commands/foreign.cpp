// fourscore foreign check: what a program of somebody else's lacks to be measured by `fourscore run`.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stdlib.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <system_error>

#include "core/text.hpp"
#include "jobscripts/base/output.hpp"
#include "jobscripts/base/paths.hpp"
#include "jobscripts/base/process.hpp"
#include "jobscripts/campaigns/campaign_lock.hpp"
#include "jobscripts/campaigns/runner.hpp"
#include "jobscripts/commands/campaign_options.hpp"
#include "jobscripts/commands/command.hpp"
#include "jobscripts/programs/bench.hpp"
#include "jobscripts/programs/harness_program.hpp"
#include "jobscripts/suites/suite_program.hpp"
#include "results/printable.hpp"

namespace fourscore {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr Index small_extent = 8;
constexpr int few_repetitions = 3;
constexpr double time_limit_s = 60;

struct ForeignOptions {
  std::vector<std::string> command;
  std::string shape;
  int ranks = 1;
  PlaceRequest place;
  bool json = false;
};

/// An archive that goes when the check ends.
class ScratchArchive {
 public:
  ScratchArchive() : folder_(made()), archive_(folder_) {}
  ~ScratchArchive() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  ScratchArchive(const ScratchArchive&) = delete;
  ScratchArchive& operator=(const ScratchArchive&) = delete;
  [[nodiscard]] const Archive& archive() const { return archive_; }

 private:
  static fs::path made() {
    std::error_code error;
    std::string name = (fs::temp_directory_path(error) / "fourscore-foreign-XXXXXX").string();
    if (error || ::mkdtemp(name.data()) == nullptr)
      throw EnvironmentError(fmt::format("cannot make {}: {}", name, std::generic_category().message(errno)));
    return name;
  }

  fs::path folder_;
  Archive archive_;
};

/// What is asked of a program, in order. The first that it does not do ends the check.
class ForeignCheck {
 public:
  ForeignCheck(const ForeignOptions& options, bool quiet) : options_(options), quiet_(quiet) {
    Point& point = suite_.points.emplace_back();
    point.problem.shape =
        options.shape.empty() ? std::vector<Index>(3, small_extent) : parse_shape(options.shape, "--shape");
    point.ranks = options.ranks;
    suite_.tags.emplace_back();
    suite_.name = "foreign-check";
    suite_.file = suite_.name;
    suite_.launches = 1;
    suite_.time_limit_s = time_limit_s;
    suite_.settings.repetitions = few_repetitions;
  }

  json run() {
    const bool prints = options_.command.size() > 1;
    const bool ok = (prints ? learn_command() : learn_variants()) && launch();
    return {{"program", options_.command.front()}, {"ok", ok}, {"steps", steps_}};
  }

 private:
  /// One step: `work` returns what it found, or throws what is missing.
  bool step(const std::string& name, const std::string& expected, const std::function<std::string()>& work) {
    std::string found, missing;
    try {
      found = work();
    } catch (const Interrupted&) {
      throw;
    } catch (const std::exception& error) {
      missing = error.what();
    }
    steps_.push_back({{"step", name}, {"ok", missing.empty()}, {"found", missing.empty() ? found : missing}});
    if (!missing.empty()) steps_.back()["expected"] = expected;
    if (quiet_) return missing.empty();
    fmt::print("{:<8} {}: {}\n", missing.empty() ? "ok" : "missing", name,
               printable(missing.empty() ? found : missing));
    if (!missing.empty()) fmt::print("         expected: {}\n", expected);
    return missing.empty();
  }

  /// A program that prints its times.
  bool learn_command() {
    return step("the command", "a program, and words in braces for what it is told: {shape}, {ranks}, {repetitions}",
                [&] {
                  const auto command = found_command(options_.command, fs::current_path());
                  Point& point = suite_.points.front();
                  point.variant = "foreign";
                  suite_.programs[point.variant] = command;
                  return shown_command(filled_in(command, point, suite_.settings));
                });
  }

  bool learn_variants() {
    bool goes_on = step("the program", "a file that can be run", [&] {
      program_ = find_bench(options_.command.front());
      return program_.string();
    });
    goes_on =
        goes_on &&
        step(
            "--list",
            R"({"variants": [{"name": "mine", "summary": "...", "available": true, "reason": ""}], "exchanges": [], "local_ffts": []})",
            [&] { return fmt::format("{}", fmt::join(variants(), ", ")); });
    goes_on = goes_on && step("--identity", R"({"identity": {"code": {"binary_sha256": "..."}}})", [&] {
                const json identity = Bench(program_).identity();
                return is_of_harness(identity) ? "of fourscore's harness: nothing more is needed"
                                               : "code_hash " + identity.value("code_hash", "");
              });
    return goes_on &&
           step("--check-points", R"(for each line of its input, a point, one line {"supported": true, "reason": ""})",
                [&] { return choose_point(); });
  }

  std::vector<std::string> variants() const {
    std::vector<std::string> names;
    const json list = Bench(program_).list();
    for (const json& one : list.at("variants")) names.push_back(one.at("name").get<std::string>());
    if (names.empty()) throw InputError("it names no variant");
    return names;
  }

  /// The first variant that solves the problem.
  std::string choose_point() {
    std::vector<Point> points;
    for (const std::string& name : variants()) {
      points.push_back(suite_.points.front());
      points.back().variant = name;
    }
    std::string reasons;
    for (const PointCheck& answer : Bench(program_).check(points)) {
      if (answer.reason.empty()) {
        suite_.points.front() = answer.point;
        return one_line(answer.point);
      }
      reasons += (reasons.empty() ? "" : "; ") + answer.point.variant + ": " + answer.reason;
    }
    throw InputError(fmt::format("it solves nothing of {} on {}: {}; other ones are asked for with --shape and --ranks",
                                 shape_text(points.front().problem.shape), plural(options_.ranks, "rank"), reasons));
  }

  bool launch() {
    return step("a launch", "a record that can be used (docs/your-library.md), within a minute", [&] {
      const Place place = find_place(options_.place);
      require_available(place);
      const ScratchArchive scratch;
      Campaign campaign = plan_campaign(suite_, program_.string(), scratch.archive(), {});
      if (!campaign.points.front().skip_reason.empty()) throw InputError(campaign.points.front().skip_reason);
      const CampaignFolders folders(scratch.archive(), campaign.id);
      (void)begin_campaign(campaign, scratch.archive(), place.launcher->card().name);
      RunSettings settings;
      settings.launcher = place.launcher;
      settings.launcher_options = place.options;
      settings.quiet = true;
      CampaignRunner runner(campaign, scratch.archive(), settings);
      if (!runner.run()) throw Interrupted();
      if (const auto failed = runner.not_started(); !failed.empty()) throw InputError(failed.back());
      return told(read_record(scratch.archive().record_file(campaign.id, campaign.points.front().id, 0)));
    });
  }

  static std::string told(const json& record) {
    const json verdict = record.at("verdict");
    if (verdict.value("status", "") != "ok")
      throw InputError(verdict.value("status", "") + ": " + verdict.value("reason", "") +
                       (verdict.value("stderr_tail", "").empty() ? "" : "\n" + verdict.value("stderr_tail", "")));
    return fmt::format("{}, verified by {}, flagged {}", plural(record.at("samples").at("time_s").size(), "sample"),
                       record.value("verified_by", "nobody"),
                       fmt::join(record.value("flags", std::vector<std::string>{}), ", "));
  }

  const ForeignOptions& options_;
  bool quiet_;
  Suite suite_;
  fs::path program_;
  json steps_ = json::array();
};

int check(const ForeignOptions& options) {
  const InterruptGuard guard;
  const json result = ForeignCheck(options, options.json).run();
  if (options.json) print_json(result);
  return result.at("ok") == true ? exit_done : exit_says_no;
}

Command foreign_command() {
  return {
      "foreign", "Programs of others: what one lacks to be measured",
      "  fourscore foreign check ./my_bench                                # one that answers as fft_bench does\n"
      "  fourscore foreign check ./my_bench '{shape}' '{ranks}'            # one that prints its times\n"
      "  fourscore foreign check --ranks 4 -- ./my_bench --n '{extent1}'\n"
      "Goes through what `fourscore run` will ask, and measures one small problem. Exit code 1 at the first step "
      "that\nfails, with what is expected there (docs/your-library.md).\n",
      50, with_options<ForeignOptions>(check, [](CLI::App& app, ForeignOptions& options) {
        app.require_subcommand(1);
        CLI::App* check_app = app.add_subcommand("check", "Try a program out, step by step");
        check_app->add_option("command", options.command, "the program; with further words, one that prints its times")
            ->required()
            ->type_name("PROGRAM");
        check_app
            ->add_option("--shape", options.shape, "of the problem that it is tried out with (default: a small cube)")
            ->type_name("SHAPE");
        check_app->add_option("--ranks", options.ranks, "to launch")->check(CLI::Range(1, 1 << 20));
        check_app->add_option("--launcher", options.place.launcher, "how to start MPI programs (default: local)")
            ->type_name("NAME");
        add_mpirun_option(*check_app, options.place.mpirun);
        add_json_option(*check_app, options.json);
      })};
}

FOURSCORE_REGISTER_COMMAND(foreign_command);

}  // namespace
}  // namespace fourscore
