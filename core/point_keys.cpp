#include "core/point_keys.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "core/text.hpp"

namespace fourscore {

using nlohmann::json;

namespace {

constexpr std::string_view parameter_prefix = "parameters.";

int positive_integer(const std::string& text, std::string_view what, int most) {
  const auto value = number_from<int>(text);
  if (!value || *value < 1 || *value > most)
    throw InputError(fmt::format("{} '{}': expected an integer from 1 to {}", what, text, most));
  return *value;
}

const std::string& named(const std::string& text, std::string_view what, std::string_view expected) {
  if (text.empty()) throw InputError(fmt::format("{} is empty; expected {}", what, expected));
  return text;
}

using P = Point;
using S = const std::string&;
using W = std::string_view;

std::vector<PointKey> transform_keys() {
  return {
      {.name = "variant",
       .option = "--variant",
       .path = "/variant",
       .required = true,
       .help = "algorithm; fft_bench --list shows all",
       .get = [](const P& p) { return p.variant; },
       .set = [](P& p, S v, W what) { p.variant = named(v, what, "the name of a variant"); }},
      {.name = "exchange",
       .option = "--exchange",
       .path = "/exchange",
       .help = "how data moves between ranks (default: the variant's own, as fft_bench --list says); tuned: the "
               "fastest of all, found by trying them before anything else",
       .get = [](const P& p) { return p.exchange; },
       .set = [](P& p, S v, W what) { p.exchange = named(v, what, "the name of an exchange, or none"); }},
      {.name = "local_fft",
       .option = "--local-fft",
       .path = "/local_fft",
       .help = "library of the local transforms",
       .get = [](const P& p) { return p.local_fft; },
       .set = [](P& p, S v, W what) { p.local_fft = named(v, what, "the name of a local FFT library"); }},
      {.name = "shape",
       .option = "--shape",
       .path = "/shape",
       .form = Form::extents,
       .required = true,
       .help = "1 to 3 extents, slowest in memory first: 128x96x100",
       .get = [](const P& p) { return shape_text(p.problem.shape); },
       .set = [](P& p, S v, W what) { p.problem.shape = parse_shape(v, what); }},
      {.name = "precision",
       .option = "--precision",
       .path = "/precision",
       .help = "double or single",
       .get = [](const P& p) { return to_string(p.problem.precision); },
       .set = [](P& p, S v, W what) { p.problem.precision = parse_precision(v, what); }},
      {.name = "kind",
       .option = "--kind",
       .path = "/kind",
       .help = "c2c; r2c, real in space; c2r, which is r2c backward",
       .get = [](const P& p) { return to_string(p.problem.kind); },
       .set =
           [](P& p, S v, W what) {
             const auto asked = parse_kind_and_direction(v, std::nullopt, what);
             p.problem.kind = asked.kind;
             if (asked.direction == Direction::backward) p.problem.direction = asked.direction;
           }},
      {.name = "direction",
       .option = "--direction",
       .path = "/direction",
       .help =
           "forward, backward (as of c2r), roundtrip: forward, then backward, or convolution: with a product between",
       .get = [](const P& p) { return to_string(p.problem.direction); },
       .set = [](P& p, S v, W what) { p.problem.direction = parse_direction(v, what); }},
      {.name = "operator",
       .option = "--operator",
       .path = "/operator",
       .labelled = true,
       .help = fmt::format("of a convolution, what the spectrum is multiplied by (default: {}); fft_bench --list shows "
                           "all",
                           default_operator),
       // Points of other directions say none, as before there were convolutions.
       .get =
           [](const P& p) {
             const bool of_default = p.problem.direction == Direction::convolution && p.problem.operator_name.empty();
             return of_default ? std::string(default_operator) : p.problem.operator_name;
           },
       .set = [](P& p, S v, W what) { p.problem.operator_name = named(v, what, "the name of an operator"); }},
  };
}

/// What transforms and components have in common: how many ranks, and where.
const std::vector<PointKey>& launch_keys() {
  static const std::vector<PointKey> keys{
      {.name = "ranks",
       .option = "--ranks",
       .path = "/ranks",
       .form = Form::integer,
       .required = true,
       .of_launch = true,
       .labelled = true,
       .help = "ranks that the launcher must have started (default: those that it started)",
       .get = [](const P& p) { return std::to_string(p.ranks); },
       .set = [](P& p, S v, W what) { p.ranks = positive_integer(v, what, max_ranks); }},
      {.name = "nodes",
       .option = "--nodes",
       .path = "/nodes",
       .form = Form::integer,
       .of_launch = true,
       .labelled = true,
       .help = "nodes that the ranks must be on (default: those that they are on)",
       .get = [](const P& p) { return std::to_string(p.nodes); },
       .set = [](P& p, S v, W what) { p.nodes = positive_integer(v, what, max_ranks); }},
      {.name = "ranks_per_node",
       .path = "/ranks_per_node",
       .form = Form::integer,
       .of_launch = true,
       .derived = true,
       .labelled = true,
       .get = [](const P& p) { return std::to_string(ranks_per_node(p)); },
       .set = [](P& p, S v, W what) { p.ranks = positive_integer(v, what, max_ranks / p.nodes) * p.nodes; }},
      {.name = "placement_of_ranks",
       .option = "--placement-of-ranks",
       .path = "/placement_of_ranks",
       .of_launch = true,
       .labelled = true,
       .help = "how they must follow each other: block, cyclic (over nodes) or socket (over sockets)",
       .get = [](const P& p) { return to_string(p.placement_of_ranks); },
       .set = [](P& p, S v, W what) { p.placement_of_ranks = parse_rank_placement(v, what); }},
      {.name = "platform",
       .option = "--platform",
       .path = "/platform",
       .of_launch = true,
       .labelled = true,
       .help = "simulated machine, of the build for SimGrid: a name of jobscripts/platforms, or a file",
       // Points of real machines say neither, as before there were others.
       .get = [](const P& p) { return p.platform == "none" ? std::string() : p.platform; },
       .set = [](P& p, S v, W what) { p.platform = named(v, what, "the name of a platform, or none"); }},
      {.name = "host_order",
       .option = "--host-order",
       .path = "/host_order",
       .of_launch = true,
       .labelled = true,
       .help = "which simulated hosts the nodes are: row-major, random, sub-cube or hilbert",
       .get = [](const P& p) { return p.host_order == HostOrder::row_major ? std::string() : to_string(p.host_order); },
       .set = [](P& p, S v, W what) { p.host_order = parse_host_order(v, what); }},
  };
  return keys;
}

std::vector<PointKey> plan_keys() {
  return {
      {.name = "grid",
       .option = "--grid",
       .path = "/grid",
       .form = Form::grid,
       .labelled = true,
       .help = "process grid: auto, as 2x2, or tuned, as --exchange tuned",
       .get = [](const P& p) { return p.grid_is_tuned ? std::string(tuned_word) : grid_text(p.problem.grid); },
       .set =
           [](P& p, S v, W what) {
             p.grid_is_tuned = v == tuned_word;
             p.problem.grid = p.grid_is_tuned ? std::vector<int>{} : parse_grid(v, what);
           }},
      {.name = "active_ranks",
       .option = "--active-ranks",
       .path = "/active_ranks",
       .form = Form::count,
       .labelled = true,
       .help = "ranks that transform, evenly spread; the others only hold data. auto: as many as the variant's cost "
               "suggests (docs/applications.md). Default: all of them",
       // Points of which all ranks transform do not say so, as before others could.
       .get =
           [](const P& p) {
             const int active = p.problem.active_ranks;
             if (active == all_ranks) return std::string();
             return active == auto_ranks ? std::string("auto") : std::to_string(active);
           },
       .set =
           [](P& p, S v, W what) {
             if (v == "all" || v == "auto") {
               p.problem.active_ranks = v == "all" ? all_ranks : auto_ranks;
               return;
             }
             const auto number = number_from<int>(v);
             if (!number || *number < 1 || *number > max_ranks)
               throw InputError(
                   fmt::format("{} '{}': expected an integer from 1 to {}, auto or all", what, v, max_ranks));
             p.problem.active_ranks = *number;
           }},
      {.name = "threads",
       .option = "--threads",
       .path = "/threads",
       .form = Form::integer,
       .labelled = true,
       .help = fmt::format("threads a rank, for the local FFT: 1 to {}", max_threads),
       .get = [](const P& p) { return std::to_string(p.problem.threads); },
       .set = [](P& p, S v, W what) { p.problem.threads = positive_integer(v, what, max_threads); }},
      {.name = "instances",
       .option = "--instances",
       .path = "/instances",
       .form = Form::integer,
       .labelled = true,
       .help = fmt::format("transforms at once: 1 to {}", max_instances),
       .get = [](const P& p) { return std::to_string(p.problem.instances); },
       .set = [](P& p, S v, W what) { p.problem.instances = positive_integer(v, what, max_instances); }},
      {.name = "placement",
       .option = "--placement",
       .path = "/placement",
       .labelled = true,
       .help = "of instances: all, each over all ranks; subset, each on its own ranks",
       .get = [](const P& p) { return to_string(p.problem.placement); },
       .set = [](P& p, S v, W what) { p.problem.placement = parse_placement(v, what); }},
      {.name = "fields",
       .option = "--fields",
       .path = "/fields",
       .form = Form::integer,
       .labelled = true,
       .help = fmt::format("arrays of this shape that are transformed: 1 to {}", max_fields),
       // Points of one field say neither, as before there were others.
       .get = [](const P& p) { return p.problem.fields == 1 ? std::string() : std::to_string(p.problem.fields); },
       .set = [](P& p, S v, W what) { p.problem.fields = positive_integer(v, what, max_fields); }},
      {.name = "field_order",
       .option = "--field-order",
       .path = "/field_order",
       .labelled = true,
       .help = "of several fields: together, in one message; in-turn, one after another; pipelined, part by part",
       .get =
           [](const P& p) {
             const bool said = p.problem.fields > 1 || p.problem.field_order != FieldOrder::together;
             return said ? to_string(p.problem.field_order) : std::string();
           },
       .set = [](P& p, S v, W what) { p.problem.field_order = parse_field_order(v, what); }},
      {.name = "layout",
       .option = "--layout",
       .path = "/contract/layout",
       .help = "transposed: output as the method leaves it; natural: as the input",
       .get = [](const P& p) { return to_string(p.problem.contract.layout); },
       .set = [](P& p, S v, W what) { p.problem.contract.layout = parse_layout(v, what); }},
      {.name = "buffers",
       .option = "--buffers",
       .path = "/contract/buffers",
       .help = "in-place or out-of-place",
       .get = [](const P& p) { return to_string(p.problem.contract.buffers); },
       .set = [](P& p, S v, W what) { p.problem.contract.buffers = parse_buffers(v, what); }},
      {.name = "planner",
       .option = "--planner",
       .path = "/contract/planner",
       .help = "effort: estimate, measure or patient",
       .get = [](const P& p) { return to_string(p.problem.contract.effort); },
       .set = [](P& p, S v, W what) { p.problem.contract.effort = parse_effort(v, what); }},
      {.name = "wire",
       .option = "--wire",
       .path = "/wire",
       .labelled = true,
       .help = "what messages of exchanges hold: as-is; single: data in double, rounded to single; zfp: compressed",
       // Not said as it is, as before there was another.
       .get = [](const P& p) { return p.problem.wire == Wire::as_is ? std::string() : to_string(p.problem.wire); },
       .set = [](P& p, S v, W what) { p.problem.wire = parse_wire(v, what); }},
  };
}

const std::vector<PointKey>& work_keys() {
  static const std::vector<PointKey> keys{
      {.name = "other_work",
       .option = "--other-work",
       .path = "/other_work",
       .labelled = true,
       .help = "other work of a rank beside its transforms, by its time alone: 2ms, 50us, or none",
       // Points without say nothing of it, as before there was any.
       .get = [](const P& p) { return work_time_text(p.problem.other_work.time_ns); },
       .set = [](P& p, S v, W what) { p.problem.other_work.time_ns = parse_work_time(v, what); }},
      {.name = "other_work_load",
       .option = "--other-work-load",
       .path = "/other_work_load",
       .labelled = true,
       .help = "what it is bound by: compute, or memory",
       .get =
           [](const P& p) {
             const WorkLoad load = p.problem.other_work.load;
             return load == WorkLoad::compute ? std::string() : to_string(load);
           },
       .set = [](P& p, S v, W what) { p.problem.other_work.load = parse_work_load(v, what); }},
      {.name = "other_work_place",
       .option = "--other-work-place",
       .path = "/other_work_place",
       .labelled = true,
       .help = "between: a part after each transform of the rank; during: in slices while messages are under way",
       .get =
           [](const P& p) {
             const WorkPlace place = p.problem.other_work.place;
             return place == WorkPlace::between ? std::string() : to_string(place);
           },
       .set = [](P& p, S v, W what) { p.problem.other_work.place = parse_work_place(v, what); }},
  };
  return keys;
}

std::vector<PointKey> joined(std::initializer_list<std::vector<PointKey>> lists) {
  std::vector<PointKey> all;
  for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

const PointKey& key_named(std::string_view name) {
  if (const PointKey* key = find_point_key(name)) return *key;
  throw InputError(fmt::format("'{}' is not a key of a point", name));
}

}  // namespace

const std::vector<PointKey>& point_keys() {
  static const std::vector<PointKey> keys = joined({transform_keys(), launch_keys(), plan_keys(), work_keys()});
  return keys;
}

const std::vector<PointKey>& component_keys() {
  static const std::vector<PointKey> keys =
      joined({{{.name = "program",
                .path = "/component",
                .required = true,
                .get = [](const P& p) { return p.component; },
                .set = [](P& p, S v, W what) { p.component = named(v, what, "the name of a program"); }}},
              launch_keys()});
  return keys;
}

const std::vector<PointKey>& keys_of(const Point& point) {
  return point.component.empty() ? point_keys() : component_keys();
}

const PointKey* find_point_key(std::string_view name) {
  for (const auto* keys : {&point_keys(), &component_keys()})
    if (const auto key = std::ranges::find(*keys, name, &PointKey::name); key != keys->end()) return &*key;
  return nullptr;
}

std::vector<std::string> names_of(const std::vector<PointKey>& keys) {
  std::vector<std::string> names;
  for (const PointKey& key : keys) names.emplace_back(key.name);
  return names;
}

void set_point_value(Point& point, std::string_view key, const std::string& text) {
  if (key.starts_with(parameter_prefix))
    point.problem.parameters[std::string(key.substr(parameter_prefix.size()))] = text;
  else
    key_named(key).set(point, text, key);
}

void set_point_values(Point& point, const std::vector<KeyText>& values) {
  const KeyText* kind = nullptr;
  const KeyText* direction = nullptr;
  for (const KeyText& value : values) {
    value.key->set(point, value.text, value.what);
    if (value.key->name == "kind") kind = &value;
    if (value.key->name == "direction") direction = &value;
  }
  if (kind != nullptr && direction != nullptr)
    (void)parse_kind_and_direction(kind->text, direction->text, kind->what, direction->what);
}

std::string point_value(const Point& point, std::string_view key) {
  if (!key.starts_with(parameter_prefix)) return key_named(key).get(point);
  const auto found = point.problem.parameters.find(std::string(key.substr(parameter_prefix.size())));
  return found == point.problem.parameters.end() ? std::string{} : found->second;
}

std::string point_value(const json& point, std::string_view key) {
  const PointKey& known = key_named(key);
  const json::json_pointer path{std::string(known.path)};
  if (!point.contains(path)) return known.get({});
  const json& value = point.at(path);
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::vector<std::string> extents;
  for (const json& extent : value) extents.push_back(extent.dump());
  return fmt::format("{}", fmt::join(extents, "x"));
}

std::string point_text(const Point& point) {
  std::string text;
  for (const PointKey& key : keys_of(point)) text += key.get(point) + '\x1f';
  for (const auto& [name, value] : point.problem.parameters) text += name + '=' + value + '\x1f';
  return text;
}

std::string parameters_text(const Point& point) {
  std::string text;
  for (const auto& [name, value] : point.problem.parameters) text += fmt::format(" {}={}", name, value);
  return text;
}

std::vector<std::string> point_options(const Point& point) {
  std::vector<std::string> options;
  for (const PointKey& key : keys_of(point)) {
    const std::string text = key.get(point);
    if (key.option.empty() || text.empty()) continue;  // an exchange that is not said is the variant's own
    options.emplace_back(key.option);
    options.push_back(text);
  }
  for (const auto& [name, value] : point.problem.parameters) {
    options.emplace_back("--parameter");
    options.push_back(name + "=" + value);
  }
  return options;
}

std::map<std::string, std::string> parse_parameters(const std::vector<std::string>& options) {
  std::map<std::string, std::string> parameters;
  for (const std::string& text : options) {
    const auto equals = text.find('=');
    if (equals == 0 || equals == std::string::npos)
      throw InputError(fmt::format("--parameter is '{}'; expected NAME=VALUE, as pieces=4", text));
    const std::string name = text.substr(0, equals);
    if (!parameters.emplace(name, text.substr(equals + 1)).second)
      throw InputError(fmt::format("--parameter {} is there twice; expected one value", name));
  }
  return parameters;
}

}  // namespace fourscore
