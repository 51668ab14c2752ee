#include "simulation/simgrid/request_queue.hpp"

#include <algorithm>

#include "simulation/simgrid/carried_requests.hpp"

namespace fourscore {

void RequestQueue::add(CarriedRequest& request) {
  request.place = all_.size();
  all_.push_back(&request);
  if (request.sides.size() != 1) {
    ++of_many_messages_;
    return;
  }
  const TransferSide& side = request.sides.front();
  (side.receives ? side.transfer->receive_request : side.transfer->send_request) = &request;
  if (is_used_) see(request);
}

void RequestQueue::remove(CarriedRequest& request) {
  all_[request.place] = all_.back();
  all_[request.place]->place = request.place;
  all_.pop_back();
  if (request.sides.size() != 1) {
    --of_many_messages_;
    return;
  }
  const TransferSide& side = request.sides.front();
  (side.receives ? side.transfer->receive_request : side.transfer->send_request) = nullptr;
  if (request.state == State::unmet) --unmet_;
  if (request.state == State::over) over_.erase(std::ranges::lower_bound(over_, &request));
  if (request.state == State::waits) forget();
}

void RequestQueue::meet(CarriedRequest& request) {
  if (request.state != State::unmet) return;
  --unmet_;
  wait_for(request);
}

void RequestQueue::see(CarriedRequest& request) {
  const TransferSide& side = request.sides.front();
  if (side.transfer->is_met() || over_s(side) < never_s) {
    wait_for(request);
  } else {
    request.state = State::unmet;
    ++unmet_;
  }
}

/// It is known when its message begins, or that it need not wait for it.
void RequestQueue::wait_for(CarriedRequest& request) {
  request.state = State::waits;
  const TransferSide& side = request.sides.front();
  if (const double known_s = over_s(side); known_s < never_s)
    arrive_.push({known_s, &request, side.transfer});
  else
    begin_.push({side.transfer->begin_s, &request, side.transfer});
}

/// One that waits is gone, which seldom happens: the next look sees all anew.
void RequestQueue::forget() {
  for (CarriedRequest* const each : all_) each->state = State::unseen;
  is_used_ = false;
  unmet_ = 0;
  begin_ = arrive_ = {};
  over_.clear();
}

std::span<CarriedRequest* const> RequestQueue::over_at(double now_s) {
  if (!is_used_) {
    for (CarriedRequest* const each : all_)
      if (each->sides.size() == 1) see(*each);
    is_used_ = true;
  }
  // What begins later than the first of which the arrival is not known arrives later, too.
  for (; !begin_.empty() && begin_.top().transfer->arrival_s >= 0; begin_.pop())
    arrive_.push({begin_.top().transfer->arrival_s, begin_.top().request, begin_.top().transfer});
  const std::size_t before = over_.size();
  for (; !arrive_.empty() && arrive_.top().at_s <= now_s; arrive_.pop()) {
    arrive_.top().request->state = State::over;
    over_.push_back(arrive_.top().request);
  }
  if (over_.size() > before) std::ranges::sort(over_);
  return over_;
}

double RequestQueue::next_s() const {
  return std::min(begin_.empty() ? never_s : begin_.top().at_s, arrive_.empty() ? never_s : arrive_.top().at_s);
}

}  // namespace fourscore
