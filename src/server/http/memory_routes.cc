// Routes of the shared memory extensions. CUDA memory is refused.
#include "server/http/control_routes.h"
#include "server/http/json_reader.h"
#include "server/http/json_writer.h"

namespace tern::server {
namespace {

struct Registration {
  std::optional<std::string> key;
  std::optional<uint64_t> bytes;
  uint64_t offset = 0;
};

Status ReadSize(JsonReader& json, const char* name, uint64_t& value) {
  JsonNumber number;
  if (json.Peek() != JsonReader::Kind::kNumber) return InvalidArgument("Unable to parse '", name, "'");
  TERN_TRY(json.Number(number));
  return ToUint64(number, value).ok() ? Status() : InvalidArgument("Unable to parse '", name, "'");
}

Status ReadRegistration(const ServerContext& context, std::string_view body, Registration& r) {
  JsonReader json(body, context.limits.json_depth);
  if (!json.End().ok()) {
    TERN_TRY(json.Object([&](std::string_view key) -> Status {
      if (key == "offset") return ReadSize(json, "offset", r.offset);
      if (key == "byte_size") return ReadSize(json, "byte_size", r.bytes.emplace());
      if (key != "key") return json.Skip();
      if (json.Peek() != JsonReader::Kind::kString) return InvalidArgument("Unable to parse 'key'");
      return json.String(r.key.emplace());
    }));
    TERN_TRY(json.End());
  }
  if (!r.key) return InvalidArgument("Shared memory register request has no 'key' field");
  if (!r.bytes) return InvalidArgument("Shared memory register request has no 'byte_size' field");
  return {};
}

Status Register(ServerContext& context, const std::string& region, std::string_view body) {
  if (region.empty())
    return InvalidArgument("'region name' is necessary to register system shared memory region");
  Registration r;
  TERN_TRY(ReadRegistration(context, body, r));
  return context.shared_memory->Register(region, *r.key, r.offset, *r.bytes);
}

HttpReply SystemStatus(ServerContext& context, const std::string& region) {
  auto regions = context.shared_memory->List(region);
  if (!regions.ok()) return ErrorReply(regions.status());
  std::string out = "[";
  for (const SharedMemoryRegion& r : *regions) {
    if (out.back() != '[') out += ',';
    out += "{\"name\":";
    AppendJson(out, r.name);
    out += ",\"key\":";
    AppendJson(out, r.key);
    out += ",\"offset\":";
    AppendJsonNumber(out, r.offset);
    out += ",\"byte_size\":";
    AppendJsonNumber(out, r.bytes);
    out += '}';
  }
  return JsonReply(out + "]");
}

HttpReply CudaReply(const Route& route) {
  if (route.kind == RouteKind::kCudaMemoryStatus && route.region.empty()) return JsonReply("[]");
  if (route.kind == RouteKind::kCudaMemoryStatus)
    return ErrorReply(NotFound("Unable to find cuda shared memory region: '", route.region, "'"));
  if (route.kind == RouteKind::kCudaMemoryUnregister) return JsonReply("");
  return ErrorReply(InvalidArgument("failed to register CUDA shared memory region: '", route.region,
                                    "', GPUs not supported"));
}

}  // namespace

HttpReply HandleMemoryRoute(ServerContext& context, const Route& route, std::string_view body) {
  switch (route.kind) {
    case RouteKind::kSystemMemoryStatus:
      if (!context.shared_memory && route.region.empty()) return JsonReply("[]");
      break;
    case RouteKind::kSystemMemoryRegister:
    case RouteKind::kSystemMemoryUnregister:
      break;
    default:
      return CudaReply(route);
  }
  if (!context.shared_memory) return ErrorReply(Unsupported(kSharedMemoryOff));
  if (route.kind == RouteKind::kSystemMemoryStatus) return SystemStatus(context, route.region);
  const Status status = route.kind == RouteKind::kSystemMemoryRegister
                            ? Register(context, route.region, body)
                            : context.shared_memory->Unregister(route.region);
  return status.ok() ? JsonReply("") : ErrorReply(status);
}

}  // namespace tern::server
