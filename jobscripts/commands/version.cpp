#include "jobscripts/commands/version.hpp"

#include "source_revision.hpp"

namespace fourscore {

const char* shown_version() { return build_info::shown_version; }

}  // namespace fourscore
