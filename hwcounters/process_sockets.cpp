#include "hwcounters/process_sockets.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <string>

namespace fourscore {
namespace {

/// "0-3,8" as 0 1 2 3 8; empty where the file says nothing.
std::vector<int> cpu_list(const std::filesystem::path& file) {
  std::vector<int> cpus;
  std::ifstream in(file);
  int first = 0;
  while (in >> first) {
    int last = first;
    if (in.peek() == '-') {
      in.get();
      in >> last;
    }
    for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
    if (in.peek() == ',') in.get();
  }
  return cpus;
}

int socket_of(int cpu, const std::filesystem::path& cpu_folder) {
  std::ifstream in(cpu_folder / ("cpu" + std::to_string(cpu)) / "topology/physical_package_id");
  int socket = 0;
  return in >> socket ? socket : 0;
}

}  // namespace

ProcessSockets sockets_of(const std::vector<int>& cpus, const std::filesystem::path& root) {
  const auto folder = root / "devices/system/cpu";
  ProcessSockets found;
  found.cpus = cpus;
  std::ranges::sort(found.cpus);
  std::vector<int> online = cpu_list(folder / "online");
  if (online.empty()) online = found.cpus;
  std::map<int, std::vector<int>> all;
  std::set<int> used;
  for (const int cpu : online) all[socket_of(cpu, folder)].push_back(cpu);
  for (const int cpu : found.cpus) used.insert(socket_of(cpu, folder));
  for (const int socket : used)
    if (const auto cpus_of = all.find(socket); cpus_of != all.end()) found.sockets.push_back(cpus_of->second);
  found.everywhere = std::ranges::includes(found.cpus, online);
  return found;
}

ProcessSockets process_sockets(const std::filesystem::path& root) {
  // More processors than a cpu_set_t has room for are asked for until the kernel is content.
  std::vector<int> cpus;
  for (int room = CPU_SETSIZE; room <= (1 << 20); room *= 2) {
    cpu_set_t* set = CPU_ALLOC(static_cast<std::size_t>(room));
    if (set == nullptr) break;
    const std::size_t size = CPU_ALLOC_SIZE(static_cast<std::size_t>(room));
    CPU_ZERO_S(size, set);
    const bool known = ::sched_getaffinity(0, size, set) == 0;
    for (int cpu = 0; known && cpu < room; ++cpu)
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), size, set)) cpus.push_back(cpu);
    CPU_FREE(set);
    if (known) break;
  }
  if (cpus.empty()) cpus.push_back(0);
  return sockets_of(cpus, root);
}

}  // namespace fourscore
