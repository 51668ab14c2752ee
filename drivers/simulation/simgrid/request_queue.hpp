#pragma once
// Which of a rank's requests are over, without a look at each of them: a rank may have a thousand in flight, and look
// every microsecond.

#include <cstddef>
#include <functional>
#include <queue>
#include <span>
#include <vector>

namespace fourscore {

struct CarriedRequest;
struct Transfer;

/// The requests that a rank has in flight. From the rank's first look for finished ones, each is queued by the time at
/// which its message begins, then by the time at which it arrives.
class RequestQueue {
 public:
  /// What the queue knows of a request.
  enum class State { unseen, unmet, waits, over };

  void add(CarriedRequest& request);
  void remove(CarriedRequest& request);
  /// Both sides of its message are there.
  void meet(CarriedRequest& request);

  [[nodiscard]] std::size_t size() const { return all_.size(); }
  /// Else it cannot tell which are over.
  [[nodiscard]] bool has_one_message_each() const { return of_many_messages_ == 0; }
  /// By address. The backlogs must know what has begun until then.
  [[nodiscard]] std::span<CarriedRequest* const> over_at(double now_s);
  /// When the next of those that are not over begins or arrives; never_s where no other side is there. After over_at().
  [[nodiscard]] double next_s() const;
  [[nodiscard]] bool has_unmet() const { return unmet_ > 0; }

 private:
  struct Event {
    double at_s;
    CarriedRequest* request;
    const Transfer* transfer;
    bool operator>(const Event& other) const { return at_s > other.at_s; }
  };
  using Events = std::priority_queue<Event, std::vector<Event>, std::greater<>>;

  void see(CarriedRequest& request);
  void wait_for(CarriedRequest& request);
  void forget();

  std::vector<CarriedRequest*> all_;
  std::size_t of_many_messages_ = 0;
  bool is_used_ = false;  ///< all are seen
  std::size_t unmet_ = 0;
  Events begin_, arrive_;
  std::vector<CarriedRequest*> over_;
};

}  // namespace fourscore
