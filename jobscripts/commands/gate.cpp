// fourscore gate: exact numbers held to a baseline, and how often the gate errs on this machine.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/phase.hpp"
#include "core/sha256.hpp"
#include "jobscripts/base/output.hpp"
#include "jobscripts/base/process.hpp"
#include "jobscripts/commands/analysis.hpp"
#include "jobscripts/commands/command.hpp"
#include "jobscripts/commands/comparing.hpp"
#include "jobscripts/programs/bench.hpp"
#include "results/archive.hpp"
#include "results/record_file.hpp"

namespace fourscore {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct CertifyOptions : CampaignOptions {
  int runs = 30;
  int pairs = 0;
  std::vector<double> percent{2, 5, 10};
  std::string phase = "fft";
  bool quiet = false;
};

/// The name of an A/A run, or of one whose candidate is slower by so many percent.
std::string run_name(const std::string& name, double percent, int run) {
  return fmt::format("{}-{:g}-percent-{:03}", name, percent, run);
}

/// What the analysis reads: which comparisons belong to it, and what was done to their candidates.
fs::path write_certification(const Archive& archive, const std::string& name, const CertifyOptions& options,
                             const std::string& machine_hash, const json& comparisons) {
  const fs::path folder = archive.root() / "certifications";
  make_folder(folder);
  const fs::path file = folder / (name + ".json");
  replace_unfinished_record(file, {{"schema", "fourscore.certification"},
                                   {"schema_version", 1},
                                   {"name", name},
                                   {"phase", options.phase},
                                   {"machine_hash", machine_hash},
                                   {"comparisons", comparisons}});
  return file;
}

void add_certify_options(CLI::App& app, CertifyOptions& options) {
  options.suite = "gate";
  add_measuring_options(app, options);
  app.add_option("--suite", options.suite, "what is measured")->capture_default_str()->type_name("SUITE");
  app.add_option("--runs", options.runs, "comparisons of the same, and as many of each slowdown")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--pairs", options.pairs, "of the screen (default: the suite's launches)")->check(CLI::Range(6, 1000));
  app.add_option("--slower", options.percent, "by how many percent the slowed side is slower")
      ->delimiter(',')
      ->check(CLI::Range(0.1, 1000.0))
      ->capture_default_str()
      ->type_name("PERCENT");
  app.add_option("--phase", options.phase, "in which the slowed side is slower")
      ->check(CLI::IsMember(phase_names))
      ->capture_default_str();
  add_bench_option(app, options.bench, "try it with");
  app.add_flag("--quiet", options.quiet, "no progress");
}

int certify(std::vector<std::string> words) {
  CertifyOptions options;
  CLI::App app("", "gate certify");
  add_certify_options(app, options);
  SharedCommand shared = parse_shared(app, std::move(words), options.place.machine);
  options.archive = shared.value("archive");
  const InterruptGuard guard;
  std::signal(SIGPIPE, SIG_IGN);
  const ComparedBuild bench{"this build", find_bench(options.bench)};
  const json identity = Bench(bench.bench).identity();
  const std::string machine_hash = identity.value("machine_hash", "");
  const std::string digits = sha256_hex(machine_hash + identity.value("code_hash", "") + options.phase +
                                        std::to_string(options.pairs) + fmt::format("{}", fmt::join(options.only, ",")))
                                 .substr(0, 8);
  const std::string name = options.campaign.name.empty()
                               ? fmt::format("{}-certify-{}", fs::path(options.suite).stem().string(), digits)
                               : options.campaign.name;
  std::vector<double> sizes{0};
  sizes.insert(sizes.end(), options.percent.begin(), options.percent.end());
  const Archive archive(fs::absolute(options.archive));
  json comparisons = json::array();
  fs::path file;
  for (int run = 0; run < options.runs; ++run)
    for (const double percent : sizes) {
      MeasuredRequest request;
      request.campaign = options;
      request.campaign.campaign.name = run_name(name, percent, run);
      request.base = request.candidate = bench;
      request.pairs = options.pairs;
      request.quiet = options.quiet;
      request.slows_down = true;
      if (percent > 0)
        request.candidate_arguments = {"--slow-down", fmt::format("{}={:g}", options.phase, percent / 100)};
      if (options.dry_run) {
        print_if_read([&] { show_comparison_plan(request); });
        fmt::print("{} runs of this, and as many for each of {} slowdowns.\n", options.runs, options.percent.size());
        return exit_done;
      }
      say("run {} of {}, {}\n", run + 1, options.runs,
          percent > 0 ? fmt::format("slower by {:g} % in {}", percent, options.phase) : "the same on both sides");
      if (!measure_comparison(request).finished) {
        say("Interrupted; the same command goes on.\n");
        return exit_interrupted;
      }
      comparisons.push_back({{"name", request.campaign.campaign.name}, {"slower_percent", percent}});
      file = write_certification(archive, name, options, machine_hash, comparisons);
    }
  shared.words.insert(shared.words.begin() + 2, "--certification=" + file.string());
  run_analysis(shared.words);
}

int gate(std::vector<std::string> words) {
  if (!words.empty() && words.front() == "certify") return certify({words.begin() + 1, words.end()});
  tell_default_archive("");
  words.insert(words.begin(), "gate");
  run_analysis(words);
}

Command gate_command() {
  return {"gate", "Hold exact numbers to a baseline; measure how often the gate errs on this machine", "", 78, {},
          gate};
}

FOURSCORE_REGISTER_COMMAND(gate_command);

}  // namespace
}  // namespace fourscore
