#include "hwcounters/resctrl.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <set>

#include "core/did_you_mean.hpp"
#include "hwcounters/event_session.hpp"
#include "hwcounters/sysfs_pmu.hpp"

namespace fourscore {
namespace fs = std::filesystem;
namespace {

const std::vector<std::string> known_events{"mbm_local_bytes", "mbm_total_bytes"};

/// Files that hold one number each, read again and again.
class ResctrlReader : public CounterReader {
 public:
  ResctrlReader() = default;
  ~ResctrlReader() override {
    for (const int descriptor : descriptors_) ::close(descriptor);
  }
  ResctrlReader(const ResctrlReader&) = delete;
  ResctrlReader& operator=(const ResctrlReader&) = delete;

  void add(const fs::path& file) {
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) throw CounterError(fmt::format("{}: {}", file.string(), std::strerror(errno)));
    descriptors_.push_back(descriptor);
  }

  bool read(std::span<Reading> readings) noexcept override {
    for (std::size_t i = 0; i < descriptors_.size(); ++i) {
      char text[64];
      const ssize_t bytes = ::pread(descriptors_[i], text, sizeof(text), 0);
      if (bytes < 0) {
        failure_ = errno;
        return false;
      }
      // "Unavailable", "Error", "Unassigned": the hardware has no number to give just now.
      readings[i] = Reading{};
      readings[i].valid = std::from_chars(text, text + bytes, readings[i].value).ec == std::errc{};
    }
    return true;
  }
  [[nodiscard]] std::string error() const override {
    return fmt::format("a resctrl counter cannot be read: {}", std::strerror(failure_));
  }

 private:
  std::vector<int> descriptors_;
  int failure_ = 0;
};

std::string rest_of_line(const fs::path& file, const std::string& start) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);)
    if (line.starts_with(start)) return line.substr(start.size());
  return {};
}

class Resctrl : public CounterBackend {
 public:
  explicit Resctrl(ResctrlPlaces places = {}) : places_(std::move(places)) {}

  [[nodiscard]] std::string name() const override { return "resctrl"; }
  [[nodiscard]] std::string summary() const override {
    return "resctrl: bytes between the last-level caches of a socket and memory";
  }
  [[nodiscard]] std::string default_group() const override { return "MEM"; }

  [[nodiscard]] std::string unavailable() const override {
    const fs::path mount = places_.sys / "fs/resctrl";
    std::error_code error;
    if (!fs::is_directory(mount, error))
      return "the kernel has no resctrl: the processor, the virtual machine or the kernel's configuration lacks it";
    if (!fs::is_directory(mount / "info", error))
      return "resctrl is not mounted: mount -t resctrl resctrl /sys/fs/resctrl";
    if (!fs::is_directory(mount / "info/L3_MON", error) || !fs::is_directory(mount / "mon_data", error))
      return "the processor does not monitor memory bandwidth (no info/L3_MON in /sys/fs/resctrl)";
    return {};
  }

  [[nodiscard]] std::unique_ptr<CounterSession> open(const std::vector<EventSpec>& events,
                                                     const CounterRequest& request) override {
    (void)request;
    for (const EventSpec& event : events)
      if (std::find(known_events.begin(), known_events.end(), event.code) == known_events.end()) {
        throw CounterRequestError(fmt::format("resctrl event '{}' is unknown{}; there is: {}", event.code,
                                              did_you_mean(event.code, known_events), fmt::join(known_events, ", ")));
      }
    if (const std::string reason = unavailable(); !reason.empty()) throw CounterError(reason);
    const fs::path data = monitoring_group() / "mon_data";
    auto reader = std::make_unique<ResctrlReader>();
    std::vector<CounterSource> sources;
    for (const int domain : own_domains())
      for (std::size_t i = 0; i < events.size(); ++i) {
        const fs::path file = data / fmt::format("mon_L3_{:02}", domain) / events[i].code;
        if (!fs::exists(file))
          throw CounterError(fmt::format("{} is not there: the processor or the mount does not count {}", file.string(),
                                         events[i].code));
        reader->add(file);
        sources.push_back({i, 1.0, 64, false});
      }
    return std::make_unique<EventSession>(CounterScope::socket, events.size(), std::move(sources), std::move(reader));
  }

 private:
  /// The group that this process is monitored in; the whole mount where the kernel does not tell.
  [[nodiscard]] fs::path monitoring_group() const {
    const fs::path groups = places_.proc / "self/cpu_resctrl_groups";
    fs::path folder = places_.sys / "fs/resctrl";
    std::string control = rest_of_line(groups, "res:");
    if (control.starts_with('/')) control.erase(0, 1);
    if (!control.empty()) folder /= control;
    const std::string monitor = rest_of_line(groups, "mon:");
    if (!monitor.empty()) folder = folder / "mon_groups" / monitor;
    return folder;
  }

  /// Numbers of the last-level caches of the socket that we are on.
  [[nodiscard]] std::set<int> own_domains() const {
    const SysfsPmus pmus(places_.sys);
    const int here = places_.cpu ? places_.cpu() : std::max(0, ::sched_getcpu());
    const int socket = pmus.socket_of(here);
    std::set<int> domains;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(places_.sys / "devices/system/cpu", error)) {
      const std::string name = entry.path().filename().string();
      int cpu = 0;
      if (!name.starts_with("cpu") ||
          std::from_chars(name.data() + 3, name.data() + name.size(), cpu).ec != std::errc{} ||
          pmus.socket_of(cpu) != socket)
        continue;
      std::ifstream file(entry.path() / "cache/index3/id");
      if (int id = 0; file >> id) domains.insert(id);
    }
    if (domains.empty())
      throw CounterError(fmt::format("the last-level cache of processor {} has no number in {}", here,
                                     (places_.sys / "devices/system/cpu").string()));
    return domains;
  }

  ResctrlPlaces places_;
};

FOURSCORE_REGISTER_COUNTER(Resctrl);

}  // namespace

std::unique_ptr<CounterBackend> make_resctrl_backend(ResctrlPlaces places) {
  return std::make_unique<Resctrl>(std::move(places));
}

}  // namespace fourscore
