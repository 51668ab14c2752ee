#pragma once
// The threads of simulated ranks. Each is an actor of SimGrid on its rank's host, and one of all runs at a time.

#include "simulation/platform.hpp"

namespace fourscore {

/// Before the first rank starts: threads run, wait and take over work so from here on, and take what the platform says.
void simulate_threads(const Platform& platform);
/// The calling thread has something else to do than to look for others that sleep in pause_together().
void stop_looking_for_others();
/// Lets so many seconds of the calling thread's time pass, and more where others keep its host's memory busy.
void work(double seconds, double bytes);

}  // namespace fourscore
