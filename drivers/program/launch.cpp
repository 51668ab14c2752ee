#include "program/launch.hpp"

#include <chrono>
#include <cstdio>
#include <iostream>

#include "core/record.hpp"
#include "core/refusal.hpp"
#include "harness/nodes.hpp"
#include "program/launch_place.hpp"
#include "program/queries.hpp"
#include "results/record_file.hpp"

namespace fourscore::bench {
namespace {

using nlohmann::json;

json answer_to(const std::string& line, const Answers& answers) {
  json answer{{"supported", false}, {"error", true}};
  try {
    answer = answers.about(point_from_json(json::parse(line)));
    answer["error"] = false;
  } catch (const json::parse_error& error) {
    answer["reason"] = std::string("not JSON: ") + error.what();
  } catch (const PointError& error) {
    answer.update({{"reason", error.what()}, {"key", error.key}});
  } catch (const InputError& error) {
    answer["reason"] = error.what();
  }
  return answer;
}

}  // namespace

double seconds_since(SteadyTime begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void check_points(std::istream& in, std::ostream& out, const Answers& answers) {
  for (std::string line; std::getline(in, line);)
    if (!line.empty())
      out << answer_to(line, answers).dump(-1, ' ', false, json::error_handler_t::replace) << "\n" << std::flush;
}

int answer(Mode mode, const Answers& answers) {
  if (mode == Mode::check_points)
    check_points(std::cin, std::cout, answers);
  else
    print_once(stdout, (mode == Mode::list ? answers.list() : describe_identity()).dump(2) + "\n");
  return 0;
}

void Launch::place(Point& point) const {
  agreement.run([&] {
    (void)mpi::ranks_per_pretended_node();  // a value that cannot be used is reported before anything else
    set_launch_place(comm, options.launch, point);
  });
}

void Launch::check_output(const std::optional<std::filesystem::path>& beside) const {
  if (!options.record) return;
  agreement.run_on_root([&] {
    try {
      check_record_path(*options.record);
      if (beside) check_record_path(*beside);
    } catch (const RecordFileError& error) {
      throw InputError(std::string("--record: ") + error.what());
    }
  });
}

json Launch::campaign() const {
  json read;
  agreement.run_on_root([&] { read = read_campaign(options.campaign_file, "--campaign-json"); });
  return read;
}

void Launch::deliver(const json& record, const std::function<void()>& show) const {
  agreement.run_on_root([&] {
    if (options.record) write_record_once(*options.record, record);
    show();
  });
}

int run_launch(int argc, char** argv, const std::string& program, ThreadLevel thread_level,
               const CommonOptions& options, SteadyTime begin, const std::function<int(Launch&)>& measure) {
  die_with_the_launcher();
  const MpiStart start{program, thread_level, options.started, options.launched_at, options.launch};
  return run_under_mpi(argc, argv, start, begin, [&](Agreement& agreement, const StepTimes& steps) {
    Launch launch{agreement, options, steps, begin};
    return measure(launch);
  });
}

}  // namespace fourscore::bench
