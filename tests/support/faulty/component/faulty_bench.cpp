// A component program that goes wrong, or takes its time, as its parameter says: for the tests of what the common main
// does about it.

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "components/component_main.hpp"
#include "mpi/error.hpp"

namespace fourscore::component {
namespace {

using namespace std::chrono_literals;

class FaultyWork : public Work {
 public:
  FaultyWork(std::string fault, int rank) : fault_(std::move(fault)), rank_(rank) {
    if (fault_ == "make" && rank_ > 0) throw std::runtime_error("made to fail");
  }
  double error() override {
    if (fault_ == "wrong" && rank_ > 0) return 0.5;
    return fault_ == "nan" ? __builtin_nan("") : 0;
  }
  void run(std::int64_t iterations) override {
    for (std::int64_t i = 0; i < 100 * iterations; ++i) sum_ = sum_ + 1;
  }

 private:
  std::string fault_;
  int rank_;
  volatile double sum_ = 0;
};

/// In each iteration another rank sleeps, in turn.
class UnevenWork : public Work {
 public:
  UnevenWork(int rank, int ranks) : rank_(rank), ranks_(ranks) {}
  double error() override { return 0; }
  void run(std::int64_t iterations) override {
    for (std::int64_t i = 0; i < iterations; ++i)
      if (iteration_++ % ranks_ == rank_) std::this_thread::sleep_for(5ms);
  }

 private:
  int rank_;
  int ranks_;
  std::int64_t iteration_ = 0;
};

/// Fails where a rank begins an iteration that another has not come to, with a rank 0 that others would soon overtake.
class InStepWork : public Work {
 public:
  InStepWork(MPI_Comm comm, int rank, int ranks) : rank_(rank), ranks_(ranks) {
    void* own = nullptr;
    FOURSCORE_MPI(MPI_Win_allocate_shared(rank == 0 ? ranks * static_cast<MPI_Aint>(sizeof(std::int64_t)) : 0,
                                          sizeof(std::int64_t), MPI_INFO_NULL, comm, &own, &window_));
    MPI_Aint bytes = 0;
    int unit = 0;
    FOURSCORE_MPI(MPI_Win_shared_query(window_, 0, &bytes, &unit, &own));
    done_ = static_cast<std::int64_t*>(own);
    std::atomic_ref(done_[rank]).store(0);
    FOURSCORE_MPI(MPI_Barrier(comm));
  }
  ~InStepWork() override { MPI_Win_free(&window_); }
  double error() override { return 0; }
  void run(std::int64_t iterations) override {
    for (std::int64_t i = 0; i < iterations; ++i) {
      const std::int64_t mine = std::atomic_ref(done_[rank_]).load();
      for (int other = 0; other < ranks_; ++other)
        if (std::atomic_ref(done_[other]).load() < mine)
          throw std::runtime_error("rank " + std::to_string(rank_) + " began an iteration before rank " +
                                   std::to_string(other) + " had ended the one before");
      if (rank_ == 0) std::this_thread::sleep_for(2ms);
      std::atomic_ref(done_[rank_]).store(mine + 1);
    }
  }

 private:
  int rank_;
  int ranks_;
  MPI_Win window_ = MPI_WIN_NULL;
  std::int64_t* done_ = nullptr;  ///< iterations of each rank
};

class FaultyBench : public Program {
 public:
  [[nodiscard]] ProgramCard card() const override {
    return {"component_faulty",
            "Goes wrong as it is told",
            "",
            true,
            {{"fault",
              "what goes wrong",
              "none",
              {"none", "wrong", "nan", "make", "input", "refused", "uneven", "in-step"},
              false}}};
  }
  [[nodiscard]] Reason refuses(const Parameters& parameters, int ranks) const override {
    if (parameters.text("fault") == "refused") return "it was made so, on " + std::to_string(ranks) + " ranks";
    return std::nullopt;
  }
  void add_benchmarks(Session& session) const override {
    const std::string fault = session.parameters().text("fault");
    if (fault == "input" && session.rank() > 0) throw InputError("rank 1 does not like this");
    for (const std::string name : {"first", "second"}) {
      Benchmark benchmark;
      benchmark.name = benchmark.kernel = name;
      benchmark.numbers = {{"bytes", 8}, {"flops", 100}, {"working_set_bytes", 8}};
      benchmark.make = [fault = name == "second" ? fault : "none", comm = session.comm(), rank = session.rank(),
                        ranks = session.ranks()]() -> std::unique_ptr<Work> {
        if (fault == "uneven") return std::make_unique<UnevenWork>(rank, ranks);
        if (fault == "in-step") return std::make_unique<InStepWork>(comm, rank, ranks);
        return std::make_unique<FaultyWork>(fault, rank);
      };
      session.add(std::move(benchmark));
    }
  }
};

}  // namespace
}  // namespace fourscore::component

int main(int argc, char** argv) { return fourscore::component::run(argc, argv, fourscore::component::FaultyBench()); }
