// A component program that goes wrong as its parameter says, for the tests of what the common main does about it.

#include <stdexcept>

#include "components/component_main.hpp"

namespace fourscore::component {
namespace {

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

class FaultyBench : public Program {
 public:
  [[nodiscard]] ProgramCard card() const override {
    return {"component_faulty",
            "Goes wrong as it is told",
            "",
            true,
            {{"fault", "what goes wrong", "none", {"none", "wrong", "nan", "make", "input", "refused"}, false}}};
  }
  [[nodiscard]] std::optional<std::string> refuses(const Parameters& parameters, int ranks) const override {
    if (parameters.text("fault") == "refused") return "it was made so, on " + std::to_string(ranks) + " ranks";
    return std::nullopt;
  }
  void add_benchmarks(Session& session) const override {
    const std::string fault = session.parameters().text("fault");
    if (fault == "input" && session.rank() > 0) throw InputError("rank 1 does not like this");
    for (const char* name : {"first", "second"}) {
      Benchmark benchmark;
      benchmark.name = benchmark.kernel = name;
      benchmark.numbers = {{"bytes", 8}, {"flops", 100}, {"working_set_bytes", 8}};
      const int rank = session.rank();
      const bool faulty = std::string(name) == "second";
      benchmark.make = [=] { return std::make_unique<FaultyWork>(faulty ? fault : "none", rank); };
      session.add(std::move(benchmark));
    }
  }
};

}  // namespace
}  // namespace fourscore::component

int main(int argc, char** argv) { return fourscore::component::run(argc, argv, fourscore::component::FaultyBench()); }
