#include "simulation/simgrid/simulated_threads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <simgrid/s4u.hpp>
#include <utility>
#include <vector>

#include "core/thread_stand_in.hpp"
#include "simulation/simgrid/carried_messages.hpp"

namespace fourscore {

/// The threads of a rank that run at once.
struct SimulatedTeam {
  int threads = 1;
  std::vector<SimulatedThread*> at_barrier{};
  SimulatedThread* looks = nullptr;        ///< for those that sleep
  std::vector<SimulatedThread*> asleep{};  ///< in pause_together()
};

namespace {

namespace s4u = simgrid::s4u;

struct ThreadCosts {
  double barrier_s_per_thread = 0;
  double hand_over_s = 0;
  double host_memory_bandwidth_bytes_per_s = 0;
  std::vector<double> memory_idle_s{};  ///< [host] when its memory has moved what threads asked it to
};
ThreadCosts costs;  // NOLINT: written before the first rank starts

void wake(std::vector<SimulatedThread*>& sleepers) {
  // Whom it wakes may come back before the others are woken.
  for (SimulatedThread* const each : std::exchange(sleepers, {})) tell(*each);
}

void sleep_among(std::vector<SimulatedThread*>& sleepers) {
  SimulatedThread& thread = this_thread();
  thread.awaited = 1;
  sleepers.push_back(&thread);
  sleep_until_woken();
}

/// A rank of one thread has nobody to wait for.
SimulatedTeam* this_team() { return this_rank().team; }

void pass_barrier(const SimulatedTeam& team) {
  if (costs.barrier_s_per_thread > 0) pass_time(costs.barrier_s_per_thread * team.threads);
}

void run(int threads, void (*call)(const void* context, int thread), const void* context) {
  if (threads == 1) return call(context, 0);
  SimulatedRank& rank = this_rank();
  SimulatedTeam team{threads};
  rank.team = &team;
  std::vector<SimulatedThread> others(static_cast<std::size_t>(threads - 1));
  std::vector<s4u::ActorPtr> actors;
  for (int number = 1; number < threads; ++number) {
    SimulatedThread& other = others[static_cast<std::size_t>(number - 1)];
    other.rank = &rank;
    other.busy_until_s = thread_now_s();
    actors.push_back(s4u::Actor::create(fmt::format("rank {}, thread {}", rank.number, number),
                                        s4u::this_actor::get_host(), [call, context, number, &other] {
                                          be_thread(other);
                                          call(context, number);
                                          stop_looking_for_others();
                                          sleep_until(thread_now_s());
                                        }));
  }
  call(context, 0);
  stop_looking_for_others();
  for (const auto& actor : actors) actor->join();
  rank.team = nullptr;
  pass_barrier(team);
}

void barrier() {
  SimulatedTeam* const team = this_team();
  if (team == nullptr) return;
  stop_looking_for_others();
  sleep_until(thread_now_s());
  if (static_cast<int>(team->at_barrier.size()) + 1 < team->threads)
    sleep_among(team->at_barrier);
  else
    wake(team->at_barrier);
  pass_barrier(*team);
}

void pause() {
  if (this_team() == nullptr) return;
  SimulatedThread& thread = this_thread();
  sleep_until(std::max(thread_now_s(), thread.looked_s + poll_s));
  thread.looked_s = thread_now_s();
}

void pause_together() {
  SimulatedTeam* const team = this_team();
  if (team == nullptr) return;
  if (team->looks == nullptr) team->looks = &this_thread();
  if (team->looks == &this_thread())
    pause();
  else
    sleep_among(team->asleep);
}

void take_over() {
  if (this_team() == nullptr) return;
  stop_looking_for_others();
  if (costs.hand_over_s > 0) pass_time(costs.hand_over_s);
}

void works_on(Phase phase, std::int64_t bytes) {
  if (const auto& listener = this_rank().listener) listener(phase, bytes);
}

constexpr ThreadStandIn stand_in{run, barrier, pause, pause_together, take_over, works_on};

}  // namespace

void simulate_threads(const Platform& platform) {
  costs = {platform.barrier_s_per_thread, platform.hand_over_s, platform.host_memory_bandwidth_bytes_per_s,
           std::vector<double>(static_cast<std::size_t>(platform.network.hosts))};
  ThreadStandIn::use(&stand_in);
}

void stop_looking_for_others() {
  SimulatedTeam* const team = this_team();
  if (team == nullptr || team->looks != &this_thread()) return;
  team->looks = nullptr;
  wake(team->asleep);
}

void work(double seconds, double bytes) {
  const double now_s = thread_now_s();
  double over_s = now_s + seconds;
  if (costs.host_memory_bandwidth_bytes_per_s > 0) {
    double& idle_s = costs.memory_idle_s[this_rank().host];
    idle_s = std::max(idle_s, now_s) + bytes / costs.host_memory_bandwidth_bytes_per_s;
    over_s = std::max(over_s, idle_s);
  }
  s4u::this_actor::sleep_until(over_s);
}

}  // namespace fourscore
