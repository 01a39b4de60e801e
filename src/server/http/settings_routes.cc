// Routes of the trace and logging extensions.
#include "server/http/control_routes.h"
#include "server/http/infer_request.h"
#include "server/http/json_reader.h"
#include "server/http/json_writer.h"

namespace tern::server {
namespace {

using Kind = JsonReader::Kind;

// Reads a string, an array of strings, or null. null clears the setting.
Status ReadTraceSetting(JsonReader& json, std::string_view name, std::vector<std::string>& values) {
  values.clear();
  switch (json.Peek()) {
    case Kind::kNull:
      return json.Null();
    case Kind::kString:
      return json.String(values.emplace_back());
    case Kind::kArray:
      return json.Array([&]() -> Status {
        if (json.Peek() != Kind::kString)
          return InvalidArgument("trace setting '", name, "' must be a string or an array of strings");
        return json.String(values.emplace_back());
      });
    default:
      return InvalidArgument("trace setting '", name, "' must be a string or an array of strings");
  }
}

Status ReadTrace(const ServerContext& context, std::string_view body, Settings& changes) {
  JsonReader json(body, context.limits.json_depth);
  if (json.End().ok()) return {};
  TERN_TRY(json.Object([&](std::string_view key) -> Status {
    if (key == "trace_file")
      return Unsupported("trace file location can not be updated through network protocol");
    const std::string name(key);
    return ReadTraceSetting(json, name, changes[name]);
  }));
  return json.End();
}

// trace_level is always a list. Any other setting is a string, unless it has several values.
HttpReply TraceReply(const Settings& settings) {
  std::string out = "{";
  for (const auto& [name, values] : settings) {
    AppendJsonKey(out, name);
    if (name != "trace_level" && values.size() <= 1) {
      AppendJson(out, values.empty() ? std::string_view() : std::string_view(values[0]));
      continue;
    }
    out += '[';
    for (size_t i = 0; i < values.size(); ++i) {
      if (i) out += ',';
      AppendJson(out, values[i]);
    }
    out += ']';
  }
  return JsonReply(out + "}");
}

HttpReply Trace(ServerContext& context, const Route& route, Method method, std::string_view body) {
  if (!route.model.empty() && context.models && !context.models->Find(route.model).ok())
    return ErrorReply(NotFound("Request for unknown model : ", route.model));  // Triton's text
  Settings changes;
  if (method == Method::kPost) {
    const Status status = ReadTrace(context, body, changes);
    if (!status.ok()) return ErrorReply(status);
  }
  const auto settings = changes.empty() ? context.settings->Trace(route.model)
                                        : context.settings->SetTrace(route.model, changes);
  return settings.ok() ? TraceReply(*settings) : ErrorReply(settings.status());
}

Status ReadLog(const ServerContext& context, std::string_view body,
               std::map<std::string, ParameterValue>& changes) {
  JsonReader json(body, context.limits.json_depth);
  if (json.End().ok()) return {};
  TERN_TRY(json.Object([&](std::string_view key) -> Status {
    if (json.Peek() == Kind::kNull) return json.Null();
    if (key == "log_file")
      return Unsupported("log file location can not be updated through network protocol");
    const std::string name(key);
    return ReadParameter(json, name, changes[name]);
  }));
  return json.End();
}

HttpReply Logging(ServerContext& context, Method method, std::string_view body) {
  if (method == Method::kPost) {
    std::map<std::string, ParameterValue> changes;
    Status status = ReadLog(context, body, changes);
    if (status.ok() && !changes.empty()) status = context.settings->SetLog(changes);
    if (!status.ok()) return ErrorReply(status);
  }
  std::string out = "{";
  for (const auto& [name, value] : context.settings->Log()) {
    AppendJsonKey(out, name);
    AppendJsonParameter(out, value);
  }
  return JsonReply(out + "}");
}

}  // namespace

HttpReply HandleSettingsRoute(ServerContext& context, const Route& route, Method method,
                              std::string_view body) {
  if (!context.settings) return ErrorReply(Unavailable("the server does not support dynamic settings"));
  if (route.kind == RouteKind::kTrace) return Trace(context, route, method, body);
  return Logging(context, method, body);
}

}  // namespace tern::server
