#pragma once
// The RunRecord (results/README.md): what a launch of a measurement point leaves behind. No MPI here.

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "core/problem.hpp"

namespace fourscore {

inline constexpr std::string_view record_schema = "fourscore.run-record";
inline constexpr int record_schema_version = 3;

/// The point with every key of the schema present, so that equal points have equal JSON. Only an exchange that is not
/// yet resolved is left out; no record has such a point.
[[nodiscard]] nlohmann::json point_json(const Point& point);
/// Keys that are not required (core/point_keys.hpp) default as in Point.
/// Throws InputError naming the key, its value and what is expected; an unknown key is an error with the nearest name.
[[nodiscard]] Point point_from_json(const nlohmann::json& json);
/// First 16 hex digits of the SHA-256 of the point's canonical JSON (sorted keys, no spaces). A point on one node, in
/// block order, is hashed without saying so: it is the same point as in records from before version 3.
[[nodiscard]] std::string point_id(const Point& point);
/// The same of a record's "point", whatever it holds.
[[nodiscard]] std::string point_id(const nlohmann::json& point);
/// Same rule for any JSON value: the hashes of the provenance.
[[nodiscard]] std::string short_hash(const nlohmann::json& value);
/// 32 random hex digits.
[[nodiscard]] std::string new_record_id();

inline constexpr std::array<std::string_view, 5> verdict_statuses{"ok", "wrong", "failed", "timeout", "skipped"};
/// How a launch ended: status is one of verdict_statuses; reason is one sentence for all but ok.
struct Verdict {
  std::string status{"ok"};
  std::string reason{};
  int exit_status = 0;
  int signal = 0;
  std::string stderr_tail{};
};
[[nodiscard]] nlohmann::json verdict_json(const Verdict& verdict);

/// "verified_by" of a record that has times: who checked the results. The harness: a program of ours, under our eyes or
/// vouched for. A program: another's, or a file's, by its own word.
inline constexpr std::string_view by_harness = "harness";
inline constexpr std::string_view by_program = "program";
inline constexpr std::string_view by_nobody = "nobody";

/// The steps of a launch whose seconds the record's "harness" has, as "plan_s", in this order.
inline constexpr std::array<std::string_view, 10> harness_steps{"launch",  "init",     "tune",    "plan",  "verify",
                                                                "measure", "timeline", "isolate", "count", "write"};

/// Parts of a launch that come after its verified samples, in this order. Where one fails the samples stay.
inline constexpr std::array<std::string_view, 3> optional_parts{"timeline", "isolate", "counters"};
/// {"status", "reason"}, the entry of a part in the record's "failed_parts". status: failed or timeout.
[[nodiscard]] nlohmann::json failed_part_json(const std::string& status, const std::string& reason);
/// The record that a launch left of its verified samples before it ended in a later part: those parts that it did not
/// complete get the status and the reason of its end, the verdict stays ok and tells how it ended. Throws
/// std::invalid_argument for what is no such record of `point`.
[[nodiscard]] nlohmann::json ended_record(nlohmann::json verified, const Point& point, const Verdict& end);

/// What every record holds. `campaign` and `provenance` are left out when null.
[[nodiscard]] nlohmann::json make_record(const Point& point, const nlohmann::json& campaign, const Verdict& verdict,
                                         const nlohmann::json& provenance);
/// The record of a launch that did not come back (failed, timeout) or was never made (skipped).
/// Throws std::logic_error for status ok or wrong, which only a program that ran can claim.
[[nodiscard]] nlohmann::json make_unlaunched_record(const Point& point, const nlohmann::json& campaign,
                                                    const Verdict& verdict, const nlohmann::json& provenance);

}  // namespace fourscore
