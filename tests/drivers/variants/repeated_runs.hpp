#pragma once
// For the variants that send on their own: plans run several times without a pause, while completions come in an order
// that no scheduler would hope for (adverse_messages.hpp).

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "adverse_messages.hpp"
#include "interfaces/variant.hpp"
#include "mpi/handles.hpp"
#include "support/variant_fixture.hpp"

namespace fourscore::test {

/// Plans, and runs three times on other data each, without a pause in between: each must be right and send what the
/// plan declares. Returns whether anything was sent.
inline bool is_right_three_times(const Variant& variant, const Problem& problem) {
  SCOPED_TRACE(text_of(problem, nullptr) + " threads " + std::to_string(problem.threads));
  const int me = mpi::rank_in(MPI_COMM_WORLD);
  const auto plan = make_plan(variant, problem, nullptr);
  EXPECT_TRUE(covers_once(plan->input_layout()));
  EXPECT_TRUE(covers_once(plan->output_layout()));
  const auto& field = random_field(problem.extents());
  const auto& expected = transformed_field(problem.extents(), problem.direction);
  PhaseClock clock;
  for (int run = 1; run <= 3; ++run) {
    Field scaled = field;
    for (auto& value : scaled.values) value *= run;
    write(scaled, plan->input_layout(), me, problem.precision, plan->input());
    counted_sends.bytes = counted_sends.messages = 0;
    counted_sends.on = true;
    clock.start();
    plan->execute(clock);
    clock.stop();
    counted_sends.on = false;
    EXPECT_LT(error_of(expected, run, plan->output_layout(), me, problem.precision, plan->output()), 20)
        << "run " << run;
    EXPECT_EQ(plan->message_volume().bytes_sent, counted_sends.bytes);
    EXPECT_EQ(plan->message_volume().messages_sent, counted_sends.messages);
  }
  return plan->message_volume().messages_sent > 0;
}

}  // namespace fourscore::test
