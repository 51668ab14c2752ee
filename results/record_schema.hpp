#pragma once
// run-record.schema.json, as it was when this was built.

#include <string_view>

namespace fourscore {

[[nodiscard]] std::string_view run_record_schema();

}  // namespace fourscore
