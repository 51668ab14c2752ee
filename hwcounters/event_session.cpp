#include "hwcounters/event_session.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace fourscore {
namespace {

constexpr std::uint64_t most_of(const CounterSource& source) {
  if (source.most > 0) return source.most;
  return source.bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << source.bits) - 1;
}

/// From one reading to the next, over the end of the range at most once.
constexpr std::uint64_t counted_between(std::uint64_t before, std::uint64_t after, std::uint64_t most) {
  return after >= before ? after - before : most - before + after + 1;
}

}  // namespace

EventSession::EventSession(CounterScope scope, std::size_t events, std::vector<CounterSource> sources,
                           std::unique_ptr<CounterReader> reader)
    : scope_(scope),
      events_(events),
      sources_(std::move(sources)),
      reader_(std::move(reader)),
      last_(sources_.size()),
      now_(sources_.size()) {
  for (const CounterSource& source : sources_)
    if (source.event >= events_ || source.bits == 0)
      throw std::invalid_argument("a counter without an event of its group, or without a width");
}

std::size_t EventSession::passes(std::size_t buckets) const {
  (void)buckets;
  std::size_t last = 0;
  for (const CounterSource& source : sources_) last = std::max(last, source.pass);
  return last + 1;
}

void EventSession::start(std::size_t pass, std::size_t buckets) {
  if (buckets == 0 || pass >= passes(buckets)) throw std::invalid_argument("a session has no such bucket or pass");
  if (buckets != buckets_) shares_.assign(buckets * sources_.size(), Share{});
  for (std::size_t i = 0; i < shares_.size(); ++i)
    if (sources_[i % sources_.size()].pass == pass) shares_[i] = Share{};
  if (pass == 0) failed_ = out_of_range_ = multiplexed_ = false;
  buckets_ = buckets;
  bucket_ = 0;
  pass_ = pass;
  reader_->start(pass);
  if (!reader_->read(last_)) {
    const std::string why = reader_->error();
    reader_->stop();
    throw CounterError(why);
  }
}

void EventSession::switch_to(std::size_t bucket) noexcept {
  if (bucket == bucket_) return;
  add_to_bucket();
  if (bucket < buckets_)
    bucket_ = bucket;
  else
    out_of_range_ = true;
}

void EventSession::stop() {
  add_to_bucket();
  reader_->stop();
}

void EventSession::add_to_bucket() noexcept {
  if (shares_.empty()) return;
  if (!reader_->read(now_)) failed_ = true;
  if (failed_) return;
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    if (sources_[i].pass != pass_) continue;
    const Reading& before = last_[i];
    const Reading& after = now_[i];
    Share& share = shares_[bucket_ * sources_.size() + i];
    const std::uint64_t most = most_of(sources_[i]);
    const std::uint64_t counted = counted_between(before.value, after.value, most);
    // More than half of the range is no wrap: a counter that somebody set back. A range of its own may be that short.
    if (!before.valid || !after.valid || (sources_[i].most == 0 && counted > most / 2)) share.absent = true;
    share.value += counted;
    share.enabled_ns += after.enabled_ns - before.enabled_ns;
    share.running_ns += after.running_ns - before.running_ns;
    if (sources_[i].timed && after.running_ns - before.running_ns < after.enabled_ns - before.enabled_ns)
      multiplexed_ = true;
  }
  std::swap(last_, now_);
}

EventCount EventSession::count_of(const Share& share, const CounterSource& source) {
  if (share.absent) return std::nullopt;
  const double counted = source.scale * static_cast<double>(share.value);
  if (!source.timed || share.running_ns >= share.enabled_ns) return counted;
  if (share.running_ns == 0) return std::nullopt;
  return counted * (static_cast<double>(share.enabled_ns) / static_cast<double>(share.running_ns));
}

std::vector<std::vector<EventCount>> EventSession::counts() const {
  if (failed_) throw CounterError(reader_->error());
  if (out_of_range_) throw CounterError("a phase had no bucket to be counted in");
  // An event none of whose counters was ever to count (no time passed for it) was not counted: its 0 means nothing.
  std::vector<bool> counted(events_, false);
  for (std::size_t i = 0; i < shares_.size(); ++i) {
    const CounterSource& source = sources_[i % sources_.size()];
    if (!source.timed || shares_[i].enabled_ns > 0) counted[source.event] = true;
  }
  std::vector<std::vector<EventCount>> result(buckets_, std::vector<EventCount>(events_));
  for (std::size_t bucket = 0; bucket < buckets_; ++bucket) {
    auto& row = result[bucket];
    for (std::size_t event = 0; event < events_; ++event)
      if (counted[event]) row[event] = 0.0;
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      const EventCount one = count_of(shares_[bucket * sources_.size() + i], sources_[i]);
      EventCount& sum = row[sources_[i].event];
      sum = one && sum ? EventCount(*sum + *one) : std::nullopt;
    }
  }
  return result;
}

}  // namespace fourscore
