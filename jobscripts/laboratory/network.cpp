#include "jobscripts/laboratory/network.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <fstream>

#include "core/environment.hpp"
#include "jobscripts/base/paths.hpp"
#include "jobscripts/base/process.hpp"
#include "jobscripts/laboratory/laboratory.hpp"
#include "jobscripts/laboratory/processes.hpp"

namespace fourscore {
namespace fs = std::filesystem;

namespace {

/// An address in a network that nobody outside the laboratory sees.
std::string address_of(int number) { return fmt::format("10.80.0.{}", number); }
constexpr const char* address_of_front = "10.80.255.254";
constexpr int prefix_bits = 16;

/// Finds a program in PATH, or where Debian keeps what only root needs. Empty when it is not there.
fs::path find_tool(std::string_view name) { return find_program(name, {"/usr/sbin", "/sbin"}); }

/// Runs the lines by ip or tc, in the network namespace that this process is in.
void run_lines(const std::string& program, const std::string& lines) {
  ProcessSpec spec;
  spec.argv = {find_tool(program).string(), "-batch", "-"};
  spec.input = lines;
  const ProcessResult result = run_process(spec);
  if (!result.succeeded())
    throw EnvironmentError(fmt::format("{} cannot make the links of the laboratory: {}", program,
                                       result.start_error != 0 ? result.start_problem() : result.stderr_tail));
}

Descriptor network_of(const std::string& process) {
  const std::string file = fmt::format("/proc/{}/ns/net", process);
  Descriptor network(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  require_system(network.get() >= 0, file);
  return network;
}

/// This process is in another network namespace while it exists.
class InNetworkOf {
 public:
  explicit InNetworkOf(pid_t process) : own_(network_of("self")) {
    require_system(::setns(network_of(std::to_string(process)).get(), CLONE_NEWNET) == 0, "the network of a host");
  }
  ~InNetworkOf() { (void)!::setns(own_.get(), CLONE_NEWNET); }
  InNetworkOf(const InNetworkOf&) = delete;
  InNetworkOf& operator=(const InNetworkOf&) = delete;

 private:
  Descriptor own_;
};

/// Its neighbours' questions would be counted on the links. A kernel without IPv6 has no such file.
void without_ipv6() {
  for (const char* which : {"all", "default"})
    std::ofstream(fmt::format("/proc/sys/net/ipv6/conf/{}/disable_ipv6", which)) << 1;
}

std::string end_at_the_bridge(std::size_t number) { return fmt::format("h{}", number); }

/// What leaves by a link waits there.
std::string limit_line(const std::string& link, const TokenBucket& bucket) {
  return fmt::format("qdisc add dev {} root tbf rate {}bit burst {} limit {}\n", link, bucket.rate_bits_per_s,
                     bucket.burst_bytes, bucket.queue_bytes);
}

}  // namespace

std::string links_unavailable() {
  for (const char* program : {"ip", "tc"})
    if (find_tool(program).empty())
      return fmt::format(
          "no program '{}' in PATH, /usr/sbin or /sbin; it is of iproute2 (Debian: apt install iproute2)", program);
  return {};
}

void join_by_links(const std::vector<pid_t>& hosts, const std::optional<TokenBucket>& bucket) {
  without_ipv6();
  std::string links = fmt::format(
      "link set dev lo up\nlink add name {0} type bridge\naddress add {1}/{2} dev {0}\nlink set dev {0} up\n",
      interface_name, address_of_front, prefix_bits);
  std::string limits;
  for (std::size_t number = 1; number <= hosts.size(); ++number) {
    const std::string end = end_at_the_bridge(number);
    links += fmt::format("link add name {} type veth peer name {} netns {}\n", end, interface_name, hosts[number - 1]);
    links += fmt::format("link set dev {} master {} up\n", end, interface_name);
    if (bucket) limits += limit_line(end, *bucket);
  }
  run_lines("ip", links);
  if (bucket) run_lines("tc", limits);
  for (std::size_t number = 1; number <= hosts.size(); ++number) {
    const InNetworkOf host(hosts[number - 1]);
    without_ipv6();
    run_lines("ip", fmt::format("link set dev lo up\naddress add {1}/{2} dev {0}\nlink set dev {0} up\n",
                                interface_name, address_of(static_cast<int>(number)), prefix_bits));
    if (bucket) run_lines("tc", limit_line(interface_name, *bucket));
  }
}

std::string addresses_of_hosts(int hosts) {
  std::string lines = fmt::format("127.0.0.1 localhost\n{} {}\n", address_of_front, front_name);
  for (int number = 1; number <= hosts; ++number)
    lines += fmt::format("{} {}\n", address_of(number), laboratory_host(number));
  return lines;
}

}  // namespace fourscore
