#include "hwcounters/powercap.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>

#include "core/did_you_mean.hpp"
#include "core/environment.hpp"
#include "hwcounters/event_session.hpp"

namespace fourscore {
namespace fs = std::filesystem;
namespace {

constexpr const char* kernels_folder = "/sys/class/powercap";
const std::vector<std::string> known_events{"package", "dram"};

int open_file(const char* file) {
  const int descriptor = ::open(file, O_RDONLY | O_CLOEXEC);
  return descriptor < 0 ? -errno : descriptor;
}

/// A number of a file, or -errno.
std::int64_t number_in(const std::function<int(const char*)>& open, const char* file) noexcept {
  const int descriptor = open(file);
  if (descriptor < 0) return descriptor;
  char text[64];
  const ssize_t bytes = ::pread(descriptor, text, sizeof(text), 0);
  const int failure = errno;
  ::close(descriptor);
  if (bytes < 0) return -failure;
  std::int64_t value = 0;
  return std::from_chars(text, text + bytes, value).ec == std::errc{} && value >= 0 ? value : -ENODATA;
}

/// What went wrong with a file of a zone, and what opens it.
std::string explain(const std::string& file, std::int64_t failure) {
  const std::string why = fmt::format("{}: {}", file, std::strerror(static_cast<int>(-failure)));
  if (failure == -EACCES || failure == -EPERM)
    return why + fmt::format(
                     ": since 2020 (CVE-2020-8694) root alone may read it; `sudo chmod a+r {}/intel-rapl:*/energy_uj` "
                     "lets all until the next start",
                     kernels_folder);
  if (failure == -ENOENT || failure == -ENODEV)
    return why + ": the zone is gone; its module was unloaded, or its processor switched off";
  return why;
}

/// Zones are opened anew for each read: an open file of a zone that is gone goes on showing its last number.
class PowercapReader : public CounterReader {
 public:
  explicit PowercapReader(std::function<int(const char*)> open) : open_(std::move(open)) {}

  void add(const fs::path& file, std::uint64_t range_uj) {
    files_.push_back(file.string());
    const double range_j = 1e-6 * static_cast<double>(range_uj);
    longest_s_ = std::min(longest_s_, range_j / most_watts);
  }
  void start(std::size_t pass) override {
    (void)pass;
    read_at_.reset();
  }
  bool read(std::span<Reading> readings) noexcept override {
    const auto now = std::chrono::steady_clock::now();
    since_s_ = read_at_ ? std::chrono::duration<double>(now - *read_at_).count() : 0;
    read_at_ = now;
    if (since_s_ > longest_s_) return false;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      const std::int64_t value = number_in(open_, files_[i].c_str());
      if (value < 0) {
        failed_ = i;
        failure_ = value;
        return false;
      }
      readings[i] = Reading{};
      readings[i].value = static_cast<std::uint64_t>(value);
    }
    return true;
  }
  [[nodiscard]] std::string error() const override {
    if (since_s_ > longest_s_)
      return fmt::format(
          "{:.0f} s passed between two readings of energy_uj: a package of {:g} W starts again at 0 after {:.0f} s, so "
          "nobody could tell how often it did",
          since_s_, most_watts, longest_s_);
    return explain(files_[failed_], failure_);
  }

 private:
  static constexpr double most_watts = 1000;  // more than any package draws

  std::function<int(const char*)> open_;
  std::vector<std::string> files_;
  double longest_s_ = std::numeric_limits<double>::max();
  std::optional<std::chrono::steady_clock::time_point> read_at_;
  double since_s_ = 0;
  std::size_t failed_ = 0;
  std::int64_t failure_ = 0;
};

struct Zone {
  fs::path folder;
  std::string event;
};

class Powercap : public CounterBackend {
 public:
  explicit Powercap(PowercapPlaces places = {}) : places_(std::move(places)) {
    if (!places_.open) places_.open = open_file;
  }

