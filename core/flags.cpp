#include "core/flags.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

namespace fourscore {
namespace {

bool oversubscribed(const NodeFacts& node, int threads) {
  std::set<int> cores;
  for (const auto& rank : node.ranks) cores.insert(rank.cores.begin(), rank.cores.end());
  const std::size_t count = node.most_cores.value_or(cores.size());
  return count > 0 && node.ranks.size() * static_cast<std::size_t>(threads) > count;
}

bool unbound(const NodeFacts& node, int threads) {
  return node.ranks.size() > 1 && std::any_of(node.ranks.begin(), node.ranks.end(), [&](const auto& rank) {
           return rank.cores.size() > static_cast<std::size_t>(threads);
         });
}

bool in_cache(const NodeFacts& node) {
  return node.last_level_cache_bytes > 0 && node.plan_bytes <= node.last_level_cache_bytes;
}

bool skewed(const FlagFacts& facts) {
  std::size_t too_short = 0;
  for (std::size_t i = 0; i < facts.sample_s.size(); ++i)
    if (facts.sample_s[i] < min_skews_of_a_sample * facts.start_skew_s.at(i)) ++too_short;
  return too_short > 0 && 2 * too_short >= facts.sample_s.size();
}

/// Processor counters that are read without a system call.
bool trusted_clock(std::string_view source) {
  constexpr std::array<std::string_view, 6> trusted{
      "tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page", "timebase", "riscv_clocksource"};
  return source.empty() || std::find(trusted.begin(), trusted.end(), source) != trusted.end();
}

}  // namespace

const Flag* find_flag(std::string_view name) {
  const auto* const found =
      std::find_if(flag_table.begin(), flag_table.end(), [&](const Flag& f) { return f.name == name; });
  return found == flag_table.end() ? nullptr : found;
}

std::vector<std::string> validity_flags(const FlagFacts& facts) {
  const auto any_node = [&](const auto& holds) { return std::any_of(facts.nodes.begin(), facts.nodes.end(), holds); };
  const bool too_short = facts.smallest_sample_s && *facts.smallest_sample_s < 1000 * facts.clock_resolution_s;
  const std::map<std::string_view, bool> holds{
      {"oversubscribed", any_node([&](const NodeFacts& node) { return oversubscribed(node, facts.threads); })},
      {"unbound", any_node([&](const NodeFacts& node) { return unbound(node, facts.threads); })},
      {"in-cache", !facts.nodes.empty() && std::all_of(facts.nodes.begin(), facts.nodes.end(), in_cache)},
      {"cold", facts.warmup == 0},
      {"clock-suspect", !trusted_clock(facts.clock_source) || too_short},
      {"skewed", skewed(facts)},
      {"heterogeneous", facts.heterogeneous},
      {"unlike-cores", any_node([](const NodeFacts& node) { return node.core_kinds.size() > 1; })},
      {"open-breakdown", facts.closure_worst && *facts.closure_worst > closure_limit},
      {"emulated", facts.emulated},
      {"simulated", facts.simulated},
      {"slowed", facts.slowed},
      {"shared-package", facts.other_cores > most_other_cores},
      {"foreign", facts.foreign}};
  std::vector<std::string> flags;
  for (const Flag& flag : flag_table)
    if (holds.at(flag.name)) flags.emplace_back(flag.name);
  return flags;
}

}  // namespace fourscore
