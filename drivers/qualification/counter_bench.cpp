// Counts kernels of known traffic with one counter backend and prints what came out as JSON. `fourscore counters
// qualify` starts it, under whatever the backend needs to be under.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <string>

#include "core/standard_files.hpp"
#include "core/wrapped_help.hpp"
#include "hwcounters/cache_geometry.hpp"
#include "hwcounters/counter.hpp"
#include "qualification/qualify.hpp"

namespace fourscore {
namespace {

int run(int argc, char** argv) {
  CLI::App app("Counts kernels of known memory traffic (read, write, copy, streaming write) and compares.",
               "counter_bench");
  app.formatter(std::make_shared<WrappedHelp>());
  CounterRequest request;
  std::string cache;
  std::size_t bytes = 0;
  app.add_option("--counters", request.backend, "counter backend (`fourscore list counters`)")->required();
  app.add_option("--counter-group", request.group, "event group (default: the backend's)");
  app.add_option("--counter-groups", request.groups, "folder of event groups (default: this installation's)")
      ->type_name("DIR");
  app.add_option("--counter-cache", cache, "simulated last-level cache: SIZE[,WAYS[,LINE]], as 1MiB,16,64");
  app.add_option("--bytes", bytes, "size of an array (default: 16 times the last-level cache; at least 4 times)");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    fmt::print(stderr, "counter_bench: {}\n", error.what());
    return 2;
  }
  CounterBackend& backend = counter_backend(request.backend);
  if (!cache.empty()) {
    request.cache = parse_cache_geometry(cache);
    if (!backend.simulates())
      throw CounterRequestError(
          fmt::format("backend {} simulates no cache, so it takes no counter cache", request.backend));
  }
  fmt::print("{}\n", qualify(backend, request, bytes).dump());
  return 0;
}

}  // namespace
}  // namespace fourscore

int main(int argc, char** argv) {
  fourscore::open_standard_files();
  try {
    return fourscore::run(argc, argv);
  } catch (const fourscore::CounterRequestError& error) {
    fmt::print(stderr, "counter_bench: {}\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "counter_bench: {}\n", error.what());
    return 3;
  }
}
