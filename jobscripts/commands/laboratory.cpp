// fourscore laboratory: a cluster of hosts on this machine, for one command.

#include "jobscripts/laboratory/laboratory.hpp"

#include <memory>

#include "jobscripts/commands/command.hpp"

namespace fourscore {
namespace {

struct LaboratoryOptions {
  LaboratoryRequest request;
  bool enter = false;
};

Command laboratory_command() {
  return {
      "laboratory", "Run a command beside a cluster of hosts that this machine pretends to be",
      "  fourscore laboratory --hosts 4 --rate 100mbit -- mpirun --host h1,h2,h3,h4 fft_bench --variant pencil "
      "--shape 60\n"
      "  fourscore laboratory --hosts 2 -- ssh h2 ip -brief address\n"
      "  fourscore laboratory --hosts 8 --rate 1gbit -- bash\n"
      "The hosts are h1, h2, ...: each has a name, processes, /tmp, /dev/shm and a network interface of its own.\n"
      "mpirun of Open MPI and of MPICH reach them, and so does `ssh HOST COMMAND`. They end with the command, also\n"
      "when it is killed. It takes root, and ip and tc of iproute2.\n",
      85, [](CLI::App& app) -> std::function<int()> {
        auto options = std::make_shared<LaboratoryOptions>();
        app.add_option("--hosts", options->request.hosts, "how many")->type_name("N")->capture_default_str();
        app.add_option("--rate", options->request.rate,
                       "of each host's link in each direction, as tc(8) has it: 100mbit (default: not limited)")
            ->type_name("RATE");
        app.add_option("--cores", options->request.cores,
                       "of each host, dealt in turn (default: each has all cores of this machine)")
            ->type_name("K")
            ->check(CLI::PositiveNumber);
        app.add_option("--share", options->request.shared,
                       "a folder below /tmp or /dev/shm that the hosts are to see, as they do the current folder")
            ->type_name("DIR")
            ->allow_extra_args(false);
        app.add_flag("--enter", options->enter, "run a command on a host of the laboratory that this is in")->group("");
        app.add_option("command", options->request.command, "what to run, after --")->required()->type_name("COMMAND");
        return [options] {
          return options->enter ? enter_laboratory_host(options->request.command) : run_laboratory(options->request);
        };
      }};
}

FOURSCORE_REGISTER_COMMAND(laboratory_command);

}  // namespace
}  // namespace fourscore
