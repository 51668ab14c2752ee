#include "interfaces/variant.hpp"

#include <fmt/format.h>

namespace fourscore {

Reason Variant::refuses_fields(const Problem& problem) const {
  if (problem.field_order != FieldOrder::together) return std::nullopt;
  return fmt::format("{} fields together; variant '{}' makes a plan for one: expected the order in-turn or pipelined",
                     problem.fields, card().name);
}

Reason whole_fields(const Problem& problem, const Variant& variant) {
  if (problem.field_order != FieldOrder::pipelined) return variant.Variant::refuses_fields(problem);
  return fmt::format("{} fields pipelined; variant '{}' runs each as a whole: expected the order in-turn",
                     problem.fields, variant.card().name);
}

}  // namespace fourscore
