#include "simulation/platform.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <sstream>
#include <vector>

#include "core/did_you_mean.hpp"
#include "core/errors.hpp"
#include "core/installed.hpp"
#include "core/regular_file.hpp"

namespace fourscore {
namespace {

namespace fs = std::filesystem;

/// A table of the file while it is read: every mistake is reported with its line.
class Section {
 public:
  Section(const fs::path& file, const toml::table& table, std::string name, std::vector<std::string> known)
      : file_(file), table_(table), name_(std::move(name)), known_(std::move(known)) {
    for (const auto& [key, node] : table_) check_key(std::string(key.str()), key.source().begin.line);
  }

  [[noreturn]] void fail(std::uint32_t line, const std::string& message) const {
    throw InputError(fmt::format("{}:{}: {}", file_.string(), line, message));
  }
  [[noreturn]] void fail(const std::string& key, const std::string& message) const {
    const toml::node* node = table_.get(key);
    fail(node == nullptr ? table_.source().begin.line : node->source().begin.line,
         fmt::format("{} of {}: {}", key, name_, message));
  }
  [[nodiscard]] bool has(const std::string& key) const { return table_.contains(key); }
  [[nodiscard]] std::string text(const std::string& key) const {
    const auto value = required(key).value_exact<std::string>();
    if (!value || value->empty()) fail(key, "expected a text that is not empty");
    return *value;
  }
  [[nodiscard]] double number(const std::string& key, bool may_be_zero) const {
    const auto value = required(key).value<double>();
    if (!value || !std::isfinite(*value) || *value < 0 || (*value == 0 && !may_be_zero))
      fail(key, may_be_zero ? "expected a number of at least 0" : "expected a number above 0");
    return *value;
  }
  [[nodiscard]] double number_or(const std::string& key, double absent) const {
    return has(key) ? number(key, true) : absent;
  }
  [[nodiscard]] int whole(const std::string& key) const { return whole(key, required(key)); }
  [[nodiscard]] std::vector<int> wholes(const std::string& key) const {
    const toml::array* list = required(key).as_array();
    if (list == nullptr || list->empty()) fail(key, "expected a list of whole numbers");
    std::vector<int> values;
    for (const auto& entry : *list) values.push_back(whole(key, entry));
    return values;
  }
  [[nodiscard]] const toml::table& table(const std::string& key) const {
    const toml::table* found = required(key).as_table();
    if (found == nullptr) fail(key, "expected a table");
    return *found;
  }

 private:
  [[nodiscard]] const toml::node& required(const std::string& key) const {
    const toml::node* node = table_.get(key);
    if (node == nullptr) fail(table_.source().begin.line, fmt::format("{} has no key '{}'", name_, key));
    return *node;
  }
  [[nodiscard]] int whole(const std::string& key, const toml::node& node) const {
    const auto value = node.value_exact<std::int64_t>();
    if (!value || *value < 1 || *value > (1 << 24)) fail(key, "expected whole numbers from 1 to 2^24");
    return static_cast<int>(*value);
  }
  /// link_bandwidth in place of link_bandwidth_bytes_per_s is reported as a quantity without a unit.
  void check_key(const std::string& key, std::uint32_t line) const {
    if (std::ranges::find(known_, key) != known_.end()) return;
    for (const std::string& allowed : known_)
      if (allowed.starts_with(key + "_"))
        fail(line, fmt::format("'{}' of {} has no unit; expected '{}'", key, name_, allowed));
    fail(line, fmt::format("unknown key '{}' in {}{}; allowed: {}", key, name_, did_you_mean(key, known_),
                           fmt::join(known_, ", ")));
  }

