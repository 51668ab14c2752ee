// Two ranks and the message between them: the latency and the bandwidth that the models of haynes2000 and gupta1993
// are built on. In phase k rank r has the partner r ^ 2^k, as in the phases of the Danielson-Lanczos exchange; all
// pairs send at once. Where the number of ranks is no power of two some ranks have no partner in a phase, and wait.
//
//   sendrecv  both ranks of a pair send and receive at once (MPI_Sendrecv): what haynes2000 calls an exchange
//   pingpong  the lower rank sends, the other answers: two messages one after another in an iteration

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "components/component_main.hpp"
#include "components/messages.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace fourscore::component {
namespace {

constexpr int message_tag = 0;
constexpr int no_partner = -1;

int partner_of(int rank, int phase, int ranks) {
  const int partner = rank ^ (1 << phase);
  return partner < ranks ? partner : no_partner;
}

int phase_count(int ranks) {
  int phases = 0;
  while ((1 << phases) < ranks) ++phases;
  return phases;
}

std::vector<int> ranks_without_partner(int phase, int ranks) {
  std::vector<int> alone;
  for (int rank = 0; rank < ranks; ++rank)
    if (partner_of(rank, phase, ranks) == no_partner) alone.push_back(rank);
  return alone;
}

/// A message in each direction, of which a rank without a partner has none.
class Pair : public Work {
 public:
  Pair(MPI_Comm comm, int phase, Index bytes)
      : comm_(comm),
        me_(mpi::rank_in(comm)),
        partner_(partner_of(me_, phase, mpi::size_of(comm))),
        count_(static_cast<int>(bytes)) {
    if (partner_ == no_partner) return;
    outgoing_.resize(static_cast<std::size_t>(bytes));
    incoming_.resize(static_cast<std::size_t>(bytes));
  }

  [[nodiscard]] double error() override {
    if (partner_ != no_partner) {
      write_message(outgoing_, me_, partner_);
      spoil(incoming_, partner_, me_);
    }
    run(1);
    return partner_ == no_partner ? 0 : static_cast<double>(wrong_bytes(incoming_, partner_, me_));
  }

  void run(std::int64_t iterations) final {
    if (partner_ == no_partner) return;
    for (std::int64_t i = 0; i < iterations; ++i) once();
  }

 protected:
  void send() { FOURSCORE_MPI(MPI_Send(outgoing_.data(), count_, MPI_BYTE, partner_, message_tag, comm_)); }
  void receive() {
    FOURSCORE_MPI(MPI_Recv(incoming_.data(), count_, MPI_BYTE, partner_, message_tag, comm_, MPI_STATUS_IGNORE));
  }
  void send_and_receive() {
    FOURSCORE_MPI(MPI_Sendrecv(outgoing_.data(), count_, MPI_BYTE, partner_, message_tag, incoming_.data(), count_,
                               MPI_BYTE, partner_, message_tag, comm_, MPI_STATUS_IGNORE));
  }
  [[nodiscard]] bool goes_first() const { return me_ < partner_; }

 private:
  virtual void once() = 0;

  MPI_Comm comm_;
  int me_;
  int partner_;
  int count_;
  std::vector<std::byte> outgoing_;
  std::vector<std::byte> incoming_;
};

class SendReceive : public Pair {
  using Pair::Pair;
  void once() override { send_and_receive(); }
};

class PingPong : public Pair {
  using Pair::Pair;
  void once() override {
    if (goes_first()) {
      send();
      receive();
    } else {
      receive();
      send();
    }
  }
};

class PairwiseBench : public Program {
 public:
  [[nodiscard]] ProgramCard card() const override {
    return {"pairwise_bench",
            "Latency and bandwidth between the partners r and r ^ 2^k, all pairs at once",
            "haynes2000",
            true,
            {{"pattern", "both ranks send at once, or one answers the other", "all", {"sendrecv", "pingpong"}, true},
             {"phase", "k of r ^ 2^k: whole numbers from 0, joined by commas, or all", "all", {}, false},
             {"sizes",
              "bytes of a message: 8, 4KiB, 64MiB joined by commas, or a range as 8..64MiB (by fours)",
              "8..64MiB",
              {},
              false}}};
  }

  [[nodiscard]] Reason refuses(const Parameters& parameters, int ranks) const override {
    (void)message_sizes(parameters, "sizes", 1);
    const std::vector<Index> phases = phases_of(parameters, ranks);
    if (ranks == 1) return "one rank has no partner; it takes 2 ranks or more";
    for (const Index phase : phases)
      if (phase >= phase_count(ranks))
        return fmt::format("phase {} pairs ranks that differ by {}, and there are {} ranks; it takes more than {}",
                           phase, Index{1} << phase, ranks, Index{1} << phase);
    return std::nullopt;
  }

  void add_benchmarks(Session& session) const override {
    const Parameters& parameters = session.parameters();
    const auto sizes = message_sizes(parameters, "sizes", 1);
    const Index largest = *std::max_element(sizes.begin(), sizes.end());
    session.require_memory(2.0 * static_cast<double>(largest),
                           fmt::format("2 messages of {}", size_text(static_cast<double>(largest))));
    for (const std::string& pattern : parameters.list("pattern"))
      for (const Index phase : phases_of(parameters, session.ranks()))
        for (const Index bytes : sizes) session.add(benchmark(session, pattern, static_cast<int>(phase), bytes));
  }

 private:
  static std::vector<Index> phases_of(const Parameters& parameters, int ranks) {
    if (parameters.text("phase") != "all") return parameters.integers("phase", 0, 24);
    std::vector<Index> phases;
    for (int phase = 0; phase < phase_count(ranks); ++phase) phases.push_back(phase);
    return phases;
  }

  static Benchmark benchmark(const Session& session, const std::string& pattern, int phase, Index bytes) {
    const auto alone = ranks_without_partner(phase, session.ranks());
    const bool both_at_once = pattern == "sendrecv";
    Benchmark result;
    result.name = fmt::format("{}/phase-{}/{}", pattern, phase, bytes);
    result.kernel = pattern;
    result.labels = {{"phase", std::to_string(phase)}};
    if (!alone.empty()) result.labels["ranks_without_partner"] = fmt::format("{}", fmt::join(alone, ","));
    result.numbers = {{"size_bytes", static_cast<double>(bytes)},
                      {"working_set_bytes", 2.0 * static_cast<double>(bytes)},
                      {"bytes", static_cast<double>(bytes)},
                      {"messages", 1},
                      {"steps", both_at_once ? 1 : 2},
                      {"pairs", (session.ranks() - static_cast<double>(alone.size())) / 2}};
    result.make = [comm = session.comm(), phase, bytes, both_at_once]() -> std::unique_ptr<Work> {
      if (both_at_once) return std::make_unique<SendReceive>(comm, phase, bytes);
      return std::make_unique<PingPong>(comm, phase, bytes);
    };
    return result;
  }
};

}  // namespace
}  // namespace fourscore::component

int main(int argc, char** argv) { return fourscore::component::run(argc, argv, fourscore::component::PairwiseBench()); }
