// A predict, classify or regress request over HTTP.
#pragma once
#include <memory>

#include "server/core/model_version.h"
#include "server/http/route.h"

namespace tern::server {
class HttpCall;
class HttpConnection;
}  // namespace tern::server

namespace tern::server::tfs {

inline bool IsCall(RouteKind kind) {
  return kind == RouteKind::kTfsPredict || kind == RouteKind::kTfsClassify || kind == RouteKind::kTfsRegress;
}
// IsCall(kind) must be true.
std::shared_ptr<HttpCall> MakeHttpCall(RouteKind kind, HttpConnection& connection,
                                       std::shared_ptr<ModelVersion> version);

}  // namespace tern::server::tfs