  [[nodiscard]] std::string name() const override { return "powercap"; }
  [[nodiscard]] std::string summary() const override {
    return "powercap: joules of the node's packages and their DRAM, by RAPL";
  }
  [[nodiscard]] std::string default_group() const override { return "ENERGY"; }
  [[nodiscard]] bool emulated() const override { return folder() != kernels_folder; }

  [[nodiscard]] std::string unavailable() const override {
    const std::vector<Zone> all = zones();
    if (all.empty())
      return fmt::format(
          "the kernel shows no package's energy (no intel-rapl:* in {}): the processor has no RAPL, a virtual machine "
          "hides it, or its module is not loaded (modprobe intel_rapl_msr)",
          folder().string());
    const std::string file = (all.front().folder / "energy_uj").string();
    const std::int64_t value = number_in(places_.open, file.c_str());
    return value < 0 ? explain(file, value) : std::string();
  }

  [[nodiscard]] std::unique_ptr<CounterSession> open(const std::vector<EventSpec>& events,
                                                     const CounterRequest& request) override {
    (void)request;
    for (const EventSpec& event : events)
      if (std::find(known_events.begin(), known_events.end(), event.code) == known_events.end()) {
        throw CounterRequestError(fmt::format("powercap event '{}' is unknown{}; there is: {}", event.code,
                                              did_you_mean(event.code, known_events), fmt::join(known_events, ", ")));
      }
    if (const std::string reason = unavailable(); !reason.empty()) throw CounterError(reason);
    auto reader = std::make_unique<PowercapReader>(places_.open);
    std::vector<CounterSource> sources;
    for (const Zone& zone : zones())
      for (std::size_t i = 0; i < events.size(); ++i) {
        if (events[i].code != zone.event) continue;
        const std::uint64_t range_uj = range_of(zone);
        reader->add(zone.folder / "energy_uj", range_uj);
        sources.push_back({.event = i, .timed = false, .most = range_uj});
      }
    return std::make_unique<EventSession>(CounterScope::node, events.size(), std::move(sources), std::move(reader));
  }

 private:
  [[nodiscard]] fs::path folder() const {
    if (!places_.powercap.empty()) return places_.powercap;
    const std::string said = environment("FOURSCORE_POWERCAP");
    return said.empty() ? fs::path(kernels_folder) : fs::path(said);
  }

  /// Packages and DRAM, each once: not their parts (core, uncore), not the whole platform (psys), and not the same
  /// packages by another interface (intel-rapl-mmio).
  [[nodiscard]] std::vector<Zone> zones() const {
    std::vector<Zone> found;
    std::error_code error;
    std::vector<fs::path> folders;
    for (const auto& entry : fs::directory_iterator(folder(), error)) folders.push_back(entry.path());
    std::sort(folders.begin(), folders.end());
    for (const fs::path& zone : folders) {
      if (!zone.filename().string().starts_with("intel-rapl:")) continue;
      std::ifstream file(zone / "name");
      std::string name;
      std::getline(file, name);
      if (name.starts_with("package-")) found.push_back({zone, "package"});
      if (name == "dram") found.push_back({zone, "dram"});
    }
    return found;
  }

  /// The number at which a zone starts again from 0.
  [[nodiscard]] std::uint64_t range_of(const Zone& zone) const {
    const std::string file = (zone.folder / "max_energy_range_uj").string();
    const std::int64_t most = number_in(places_.open, file.c_str());
    if (most <= 0)
      throw CounterError(fmt::format("{} says no range, so nobody could tell when the counter starts again", file));
    return static_cast<std::uint64_t>(most);
  }

  PowercapPlaces places_;
};

FOURSCORE_REGISTER_COUNTER(Powercap);

}  // namespace

std::unique_ptr<CounterBackend> make_powercap_backend(PowercapPlaces places) {
  return std::make_unique<Powercap>(std::move(places));
}

}  // namespace fourscore
