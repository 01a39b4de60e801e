#include "server/http/control_routes.h"

#include "server/dialects/openai/completion_call.h"
#include "server/dialects/tfs/http_routes.h"
#include "server/http/json_writer.h"

namespace tern::server {
namespace {

HttpReply ServerMetadata(const ServerContext& context) {
  std::string out = "{\"name\":";
  AppendJson(out, context.name);
  out += ",\"version\":";
  AppendJson(out, context.version);
  out += ",\"extensions\":[";
  for (const std::string_view extension : kExtensions) {
    if (out.back() != '[') out += ',';
    AppendJson(out, extension);
  }
  return JsonReply(out + "]}");
}

HttpReply Ready(const ServerContext& context) {
  const bool ready = context.ready && !context.draining;
  HttpReply reply = JsonReply(ready ? "{\"ready\":true}" : "{\"ready\":false}");
  if (!ready) reply.status = 503;
  return reply;
}

HttpReply Metrics(ServerContext& context) {
  if (!context.observability) return ErrorReply(404, "Not Found");
  HttpReply reply = JsonReply(context.observability->PrometheusText());
  reply.type = "text/plain; version=0.0.4; charset=utf-8";
  reply.compress = true;
  return reply;
}

}  // namespace

RouteThread ThreadOf(RouteKind kind) {
  switch (kind) {
    case RouteKind::kLoad:
    case RouteKind::kUnload:
    case RouteKind::kRollout:
      return RouteThread::kRepository;
    case RouteKind::kIndex:
    case RouteKind::kTfsStatus:
      return RouteThread::kFiles;
    case RouteKind::kMetrics:
      return RouteThread::kWork;
    default:
      return RouteThread::kLoop;
  }
}

HttpReply HandleServerRoute(ServerContext& context, const Route& route) {
  switch (route.kind) {
    case RouteKind::kServerMetadata:
      return ServerMetadata(context);
    case RouteKind::kLive:
      return JsonReply("{\"live\":true}");
    case RouteKind::kReady:
      return Ready(context);
    case RouteKind::kMetrics:
      return Metrics(context);
    case RouteKind::kBadTarget:
      return ErrorReply(400, "malformed percent encoding in the request's target");
    default:
      return ErrorReply(404, "Not Found");
  }
}

HttpReply HandleControl(ServerContext& context, const Route& route, Method method, std::string_view body) {
  const auto handle = [&]() -> Result<HttpReply> {
    switch (route.kind) {
      case RouteKind::kModelMetadata:
      case RouteKind::kModelReady:
      case RouteKind::kModelConfig:
      case RouteKind::kModelStats:
        return HandleModelRoute(context, route);
      case RouteKind::kOpenAiModels:
        return ListOpenAiModels(*context.models);
      case RouteKind::kIndex:
      case RouteKind::kLoad:
      case RouteKind::kUnload:
        return HandleRepositoryRoute(context, route, body);
      case RouteKind::kRollout:
        return HandleRolloutRoute(context, route, method, body);
      case RouteKind::kTfsStatus:
      case RouteKind::kTfsMetadata:
        return tfs::HandleRoute(context, route);
      case RouteKind::kTrace:
      case RouteKind::kLogging:
        return HandleSettingsRoute(context, route, method, body);
      case RouteKind::kSystemMemoryStatus:
      case RouteKind::kSystemMemoryRegister:
      case RouteKind::kSystemMemoryUnregister:
      case RouteKind::kCudaMemoryStatus:
      case RouteKind::kCudaMemoryRegister:
      case RouteKind::kCudaMemoryUnregister:
        return HandleMemoryRoute(context, route, body);
      default:
        return HandleServerRoute(context, route);
    }
  };
  auto reply = Guard(handle);
  return reply.ok() ? std::move(*reply) : ErrorReply(reply.status());
}

}  // namespace tern::server
