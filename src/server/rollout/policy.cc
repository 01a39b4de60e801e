#include "server/rollout/policy.h"

#include "data/json_writer.h"
#include "server/http/json_reader.h"

namespace tern::server {
namespace {

using Kind = JsonReader::Kind;

constexpr int kPolicyDepth = 8;
constexpr size_t kMaxSteps = 100;
constexpr double kDay = 86'400;

Status Expected(std::string_view name, std::string_view what) {
  return InvalidArgument("rollout policy: '", name, "' must be ", what);
}

Status ReadNumber(JsonReader& json, std::string_view name, double low, double high, double& out) {
  JsonNumber number;
  if (json.Peek() != Kind::kNumber) return Expected(name, "a number");
  TERN_TRY(json.Number(number));
  double value = 0;
  if (!ToDouble(number, value).ok() || !(value >= low && value <= high))
    return InvalidArgument("rollout policy: '", name, "' is ", number.text, "; it must be from ", low, " to ",
                           high);
  out = value;
  return {};
}

Status ReadWhole(JsonReader& json, std::string_view name, int64_t low, int64_t high, int64_t& out) {
  JsonNumber number;
  if (json.Peek() != Kind::kNumber) return Expected(name, "a number");
  TERN_TRY(json.Number(number));
  int64_t value = 0;
  if (!ToInt64(number, value).ok() || value < low || value > high)
    return InvalidArgument("rollout policy: '", name, "' is ", number.text, "; it must be an integer from ",
                           low, " to ", high);
  out = value;
  return {};
}

// null turns a test off.
Status ReadLimit(JsonReader& json, std::string_view name, double high, std::optional<double>& out) {
  if (json.Peek() == Kind::kNull) {
    out.reset();
    return json.Null();
  }
  double value = 0;
  TERN_TRY(ReadNumber(json, name, 1e-6, high, value));
  out = value;
  return {};
}

Status ReadText(JsonReader& json, std::string_view name, std::string& out) {
  return json.Peek() == Kind::kString ? json.String(out) : Expected(name, "a string");
}

Status ReadSteps(JsonReader& json, std::vector<double>& steps) {
  steps.clear();
  if (json.Peek() != Kind::kArray) return Expected("steps", "an array of percentages");
  TERN_TRY(json.Array([&]() -> Status {
    double step = 0;
    TERN_TRY(ReadNumber(json, "steps", 0, 100, step));
    if (!steps.empty() && step <= steps.back())
      return InvalidArgument("rollout policy: 'steps' must ascend, but ", step, " follows ", steps.back());
    if (step >= 100)
      return InvalidArgument("rollout policy: 'steps' has ", step,
                             "; a step must leave requests to the stable version, so it must be below 100");
    steps.push_back(step);
    return steps.size() <= kMaxSteps ? Status()
                                     : Expected("steps", StrCat("at most ", kMaxSteps, " numbers"));
  }));
  return steps.empty() ? Expected("steps", "an array of at least one percentage") : Status();
}

Status ReadCompare(JsonReader& json, CompareMode& mode) {
  std::string text;
  TERN_TRY(ReadText(json, "compare", text));
  if (text != "values" && text != "top1") return Expected("compare", "'values' or 'top1'");
  mode = text == "top1" ? CompareMode::kTop1 : CompareMode::kValues;
  return {};
}

Status ReadOnTimeout(JsonReader& json, OnTimeout& out) {
  std::string text;
  TERN_TRY(ReadText(json, "on_timeout", text));
  if (text == "hold")
    out = OnTimeout::kHold;
  else if (text == "rollback")
    out = OnTimeout::kRollback;
  else if (text == "promote")
    out = OnTimeout::kPromote;
  else
    return Expected("on_timeout", "'hold', 'rollback' or 'promote'");
  return {};
}

Status ReadMember(JsonReader& json, std::string_view key, RolloutPolicy& p) {
  const std::string name(key);
  if (name == "steps") return ReadSteps(json, p.steps);
  if (name == "step_seconds") return ReadNumber(json, name, 0, kDay, p.step_seconds);
  if (name == "step_requests") return ReadWhole(json, name, 0, 1'000'000'000, p.step_requests);
  if (name == "mirror") return ReadNumber(json, name, 0, 100, p.mirror);
  if (name == "mirror_per_second") return ReadNumber(json, name, 0, 1e6, p.mirror_per_second);
  if (name == "mirror_bytes") return ReadWhole(json, name, 0, int64_t{1} << 40, p.mirror_bytes);
  if (name == "control_per_second") return ReadNumber(json, name, 0, 1e6, p.control_per_second);
  if (name == "confidence") return ReadNumber(json, name, 0.5, 0.999999, p.confidence);
  if (name == "max_error_rate") return ReadLimit(json, name, 0.99, p.max_error_rate);
  if (name == "max_disagreement") return ReadLimit(json, name, 0.99, p.max_disagreement);
  if (name == "max_slowdown") return ReadLimit(json, name, 100, p.max_slowdown);
  if (name == "compare") return ReadCompare(json, p.compare);
  if (name == "absolute_tolerance") return ReadNumber(json, name, 0, 1e30, p.absolute_tolerance);
  if (name == "relative_tolerance") return ReadNumber(json, name, 0, 1, p.relative_tolerance);
  if (name == "hang_seconds") return ReadNumber(json, name, 0.01, kDay, p.hang_seconds);
  if (name == "key") return ReadText(json, name, p.key);
  if (name == "promote")
    return json.Peek() == Kind::kBool ? json.Bool(p.promote) : Expected(name, "a boolean");
  if (name == "timeout_seconds") return ReadNumber(json, name, 0, 366 * kDay, p.timeout_seconds);
  if (name == "on_timeout") return ReadOnTimeout(json, p.on_timeout);
  return InvalidArgument("rollout policy: unknown member '", name, "'");
}

void WriteLimit(const char* name, const std::optional<double>& limit, data::JsonWriter& json) {
  json.Key(name);
  limit ? json.Number(*limit) : json.Null();
}

}  // namespace

Result<RolloutPolicy> ParsePolicy(std::string_view text, const RolloutPolicy& defaults) {
  RolloutPolicy policy = defaults;
  JsonReader json(text, kPolicyDepth);
  if (json.Peek() != Kind::kObject)
    return InvalidArgument("rollout policy: expected a JSON object, such as {} or {\"steps\": [0, 10, 50]}");
  TERN_TRY(json.Object([&](std::string_view key) { return ReadMember(json, key, policy); }));
  TERN_TRY(json.End());
  if (policy.steps.front() == 0 && policy.mirror == 0)
    return InvalidArgument(
        "rollout policy: the first of 'steps' is 0 and 'mirror' is 0, so the candidate would get no request");
  return policy;
}

void WritePolicy(const RolloutPolicy& p, data::JsonWriter& json) {
  json.BeginObject().Key("steps").BeginArray();
  for (const double step : p.steps) json.Number(step);
  json.EndArray().Key("step_seconds").Number(p.step_seconds).Key("step_requests").Int(p.step_requests);
  json.Key("mirror").Number(p.mirror).Key("mirror_per_second").Number(p.mirror_per_second);
  json.Key("mirror_bytes").Int(p.mirror_bytes).Key("control_per_second").Number(p.control_per_second);
  json.Key("confidence").Number(p.confidence);
  WriteLimit("max_error_rate", p.max_error_rate, json);
  WriteLimit("max_disagreement", p.max_disagreement, json);
  WriteLimit("max_slowdown", p.max_slowdown, json);
  json.Key("compare").Text(p.compare == CompareMode::kTop1 ? "top1" : "values");
  json.Key("absolute_tolerance").Number(p.absolute_tolerance);
  json.Key("relative_tolerance").Number(p.relative_tolerance);
  json.Key("hang_seconds").Number(p.hang_seconds).Key("key").Text(p.key).Key("promote").Bool(p.promote);
  json.Key("timeout_seconds").Number(p.timeout_seconds).Key("on_timeout");
  json.Text(p.on_timeout == OnTimeout::kHold       ? "hold"
            : p.on_timeout == OnTimeout::kRollback ? "rollback"
                                                   : "promote");
  json.EndObject();
}

}  // namespace tern::server
