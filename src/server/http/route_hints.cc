#include "server/http/route_hints.h"

#include "base/strings.h"

namespace tern::server {
namespace {

struct HintedRequest {
  const char* method;
  const char* path;
  const char* what;
};

struct HintRow {
  std::string_view prefix;  // of paths without the base
  HintedRequest requests[3];
};

// The first row whose prefix matches is used, so longer prefixes come first.
constexpr HintRow kHintRows[] = {
    {"/v2/models",
     {{"POST", "/v2/repository/index", "lists the models"},
      {"GET", "/v2/models/NAME", "describes a model"},
      {"POST", "/v2/models/NAME/infer", "runs it"}}},
    {"/v2/health",
     {{"GET", "/v2/health/live", "tells whether the server runs"},
      {"GET", "/v2/health/ready", "tells whether it takes requests"},
      {"GET", "/v2/models/NAME/ready", "tells whether a model is loaded"}}},
    {"/v2/repository",
     {{"POST", "/v2/repository/index", "lists the models"},
      {"POST", "/v2/repository/models/NAME/load", "loads a model"},
      {"POST", "/v2/repository/models/NAME/unload", "unloads it"}}},
    {"/v1/models/",
     {{"GET", "/v1/models/NAME", "tells the states of a model's versions"},
      {"GET", "/v1/models/NAME/metadata", "tells its signatures"},
      {"POST", "/v1/models/NAME:predict", "runs it"}}},
    {"/v1",
     {{"GET", "/v1/models", "lists the models"},
      {"POST", "/v1/chat/completions", "answers a conversation"},
      {"POST", "/v1/models/NAME:predict", "runs a model"}}},
    {"",
     {{"GET", "/v2/health/ready", "tells whether the server takes requests"},
      {"POST", "/v2/repository/index", "lists the models"},
      {"POST", "/v2/models/NAME/infer", "runs a model"}}},
};

}  // namespace

std::string NotFoundText(std::string_view target, std::string_view base) {
  const std::string_view path = target.starts_with(base) ? target.substr(base.size()) : target;
  std::string text = "Not Found";
  for (const HintRow& row : kHintRows) {
    if (!path.starts_with(row.prefix)) continue;
    const char* separator = "; ";
    for (const HintedRequest& request : row.requests) {
      text += StrCat(separator, request.method, " ", base, request.path, " ", request.what);
      separator = ", ";
    }
    break;
  }
  return text;
}

std::string NoMetricsText() { return "Not Found; this port serves only GET /metrics"; }

std::string MetricsElsewhereText() {
  return "Not Found; metrics are on the metrics port (--metrics-port), and on this port with --http-metrics";
}

std::string WrongMethodText(RouteKind kind) {
  return StrCat("Method Not Allowed; the method of this path is ", AllowedMethods(kind));
}

}  // namespace tern::server
