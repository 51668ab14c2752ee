// Valgrind's Callgrind with its cache simulation: memory traffic where there is no counter to read. The program runs
// under Valgrind, which simulates caches of one size and shape for each process; what a miss of the last of them loads,
// and what it displaces, is what the process would have moved to and from memory.
//
// A dump at every switch of buckets holds what was counted since the dump before, of all threads, and leaves the
// simulated caches as they are (Valgrind manual, section Callgrind: client requests). Dumps go into memory that has no
// name (memfd_create), so that nothing is left behind however the program ends.

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>

#include "core/environment.hpp"
#include "hwcounters/cache_geometry.hpp"
#include "hwcounters/callgrind_dump.hpp"
#include "hwcounters/counter.hpp"

#ifdef FOURSCORE_CALLGRIND
#include <valgrind/callgrind.h>
#endif

namespace fourscore {
namespace fs = std::filesystem;
namespace {

constexpr const char* descriptor_variable = "FOURSCORE_CALLGRIND_FD";

#ifdef FOURSCORE_CALLGRIND

/// With --cache-sim=yes --simulate-wb=yes, in Callgrind's order.
constexpr std::array<std::string_view, 12> known_events{"Ir",   "Dr",   "Dw",   "I1mr",  "D1mr",  "D1mw",
                                                        "ILmr", "DLmr", "DLmw", "ILdmr", "DLdmr", "DLdmw"};

bool under_valgrind() { return RUNNING_ON_VALGRIND != 0; }
void start_simulation() { CALLGRIND_START_INSTRUMENTATION; }
void stop_simulation() { CALLGRIND_STOP_INSTRUMENTATION; }
void dump(const char* name) { CALLGRIND_DUMP_STATS_AT(name); }

std::string path_of_valgrind() { return find_program("valgrind"); }

#ifdef FOURSCORE_COUNTS_IN_OTHER_BUILD
/// The build of a program that Valgrind can run (cmake/FourscoreSimulator.cmake): in the build folder, or installed; of
/// another project's driver, below the folder of that.
std::optional<fs::path> without_avx512(const fs::path& program) {
  const fs::path above = program.parent_path().parent_path();
  for (const fs::path& folder :
       {above / "simulator/bin", above / "libexec/fourscore/simulator", program.parent_path() / "simulator"})
    if (is_program(folder / program.filename())) return folder / program.filename();
  return std::nullopt;
}

fs::path own_program() {
  std::error_code unreadable;
  return fs::read_symlink("/proc/self/exe", unreadable);
}

/// Why this program cannot count, with what to do; empty where it can. Beside fft_bench, as `fourscore` is, it is asked
/// for that; anywhere else it is the driver of another project.
std::string no_build_without_avx512() {
  const fs::path program = own_program();
  const fs::path bench = program.parent_path() / "fft_bench";
  const bool ours = program.filename() == "fourscore" || ::access(bench.c_str(), X_OK) == 0;
  if (without_avx512(ours ? bench : program)) return {};
  return "this program was built with AVX-512 instructions, which Valgrind does not know, and no build without them "
         "stands beside it: " +
         (ours ? "build the target fourscore_simulator (cmake --build --preset release builds it too; "
                 "-DFOURSCORE_SIMULATOR=ON where it is off), or build the preset portable"
               : "expected " + (program.parent_path() / "simulator" / program.filename()).string() +
                     "; build its project there with a fourscore of the preset portable");
}
#endif

/// Memory for the dumps, which the program takes along through exec. Made once.
int dump_descriptor() {
  static const int descriptor = ::memfd_create("fourscore-callgrind", 0);
  if (descriptor < 0) throw CounterError(std::string("callgrind: memfd_create: ") + std::strerror(errno));
  return descriptor;
}

/// Callgrind's counts of one process, all of its threads.
class CallgrindSession : public CounterSession {
 public:
  CallgrindSession(std::vector<std::string> codes, int descriptor) : codes_(std::move(codes)), descriptor_(descriptor) {
    start_simulation();
  }
  ~CallgrindSession() override { stop_simulation(); }
  CallgrindSession(const CallgrindSession&) = delete;
  CallgrindSession& operator=(const CallgrindSession&) = delete;

  [[nodiscard]] CounterScope scope() const override { return CounterScope::process; }

  void start(std::size_t /*pass*/, std::size_t buckets) override {
    counts_.assign(buckets, std::vector<EventCount>(codes_.size(), 0.0));
    names_.clear();
    for (std::size_t bucket = 0; bucket < buckets; ++bucket) names_.push_back(std::to_string(bucket));
    bucket_ = 0;
    dump("before");
  }

  void switch_to(std::size_t bucket) noexcept override {
    if (bucket == bucket_) return;
    dump(names_[bucket_].c_str());
    bucket_ = bucket;
  }

  void stop() override {
    dump(names_[bucket_].c_str());
    read();
  }

  [[nodiscard]] std::vector<std::vector<EventCount>> counts() const override { return counts_; }

