// Routes of the model repository extension: index, load, unload.
#include "server/http/base64.h"
#include "server/http/control_routes.h"
#include "server/http/json_reader.h"
#include "server/http/json_writer.h"

namespace tern::server {
namespace {

using Kind = JsonReader::Kind;

// Reads an object; an empty body is an empty object.
template <class F> Status ReadObject(const ServerContext& context, std::string_view body, F&& member) {
  JsonReader json(body, context.limits.json_depth);
  if (json.End().ok()) return {};
  TERN_TRY(json.Object([&](std::string_view key) { return member(json, key); }));
  return json.End();
}

Result<HttpReply> Index(ServerContext& context, std::string_view body) {
  bool ready = false;
  TERN_TRY(ReadObject(context, body, [&](JsonReader& json, std::string_view key) -> Status {
    if (key != "ready") return json.Skip();
    if (json.Peek() != Kind::kBool) return InvalidArgument("Invalid value for 'ready': expected a boolean");
    return json.Bool(ready);
  }));
  std::string out = "[";
  for (const IndexEntry& entry : context.repository->Index(ready)) {
    if (out.back() != '[') out += ',';
    out += "{\"name\":";
    AppendJson(out, entry.name);
    if (!entry.version.empty()) {
      out += ",\"version\":";
      AppendJson(out, entry.version);
    }
    out += ",\"state\":";
    AppendJson(out, std::string_view(StateName(entry.state)));
    if (!entry.reason.empty()) {
      out += ",\"reason\":";
      AppendJson(out, entry.reason);
    }
    out += '}';
  }
  return JsonReply(out + "]");
}

Status ReadLoadParameter(JsonReader& json, std::string_view key, LoadOptions& options) {
  const std::string name(key);
  if (json.Peek() != Kind::kString) return InvalidArgument("load parameter '", name, "' must be a string");
  std::string value;
  TERN_TRY(json.String(value));
  if (name == "config") {
    options.config = std::move(value);
    return {};
  }
  if (!name.starts_with("file:")) return InvalidArgument("unknown load parameter '", name, "'");
  std::string& content = options.files[name.substr(5)];
  return DecodeBase64(value, content) ? Status() : InvalidArgument("'", name, "' is not valid base64");
}

Status CheckName(const std::string& model) {
  if (model.find('/') != model.npos || model.find('\\') != model.npos || model.find('\0') != model.npos ||
      model == "." || model.find("..") != model.npos)
    return InvalidArgument("model name must not contain path traversal characters");
  return {};
}

Status Load(ServerContext& context, const std::string& model, std::string_view body) {
  LoadOptions options;
  TERN_TRY(ReadObject(context, body, [&](JsonReader& json, std::string_view key) -> Status {
    if (key != "parameters") return json.Skip();
    return json.Object([&](std::string_view name) { return ReadLoadParameter(json, name, options); });
  }));
  for (const auto& [file, content] : options.files)
    if (file.empty() || file.front() == '/' || file.find("..") != file.npos || file.find('\0') != file.npos)
      return InvalidArgument("file name must not contain path traversal characters");
  return context.repository->Load(model, options);
}

Status Unload(ServerContext& context, const std::string& model, std::string_view body) {
  bool dependents = false;
  TERN_TRY(ReadObject(context, body, [&](JsonReader& json, std::string_view key) -> Status {
    if (key != "parameters") return json.Skip();
    return json.Object([&](std::string_view name) -> Status {
      if (name != "unload_dependents") return json.Skip();
      return json.Peek() == Kind::kBool ? json.Bool(dependents)
                                        : InvalidArgument("Unable to parse 'unload_dependents'");
    });
  }));
  return context.repository->Unload(model, dependents);
}

// Appends how the latest version of the model was loaded.
void AppendChange(const ServerContext& context, const std::string& model, std::string& out) {
  const auto found = context.models->Find(model);
  if (!found.ok()) return;
  const ModelVersion& version = **found;
  AppendJsonKey(out, "version");
  AppendJson(out, version.version());
  AppendJsonKey(out, "golden_requests");
  AppendJsonNumber(out, uint64_t{version.golden_requests()});
  AppendJsonKey(out, "seconds");
  AppendJsonNumber(out, std::chrono::duration<double>(version.load_time()).count());
  AppendJsonKey(out, "order");
  AppendJson(out, version.change_memory().unload_first ? "unload-first" : "load-first");
  AppendJsonKey(out, "resident_bytes");
  out += "{\"before\":";
  AppendJsonNumber(out, version.change_memory().before);
  out += ",\"peak\":";
  AppendJsonNumber(out, version.change_memory().peak);
  out += '}';
}

}  // namespace

HttpReply HandleRepositoryRoute(ServerContext& context, const Route& route, std::string_view body) {
  if (!route.repository.empty())
    return ErrorReply(Unsupported("'repository_name' specification is not supported"));
  if (!context.repository) return ErrorReply(Unavailable("the server has no model repository"));
  if (route.kind == RouteKind::kIndex) {
    auto reply = Index(context, body);
    return reply.ok() ? std::move(*reply) : ErrorReply(reply.status());
  }
  Status status = CheckName(route.model);
  if (status.ok())
    status = route.kind == RouteKind::kLoad ? Load(context, route.model, body)
                                            : Unload(context, route.model, body);
  if (!status.ok()) return ErrorReply(status);
  // KServe's clients read the name and the result. Other clients read only the status.
  std::string out = "{\"name\":";
  AppendJson(out, route.model);
  if (route.kind == RouteKind::kUnload) return JsonReply(out + ",\"unload\":true}");
  out += ",\"load\":true";
  AppendChange(context, route.model, out);
  return JsonReply(out + "}");
}

}  // namespace tern::server
