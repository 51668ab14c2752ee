#include "program/counters.hpp"

#include <malloc.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "core/json_value.hpp"
#include "core/regular_file.hpp"
#include "harness/counting.hpp"

extern char** environ;

namespace fourscore::bench {
namespace {

using nlohmann::json;

/// Messages within a node that the kernel copies from process to process are no memory traffic that a simulator sees;
/// the first four, settings of MPI libraries, let the ranks copy them. hwloc would say on every rank that it cannot ask
/// the processor. All but small arrays have pages of their own, so that their place in the simulated cache does not
/// depend on what else was allocated. What the user has set stays. (With no mechanism
/// at all Open MPI has no one-sided communication.)
constexpr std::array<std::pair<const char*, const char*>, 7> settings_of_simulated_runs{
    {{"OMPI_MCA_btl_vader_single_copy_mechanism", "emulated"},
     {"OMPI_MCA_smsc", "^cma,knem,xpmem"},
     {"MPIR_CVAR_CH4_CMA_ENABLE", "0"},
     {"UCX_TLS", "^cma"},
     {"HWLOC_COMPONENTS", "-x86"},
     {"MALLOC_MMAP_THRESHOLD_", "512"},
     {"MALLOC_MMAP_MAX_", "20000"}}};

/// A simulated cache sees addresses. Those of the stack depend on how long arguments and environment are: with the
/// same sum in every run they are the same, and so are the counts.
void pad_environment(const std::vector<std::string>& arguments) {
  constexpr const char* padding = "FOURSCORE_PADDING";
  constexpr std::size_t unit = 64 * 1024;
  ::setenv(padding, "", 1);
  std::size_t bytes = 0;
  const auto add = [&bytes](std::size_t length) { bytes += length + 1 + sizeof(char*); };
  for (const std::string& argument : arguments) add(argument.size());
  for (char** entry = environ; *entry != nullptr; ++entry) add(std::strlen(*entry));
  ::setenv(padding, std::string(unit - bytes % unit, '.').c_str(), 1);
}

[[noreturn]] void become(const std::vector<std::string>& prefix, const CounterBackend& backend,
                         const CounterRequest& request, int argc, char** argv) {
  std::vector<std::string> arguments = prefix;
  std::error_code unreadable;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", unreadable);
  arguments.push_back(backend.countable(unreadable ? argv[0] : self).string());
  // Another build of the program stands in another folder, from which it would not find them.
  ::setenv("FOURSCORE_GROUPS", groups_folder(request).c_str(), 0);
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  for (const auto& [name, value] : settings_of_simulated_runs) ::setenv(name, value, 0);
  pad_environment(arguments);
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  ::execv(pointers.front(), pointers.data());
  throw std::runtime_error("cannot start " + prefix.front() + ": " + std::strerror(errno));
}

CounterBackend& backend_of(const Options& options) { return counter_backend(options.counters->request.backend); }

}  // namespace

void check_counters(const Options& options) {
  if (!options.counters) return;
  try {
    CounterBackend& backend = backend_of(options);
    const CounterRequest& request = options.counters->request;
    const std::string reason = backend.unavailable();
    const bool by_default = request.group.empty() || request.group == backend.default_group();
    if (!reason.empty() && by_default)
      throw CounterError("counters '" + request.backend + "' are not available here: " + reason);
    const Group group = find_group(backend, request);
    (void)backend.simulated_cache(request);
    (void)qualification_json(*options.counters, group.name);
  } catch (const CounterError& error) {
    throw Exit{3, std::string("fft_bench: ") + error.what() + "\n"};
  } catch (const CounterRequestError& error) {
    throw Exit{2, std::string("fft_bench: ") + error.what() + "\n"};
  } catch (const InputError& error) {
    throw Exit{2, std::string("fft_bench: ") + error.what() + "\n"};
  }
}

void become_countable(const Options& options, int argc, char** argv) {
  if (!options.counters) return;
  const CounterBackend& backend = backend_of(options);
  const CounterRequest& request = options.counters->request;
  const std::vector<std::string> prefix = backend.launch_prefix(request);
  if (!prefix.empty()) become(prefix, backend, request, argc, argv);
}

void start_on_an_empty_heap() {
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
  const auto in_holes = [] {
    const struct mallinfo2 heap = ::mallinfo2();
    return heap.fordblks - heap.keepcost;
  };
  const auto keep = [](std::size_t bytes, int times) {
    for (int i = 0; i < times; ++i) {
      void* volatile kept = std::malloc(bytes);
      (void)kept;
    }
  };
  constexpr int in_thread_cache = 8;  // and one more: these are no holes to mallinfo2()
  constexpr std::size_t largest = 496;
  for (std::size_t bytes = largest; bytes >= 24; bytes -= 16) {
    keep(bytes, in_thread_cache);
    for (std::size_t before = in_holes(), after = 0; before > 0; before = after) {
      keep(bytes, 32);
      after = in_holes();
      if (after == before) break;
    }
    keep(bytes, in_thread_cache);
  }
  constexpr std::uintptr_t unit = 64 * 1024;
  constexpr std::size_t chunk = 480, header = 8;
  const auto top = reinterpret_cast<std::uintptr_t>(::sbrk(0)) - ::mallinfo2().keepcost;
  std::size_t left = unit - top % unit;
  for (; left >= chunk + 32; left -= chunk) keep(chunk - header, 1);
  keep(left - header, 1);
#endif
}

void try_counters(MPI_Comm comm, Agreement& agreement, const Options& options) {
  if (!options.counters) return;
  agreement.run([&] {
    try {
      const CountedRuns trial(comm, options.counters->request, options.point.problem.threads);
    } catch (const CounterRequestError& error) {
      throw InputError(error.what());
    }
  });
}

json qualification_json(const CounterOptions& counters, const std::string& group) {
  if (!counters.qualification) return {{"fit", nullptr}};
  const std::string path = counters.qualification->string();
  json content;
  try {
    content = json::parse(read_regular_file(path).text, nullptr, false);
  } catch (const UnreadableFile& error) {
    throw InputError("--qualification: cannot read " + path + ": " + error.what());
  }
  if (value_or(content, "schema", "") != "fourscore.qualification" || !value_or(content, "fit", json()).is_boolean())
    throw InputError("--qualification: " + path + " is no qualification; `fourscore counters qualify` writes them");
  if (value_or(content, "backend", "") != counters.request.backend || value_or(content, "group", "") != group)
    throw InputError("--qualification: " + path + " is of " + value_or(content, "backend", "?") + " " +
                     value_or(content, "group", "?") + ", not of " + counters.request.backend + " " + group);
  return {{"fit", content["fit"]}, {"worst_ratio", content.value("worst_ratio", json(nullptr))}, {"file", path}};
}

}  // namespace fourscore::bench
