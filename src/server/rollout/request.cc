#include "server/rollout/request.h"

#include <algorithm>
#include <vector>

#include "server/http/json_reader.h"

namespace tern::server {
namespace {

using Kind = JsonReader::Kind;

constexpr int kRequestDepth = 8;

struct ActionRow {
  const char* name;
  RolloutAction action;
  const char* members;  // those that it takes besides "action" and "reason", each between spaces
};

constexpr ActionRow kActions[] = {
    {"start", RolloutAction::kStart, " version stable policy "},
    {"weight", RolloutAction::kWeight, " weight "},
    {"promote", RolloutAction::kPromote, " version "},
    {"rollback", RolloutAction::kRollback, " version "},
    {"pin", RolloutAction::kPin, " version "},
    {"unpin", RolloutAction::kUnpin, " "},
    {"abort", RolloutAction::kAbort, " "},
    {"label", RolloutAction::kLabel, " label version "},
};

Status Wrong(std::string_view name, std::string_view what) {
  return InvalidArgument("rollout request: '", name, "' must be ", what);
}

Status ReadVersion(JsonReader& json, std::string_view name, std::string& out) {
  if (json.Peek() == Kind::kString) return json.String(out);
  if (json.Peek() != Kind::kNumber) return Wrong(name, "the number of a version");
  JsonNumber number;
  TERN_TRY(json.Number(number));
  int64_t value = 0;
  if (!ToInt64(number, value).ok() || value < 0) return Wrong(name, "the number of a version");
  out = StrCat(value);
  return {};
}

Status ReadWeight(JsonReader& json, std::optional<double>& out) {
  if (json.Peek() == Kind::kNull) return json.Null();
  if (json.Peek() != Kind::kNumber) return Wrong("weight", "a percentage, or null for the policy's steps");
  JsonNumber number;
  TERN_TRY(json.Number(number));
  double value = 0;
  if (!ToDouble(number, value).ok() || !(value >= 0 && value <= 100))
    return InvalidArgument("rollout request: 'weight' is ", number.text, "; it must be from 0 to 100");
  out = value;
  return {};
}

Status ReadString(JsonReader& json, std::string_view name, std::string& out) {
  return json.Peek() == Kind::kString ? json.String(out) : Wrong(name, "a string");
}

Status ReadPolicy(JsonReader& json, std::string& out) {
  if (json.Peek() != Kind::kObject) return Wrong("policy", "an object");
  const size_t begin = json.position();
  TERN_TRY(json.Skip());
  out = json.text().substr(begin, json.position() - begin);
  return {};
}

Status ReadMember(JsonReader& json, const std::string& name, std::string& action, RolloutRequest& out) {
  if (name == "action") return ReadString(json, name, action);
  if (name == "reason") return ReadString(json, name, out.reason);
  if (name == "label") return ReadString(json, name, out.label);
  if (name == "policy") return ReadPolicy(json, out.policy);
  if (name == "weight") return ReadWeight(json, out.weight);
  if (name == "stable") return ReadVersion(json, name, out.stable);
  if (name != "version") return InvalidArgument("rollout request: unknown member '", name, "'");
  out.has_version = true;
  return json.Peek() == Kind::kNull ? json.Null() : ReadVersion(json, name, out.version);
}

Result<const ActionRow*> FindAction(const std::string& name) {
  std::vector<std::string> names;
  for (const ActionRow& row : kActions) {
    if (name == row.name) return &row;
    names.emplace_back(row.name);
  }
  return InvalidArgument("rollout request: 'action' is '", name, "'; it must be one of ", Join(names, ", "));
}

}  // namespace

Result<RolloutRequest> ParseRolloutRequest(std::string_view text) {
  RolloutRequest request;
  std::string action;
  std::vector<std::string> members;
  JsonReader json(text, kRequestDepth);
  if (json.Peek() != Kind::kObject)
    return InvalidArgument("rollout request: expected a JSON object, such as {\"action\": \"promote\"}");
  TERN_TRY(json.Object([&](std::string_view key) {
    members.emplace_back(key);
    return ReadMember(json, members.back(), action, request);
  }));
  TERN_TRY(json.End());
  TERN_ASSIGN(const ActionRow* row, FindAction(action));
  request.action = row->action;
  for (const std::string& member : members)
    if (member != "action" && member != "reason" &&
        std::string_view(row->members).find(StrCat(" ", member, " ")) == std::string_view::npos)
      return InvalidArgument("rollout request: action '", action, "' takes no '", member, "'");
  const auto has = [&](const char* name) {
    return std::find(members.begin(), members.end(), name) != members.end();
  };
  for (const char* needed : {"weight", "label"})
    if (action == needed && !has(needed))
      return InvalidArgument("rollout request: action '", action, "' needs '", needed, "'");
  if (action == "label" && !has("version"))
    return InvalidArgument("rollout request: action 'label' needs 'version': a number, or null to remove it");
  return request;
}

}  // namespace tern::server
