// Finds the operation that a request's target names.
#pragma once
#include <string>
#include <string_view>

#include "server/core/restrictions.h"
#include "server/http/request_head.h"

namespace tern::server {

enum class RouteKind {
  kNotFound,
  kBadTarget,  // malformed percent encoding
  kServerMetadata,
  kLive,
  kReady,
  kModelMetadata,
  kModelReady,
  kModelConfig,
  kModelStats,  // `model` is empty for all models
  kInfer,
  kGenerate,
  kGenerateStream,
  kTrace,  // `model` is empty for the server's settings
  kLogging,
  kIndex,
  kLoad,
  kUnload,
  kRollout,
  kSystemMemoryStatus,
  kSystemMemoryRegister,
  kSystemMemoryUnregister,
  kCudaMemoryStatus,
  kCudaMemoryRegister,
  kCudaMemoryUnregister,
  kMetrics,
  kOpenAiModels,
  kOpenAiCompletions,
  kOpenAiChat,
  kOpenAiEmbeddings,
  kTfsPredict,  // TensorFlow Serving
  kTfsClassify,
  kTfsRegress,
  kTfsStatus,
  kTfsMetadata,
};

// Names are percent-decoded.
struct Route {
  RouteKind kind = RouteKind::kNotFound;
  std::string model, version, label, region, repository;
};

// `base` is the prefix of all paths before /v2. It may be empty.
Route ParseRoute(std::string_view target, std::string_view base = {});
bool Allows(RouteKind kind, Method method);
const char* AllowedMethods(RouteKind kind);  // "GET, POST"
ApiGroup GroupOf(RouteKind kind);
// Returns whether the operation changes the server. Only clients that may change the server can use it.
bool Changes(RouteKind kind, Method method);
// Returns whether the operation concerns all models if it names none: it reports about all of them or changes
// them.
bool ConcernsAllModels(RouteKind kind);

// Returns false for a '%' without two hexadecimal digits.
bool PercentDecode(std::string_view text, std::string& out);

}  // namespace tern::server