  const fs::path& file_;
  const toml::table& table_;
  std::string name_;
  std::vector<std::string> known_;
};

void read_shape(const Section& network, Platform& platform) {
  NetworkShape& shape = platform.network;
  shape.topology = network.text("topology");
  if (const auto& names = topology_names(); std::ranges::find(names, shape.topology) == names.end()) {
    network.fail("topology", fmt::format("'{}'{}; expected {}", shape.topology, did_you_mean(shape.topology, names),
                                         fmt::join(names, ", ")));
  }
  const std::string sharing = network.has("sharing") ? network.text("sharing") : "each direction";
  if (sharing != "each direction" && sharing != "both directions")
    network.fail("sharing", fmt::format("'{}'; expected \"each direction\" or \"both directions\"", sharing));
  shape.shared_by_directions = sharing == "both directions";
  const std::string routing = network.has("routing") ? network.text("routing") : "cut-through";
  if (routing != "cut-through" && routing != "store-and-forward")
    network.fail("routing", fmt::format("'{}'; expected \"cut-through\" or \"store-and-forward\"", routing));
  platform.stores_and_forwards = routing == "store-and-forward";
  const bool lattice = shape.topology == "torus" || shape.topology == "mesh";
  if (lattice && network.has("hosts_per_router")) shape.hosts_per_router = network.whole("hosts_per_router");
  if (lattice && network.has("dimensions")) {
    if (shape.hosts_per_router > 1) network.fail("hosts_per_router", "expected extents with it, not dimensions");
    if (network.has("extents")) network.fail("dimensions", "extents are given too; expected one of the two");
    platform.dimensions = network.whole("dimensions");
    if (platform.dimensions > 8) network.fail("dimensions", "expected 1 to 8");
  } else if (lattice) {
    shape.extents = network.wholes("extents");
  } else if (shape.topology == "fat-tree") {
    shape.down = network.wholes("down");
    shape.up = network.wholes("up");
    if (shape.down.size() != shape.up.size()) network.fail("up", "expected as many levels as 'down' has");
  } else if (shape.topology == "dragonfly") {
    shape.groups = network.whole("groups");
    shape.routers = network.whole("routers");
    shape.hosts_per_router = network.whole("hosts_per_router");
  }
  const int own = platform.dimensions > 0 ? 0 : hosts_of(shape);
  shape.hosts = network.has("hosts") ? network.whole("hosts") : own;
  if (own != 0 && own != shape.hosts)
    network.fail("hosts", fmt::format("is {}, and its extents give {}", shape.hosts, own));
}

void read_host(const Section& host, Platform& platform) {
  platform.flops_per_s = host.number("speed_flops_per_s", false);
  platform.memory_bandwidth_bytes_per_s = host.number("memory_bandwidth_bytes_per_s", false);
  platform.host_memory_bandwidth_bytes_per_s = host.number_or("host_memory_bandwidth_bytes_per_s", 0);
  if (host.has("cores")) platform.cores = host.whole("cores");
  platform.barrier_s_per_thread = host.number_or("barrier_s_per_thread", 0);
  platform.hand_over_s = host.number_or("hand_over_s", 0);
}

/// The environment comes first.
fs::path platforms_folder() {
  if (const char* folder = std::getenv("FOURSCORE_PLATFORMS")) return folder;
  return installed_place("platforms");
}

nlohmann::json content_of(const toml::table& table) {
  std::ostringstream text;
  text << toml::json_formatter{table};
  return nlohmann::json::parse(text.str());
}

}  // namespace

fs::path find_platform(const std::string& name) {
  std::error_code error;
  if (name.find('/') != std::string::npos || name.ends_with(".toml")) {
    if (fs::is_regular_file(name, error)) return name;
    throw InputError(fmt::format("platform '{}': there is no such file", name));
  }
  const fs::path folder = platforms_folder();
  if (const fs::path file = folder / (name + ".toml"); fs::is_regular_file(file, error)) return file;
  std::vector<std::string> known;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".toml") known.push_back(entry.path().stem().string());
  std::ranges::sort(known);
  throw InputError(fmt::format("unknown platform '{}'{}; there are: {}, or the path of a .toml file", name,
                               did_you_mean(name, known), fmt::join(known, ", ")));
}

Platform read_platform(const fs::path& file) {
  toml::table table;
  try {
    table = toml::parse(read_regular_file(file).text, file.string());
  } catch (const UnreadableFile& error) {
    throw InputError(fmt::format("{}: cannot be read: {}", file.string(), error.what()));
  } catch (const toml::parse_error& error) {
    throw InputError(fmt::format("{}:{}: {}", file.string(), error.source().begin.line, error.description()));
  }
  Platform platform;
  platform.name = file.stem().string();
  const Section top(file, table, "the platform", {"summary", "source", "network", "host", "messages"});
  platform.summary = top.text("summary");
  platform.source = top.text("source");
  const Section network(
      file, top.table("network"), "[network]",
      {"topology", "extents", "dimensions", "hosts", "down", "up", "groups", "routers", "hosts_per_router",
       "link_bandwidth_bytes_per_s", "link_latency_s", "injection_bandwidth_bytes_per_s", "sharing", "routing"});
  read_shape(network, platform);
  platform.link_bandwidth_bytes_per_s = network.number("link_bandwidth_bytes_per_s", false);
  platform.link_latency_s = network.number("link_latency_s", true);
  platform.injection_bandwidth_bytes_per_s = network.number_or("injection_bandwidth_bytes_per_s", 0);
  read_host({file,
             top.table("host"),
             "[host]",
             {"speed_flops_per_s", "memory_bandwidth_bytes_per_s", "host_memory_bandwidth_bytes_per_s", "cores",
              "barrier_s_per_thread", "hand_over_s"}},
            platform);
  if (top.has("messages")) {
    const Section messages(file, top.table("messages"), "[messages]",
                           {"send_overhead_s", "receive_overhead_s", "put_overhead_s", "eager_limit_bytes"});
    platform.send_overhead_s = messages.number_or("send_overhead_s", 0);
    platform.put_overhead_s = messages.number_or("put_overhead_s", platform.send_overhead_s);
    platform.receive_overhead_s = messages.number_or("receive_overhead_s", 0);
    if (messages.has("eager_limit_bytes")) platform.eager_limit_bytes = messages.whole("eager_limit_bytes");
  }
  platform.content = content_of(table);
  return platform;
}

Platform fitted(Platform platform, int hosts) {
  NetworkShape& shape = platform.network;
  if (platform.dimensions > 0) {
    const int wanted = shape.hosts > 0 ? shape.hosts : hosts;
    shape.extents = most_cubic_extents(wanted, platform.dimensions);
    shape.hosts = wanted;
  } else if (shape.hosts == 0) {
    shape.hosts = hosts;
  }
  if (shape.hosts < hosts)
    throw InputError(
        fmt::format("platform '{}' has {} hosts, and {} are asked for", platform.name, shape.hosts, hosts));
  return platform;
}

}  // namespace fourscore
