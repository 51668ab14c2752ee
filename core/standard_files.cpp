#include "core/standard_files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>

namespace fourscore {

void open_standard_files() {
  // open(2) gives the lowest number that is free, so the one that was found closed.
  for (const int descriptor : std::array{STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(descriptor, F_GETFD) < 0) (void)!::open("/dev/null", O_RDWR);
}

}  // namespace fourscore