 private:
  void read() {
    std::string text(static_cast<std::size_t>(std::max<off_t>(0, ::lseek(descriptor_, 0, SEEK_END))), '\0');
    std::size_t filled = 0;
    while (filled < text.size()) {
      const ssize_t got = ::pread(descriptor_, text.data() + filled, text.size() - filled, static_cast<off_t>(filled));
      if (got <= 0) throw CounterError(std::string("callgrind's dumps cannot be read: ") + std::strerror(errno));
      filled += static_cast<std::size_t>(got);
    }
    if (::ftruncate(descriptor_, 0) != 0)
      throw CounterError(std::string("callgrind's dumps cannot be emptied: ") + std::strerror(errno));
    std::size_t found = 0;
    for (const CallgrindDump& one : parse_callgrind_dumps(text)) {
      constexpr std::string_view mark = "Client Request: ";
      if (!one.trigger.starts_with(mark)) continue;
      const std::string name = one.trigger.substr(mark.size());
      for (std::size_t bucket = 0; bucket < names_.size(); ++bucket)
        if (names_[bucket] == name) add(bucket, one), ++found;
    }
    if (found == 0) throw CounterError("callgrind wrote no dump: expected Valgrind 3.13 or later");
  }
  void add(std::size_t bucket, const CallgrindDump& one) {
    for (std::size_t event = 0; event < codes_.size(); ++event) {
      const auto total = one.totals.find(codes_[event]);
      EventCount& count = counts_[bucket][event];
      if (total == one.totals.end())
        count.reset();
      else if (count)
        *count += static_cast<double>(total->second);
    }
  }

  std::vector<std::string> codes_;
  int descriptor_;
  std::vector<std::string> names_;  // [bucket]
  std::vector<std::vector<EventCount>> counts_;
  std::size_t bucket_ = 0;
};

#endif

class Callgrind : public CounterBackend {
 public:
  [[nodiscard]] std::string name() const override { return "callgrind"; }
  [[nodiscard]] std::string summary() const override {
    return "Valgrind's cache simulation: memory traffic without a counter to read; times are then those of the "
           "simulation";
  }
  [[nodiscard]] std::string default_group() const override { return "MEM"; }
  [[nodiscard]] bool simulates() const override { return true; }
  [[nodiscard]] CacheGeometry simulated_cache(const CounterRequest& request) const override {
    return fourscore::simulated_cache(request.cache, machine_cache());
  }
  [[nodiscard]] std::map<std::string, double> constants(const CounterRequest& request) const override {
    return {{"line", static_cast<double>(simulated_line_bytes(request.cache, machine_cache()))}};
  }

#ifdef FOURSCORE_CALLGRIND
  [[nodiscard]] std::string unavailable() const override {
#if defined(FOURSCORE_SANITIZED)
    return "this program was built with a sanitizer, and such programs do not run under Valgrind";
#elif defined(FOURSCORE_COUNTS_IN_OTHER_BUILD)
    if (std::string reason = no_build_without_avx512(); !reason.empty()) return reason;
#endif
    if (under_valgrind() || !path_of_valgrind().empty()) return {};
    return "no valgrind in PATH (Debian: apt install valgrind)";
  }

  [[nodiscard]] std::vector<std::string> launch_prefix(const CounterRequest& request) const override {
    if (under_valgrind()) return {};
    const CacheGeometry cache = simulated_cache(request);
    const std::string descriptor = std::to_string(dump_descriptor());
    ::setenv(descriptor_variable, descriptor.c_str(), 1);
    const auto shape = [](const CacheGeometry& of) {
      return std::to_string(of.size_bytes) + "," + std::to_string(of.ways) + "," + std::to_string(of.line_bytes);
    };
    // The first level has the usual size, so that with a chosen last level the counts are the same on every machine.
    const CacheGeometry first_level{32 * 1024, 8, 64};
    // Lines of source code are nobody's question here, and make dumps large. Valgrind's own messages would only say
    // which caches it found and did not take.
    std::vector<std::string> command{path_of_valgrind(), "-q", "--log-file=/dev/null", "--vgdb=no", "--tool=callgrind"};
    for (const char* option : {"--cache-sim=yes", "--simulate-wb=yes", "--instr-atstart=no", "--collect-atstart=yes",
                               "--combine-dumps=yes", "--dump-line=no"})
      command.emplace_back(option);
    command.push_back("--callgrind-out-file=/proc/self/fd/" + descriptor);
    command.push_back("--I1=" + shape(first_level));
    command.push_back("--D1=" + shape(first_level));
    command.push_back("--LL=" + shape(cache));
    return command;
  }

  [[nodiscard]] fs::path countable(const fs::path& program) const override {
#ifdef FOURSCORE_COUNTS_IN_OTHER_BUILD
    if (const auto other = without_avx512(program)) return *other;
#endif
    return program;
  }

  [[nodiscard]] std::unique_ptr<CounterSession> open(const std::vector<EventSpec>& events,
                                                     const CounterRequest& /*request*/) override {
    std::vector<std::string> codes;
    for (const EventSpec& event : events) {
      bool known = false;
      std::string names;
      for (const std::string_view name : known_events) {
        known = known || name == event.code;
        names += (names.empty() ? "" : ", ") + std::string(name);
      }
      if (!known)
        throw CounterRequestError("callgrind counts no event '" + event.code + "' (of " + event.name +
                                  "); there are: " + names);
      codes.push_back(event.code);
    }
    const char* descriptor = std::getenv(descriptor_variable);
    if (!under_valgrind() || descriptor == nullptr)
      throw CounterError("callgrind counts only in a program that was started under it as fourscore does");
    return std::make_unique<CallgrindSession>(std::move(codes), std::atoi(descriptor));
  }
#else
  [[nodiscard]] std::string unavailable() const override {
    return "this program was built without valgrind/callgrind.h (Debian: apt install valgrind, then configure anew)";
  }
  [[nodiscard]] std::unique_ptr<CounterSession> open(const std::vector<EventSpec>&, const CounterRequest&) override {
    throw CounterError(unavailable());
  }
#endif
};

FOURSCORE_REGISTER_COUNTER(Callgrind);

}  // namespace
}  // namespace fourscore
