#include "server/rollout/state_file.h"

#include <filesystem>

#include "data/file.h"
#include "data/json_writer.h"
#include "server/http/json_reader.h"

namespace tern::server {
namespace {

using Kind = JsonReader::Kind;

constexpr int kStateDepth = 8;
constexpr int64_t kFormat = 1;

Status ReadInteger(JsonReader& json, int64_t& value) {
  JsonNumber number;
  TERN_TRY(json.Number(number));
  return ToInt64(number, value);
}

Status ReadRejected(JsonReader& json, Release& release) {
  return json.Array([&]() -> Status {
    Rejected& entry = release.rejected.emplace_back();
    return json.Object([&](std::string_view key) -> Status {
      if (key == "version") return json.String(entry.version);
      if (key == "reason") return json.String(entry.reason);
      return json.Skip();
    });
  });
}

Status ReadHistory(JsonReader& json, Release& release) {
  return json.Array([&]() -> Status {
    ReleaseEvent event;
    TERN_TRY(json.Object([&](std::string_view key) -> Status {
      if (key == "time") return ReadInteger(json, event.time);
      if (key == "change") return json.String(event.change);
      if (key == "version") return json.String(event.version);
      if (key == "reason") return json.String(event.reason);
      return json.Skip();
    }));
    release.Add(std::move(event));
    return {};
  });
}

Status ReadLabels(JsonReader& json, Release& release) {
  return json.Object([&](std::string_view key) {
    const std::string label(key);
    return json.String(release.labels[label]);
  });
}

Status ReadWeight(JsonReader& json, Release& release) {
  if (json.Peek() == Kind::kNull) return json.Null();
  JsonNumber number;
  TERN_TRY(json.Number(number));
  double weight = 0;
  TERN_TRY(ToDouble(number, weight));
  if (!(weight >= 0 && weight <= 100)) return InvalidArgument("'weight' is ", number.text);
  release.weight = weight;
  return {};
}

Status ReadRelease(JsonReader& json, Release& release) {
  return json.Object([&](std::string_view key) -> Status {
    if (key == "stable") return json.String(release.stable);
    if (key == "candidate") return json.String(release.candidate);
    if (key == "pinned") return json.Bool(release.pinned);
    if (key == "rejected") return ReadRejected(json, release);
    if (key == "weight") return ReadWeight(json, release);
    if (key == "policy") return json.String(release.policy);
    if (key == "labels") return ReadLabels(json, release);
    if (key == "history") return ReadHistory(json, release);
    if (key != "step") return json.Skip();
    int64_t step = 0;
    TERN_TRY(ReadInteger(json, step));
    if (step < 0) return InvalidArgument("'step' is ", step);
    release.step = static_cast<size_t>(step);
    return {};
  });
}

void WriteRelease(const Release& r, data::JsonWriter& json) {
  json.BeginObject().Key("stable").Text(r.stable).Key("candidate").Text(r.candidate);
  json.Key("pinned").Bool(r.pinned).Key("rejected");
  WriteRejected(r, json);
  json.Key("step").Unsigned(r.step).Key("weight");
  r.weight ? json.Number(*r.weight) : json.Null();
  json.Key("policy").Text(r.policy).Key("labels").BeginObject();
  for (const auto& [label, version] : r.labels) json.Key(label).Text(version);
  json.EndObject().Key("history");
  WriteHistory(r, json);
  json.EndObject();
}

}  // namespace

void WriteRejected(const Release& release, data::JsonWriter& json) {
  json.BeginArray();
  for (const Rejected& entry : release.rejected)
    json.BeginObject().Key("version").Text(entry.version).Key("reason").Text(entry.reason).EndObject();
  json.EndArray();
}

void WriteHistory(const Release& release, data::JsonWriter& json) {
  json.BeginArray();
  for (const ReleaseEvent& event : release.history) {
    json.BeginObject().Key("time").Int(event.time).Key("change").Text(event.change);
    json.Key("version").Text(event.version).Key("reason").Text(event.reason).EndObject();
  }
  json.EndArray();
}

std::string ReleasesText(const Releases& releases) {
  data::JsonWriter json;
  json.BeginObject().Key("format").Int(kFormat).Key("models").BeginObject();
  for (const auto& [model, release] : releases) {
    if (release.empty()) continue;
    json.Key(model);
    WriteRelease(release, json);
  }
  return json.EndObject().EndObject().Take() + "\n";
}

Result<Releases> ParseReleases(std::string_view text) {
  Releases releases;
  JsonReader json(text, kStateDepth);
  int64_t format = 0;
  Status status = json.Object([&](std::string_view key) -> Status {
    if (key == "format") return ReadInteger(json, format);
    if (key != "models") return json.Skip();
    return json.Object([&](std::string_view name) {
      const std::string model(name);
      return ReadRelease(json, releases[model]);
    });
  });
  if (status.ok()) status = json.End();
  if (status.ok() && format != kFormat)
    status = InvalidArgument("'format' is ", format, "; this server reads ", kFormat);
  if (!status.ok())
    return Status(Code::kInvalidArgument, StrCat("byte ", json.position(), ": ", status.message()));
  return releases;
}

Result<Releases> ReadReleases(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return Releases();
  auto text = data::ReadFile(path);
  if (!text.ok()) return IoError("the state of rollouts cannot be read: ", text.status().message());
  auto releases = ParseReleases(*text);
  if (releases.ok()) return releases;
  return InvalidArgument("the state of rollouts in '", path, "' is damaged: ", releases.status().message(),
                         "; remove the file to start without it");
}

Status WriteReleases(const std::string& path, const Releases& releases) {
  return data::WriteFile(path, ReleasesText(releases));
}

}  // namespace tern::server
