#include "server/http/route.h"

#include "server/http/decimal.h"

namespace tern::server {
namespace {

// Reads the segments of a path one by one.
class Segments {
 public:
  explicit Segments(std::string_view path) : rest_(path) {}
  bool done() const { return rest_.empty(); }
  // Returns the next segment without decoding it. The path must have the form "/a/b".
  std::string_view Take() {
    if (rest_.empty() || rest_[0] != '/') return rest_ = {}, std::string_view();
    const size_t end = rest_.find('/', 1);
    const std::string_view segment = rest_.substr(1, end == rest_.npos ? end : end - 1);
    rest_ = end == rest_.npos ? std::string_view() : rest_.substr(end);
    return segment;
  }
  // Decodes the next segment. Returns false if it is empty or malformed.
  bool Take(std::string& name) { return Decode(Take(), name); }
  // Decodes a segment that was taken before.
  bool Decode(std::string_view segment, std::string& name) {
    if (!PercentDecode(segment, name)) bad_ = true;
    return !name.empty() && !bad_;
  }
  bool bad() const { return bad_; }

 private:
  std::string_view rest_;
  bool bad_ = false;
};

RouteKind ModelAction(Segments& path, bool has_version) {
  if (path.done()) return RouteKind::kModelMetadata;
  const std::string_view action = path.Take();
  if (action == "trace" && path.Take() == "setting" && path.done() && !has_version) return RouteKind::kTrace;
  if (!path.done()) return RouteKind::kNotFound;
  if (action == "infer") return RouteKind::kInfer;
  if (action == "ready") return RouteKind::kModelReady;
  if (action == "config") return RouteKind::kModelConfig;
  if (action == "stats") return RouteKind::kModelStats;
  if (action == "generate") return RouteKind::kGenerate;
  if (action == "generate_stream") return RouteKind::kGenerateStream;
  return RouteKind::kNotFound;
}

RouteKind ModelRoute(Segments& path, Route& route) {
  if (!path.Take(route.model)) return RouteKind::kNotFound;
  if (path.done() && route.model == "stats") {
    route.model.clear();
    return RouteKind::kModelStats;
  }
  Segments action = path;
  if (action.Take() != "versions") return ModelAction(path, false);
  if (!action.Take(route.version)) return path = action, RouteKind::kNotFound;
  path = action;
  return ModelAction(path, true);
}

RouteKind RepositoryRoute(Segments& path, Route& route) {
  std::string_view word = path.Take();
  // The path may contain the repository's name: /v2/repository/NAME/index, or /v2/repository/NAME/models/….
  if (!path.done() && word != "models") {
    PercentDecode(word, route.repository);
    word = path.Take();
  }
  if (word == "index") return path.done() ? RouteKind::kIndex : RouteKind::kNotFound;
  if (word != "models" || !path.Take(route.model)) return RouteKind::kNotFound;
  const std::string_view action = path.Take();
  if (!path.done()) return RouteKind::kNotFound;
  if (action == "rollout") return RouteKind::kRollout;
  return action == "load" ? RouteKind::kLoad : action == "unload" ? RouteKind::kUnload : RouteKind::kNotFound;
}

RouteKind MemoryRoute(Segments& path, bool cuda, Route& route) {
  std::string_view action = path.Take();
  if (action == "region" && !path.done()) {
    if (!path.Take(route.region)) return RouteKind::kNotFound;
    action = path.Take();
  }
  if (!path.done()) return RouteKind::kNotFound;
  if (action == "status") return cuda ? RouteKind::kCudaMemoryStatus : RouteKind::kSystemMemoryStatus;
  if (action == "register") return cuda ? RouteKind::kCudaMemoryRegister : RouteKind::kSystemMemoryRegister;
  if (action == "unregister")
    return cuda ? RouteKind::kCudaMemoryUnregister : RouteKind::kSystemMemoryUnregister;
  return RouteKind::kNotFound;
}

RouteKind HealthRoute(Segments& path) {
  const std::string_view word = path.Take();
  if (!path.done()) return RouteKind::kNotFound;
  return word == "live" ? RouteKind::kLive : word == "ready" ? RouteKind::kReady : RouteKind::kNotFound;
}

// OpenAI's API.
RouteKind OpenAiRoute(Segments path) {
  const std::string_view word = path.Take();
  if (word == "models" && path.done()) return RouteKind::kOpenAiModels;
  if (word == "embeddings" && path.done()) return RouteKind::kOpenAiEmbeddings;
  if (word == "completions" && path.done()) return RouteKind::kOpenAiCompletions;
  if (word == "chat" && path.Take() == "completions" && path.done()) return RouteKind::kOpenAiChat;
  return RouteKind::kNotFound;
}

// Takes the verb behind the last colon of a segment. A colon in a name is percent-encoded.
std::string_view TakeVerb(std::string_view& segment) {
  const size_t colon = segment.rfind(':');
  if (colon == segment.npos) return {};
  const std::string_view verb = segment.substr(colon + 1);
  segment = segment.substr(0, colon);
  return verb;
}

RouteKind TfsVerb(std::string_view verb) {
  return verb == "predict"    ? RouteKind::kTfsPredict
         : verb == "classify" ? RouteKind::kTfsClassify
         : verb == "regress"  ? RouteKind::kTfsRegress
                              : RouteKind::kNotFound;
}

// TensorFlow Serving: NAME[/versions/N|/labels/L][:predict|:classify|:regress|/metadata].
RouteKind TfsRoute(Segments& path, Route& route) {
  std::string_view segment = path.Take(), verb;
  if (path.done()) verb = TakeVerb(segment);
  if (!path.Decode(segment, route.model)) return RouteKind::kNotFound;
  if (!path.done()) {
    segment = path.Take();
    if (segment == "metadata" && path.done()) return RouteKind::kTfsMetadata;
    std::string& place = segment == "versions" ? route.version : route.label;
    if (segment != "versions" && segment != "labels") return RouteKind::kNotFound;
    segment = path.Take();
    if (path.done()) verb = TakeVerb(segment);
    if (!path.Decode(segment, place)) return RouteKind::kNotFound;
    if (!path.done())
      return path.Take() == "metadata" && path.done() ? RouteKind::kTfsMetadata : RouteKind::kNotFound;
  }
  return verb.data() ? TfsVerb(verb) : RouteKind::kTfsStatus;
}

RouteKind RootRoute(Segments& path, Route& route) {
  std::string_view word = path.Take();
  if (word == "v1") {
    const Segments openai = path;
    return path.Take() == "models" && !path.done() ? TfsRoute(path, route) : OpenAiRoute(openai);
  }
  if (word == "monitoring")  // TensorFlow Serving's path
    word = path.Take() == "prometheus" && path.Take() == "metrics" ? "metrics" : "";
  if (word == "metrics") {
    const bool end = path.done() || (path.Take().empty() && path.done());
    return end ? RouteKind::kMetrics : RouteKind::kNotFound;
  }
  if (word != "v2") return RouteKind::kNotFound;
  if (path.done()) return RouteKind::kServerMetadata;
  word = path.Take();
  if (word == "models") return ModelRoute(path, route);
  if (word == "health") return HealthRoute(path);
  if (word == "repository") return RepositoryRoute(path, route);
  if (word == "systemsharedmemory") return MemoryRoute(path, false, route);
  if (word == "cudasharedmemory") return MemoryRoute(path, true, route);
  if (word == "trace" && path.Take() == "setting" && path.done()) return RouteKind::kTrace;
  if (word == "logging" && path.done()) return RouteKind::kLogging;
  return RouteKind::kNotFound;
}

}  // namespace

bool PercentDecode(std::string_view text, std::string& out) {
  out.clear();
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (text.size() - i < 3) return false;
    const int high = HexDigit(text[i + 1]), low = HexDigit(text[i + 2]);
    if (high < 0 || low < 0) return false;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return true;
}

Route ParseRoute(std::string_view target, std::string_view base) {
  Route route;
  // Proxies send a target in absolute form, such as "http://host/v2".
  if (target.starts_with("http://") || target.starts_with("https://")) {
    const size_t path = target.find('/', target.find("//") + 2);
    target = path == target.npos ? "/" : target.substr(path);
  }
  target = target.substr(0, target.find_first_of("?#"));
  if (!target.starts_with(base)) return route;
  Segments path(target.substr(base.size()));
  route.kind = RootRoute(path, route);
  if (path.bad()) route.kind = RouteKind::kBadTarget;
  return route;
}

const char* AllowedMethods(RouteKind kind) {
  switch (kind) {
    case RouteKind::kInfer:
    case RouteKind::kGenerate:
    case RouteKind::kGenerateStream:
    case RouteKind::kOpenAiCompletions:
    case RouteKind::kOpenAiChat:
    case RouteKind::kOpenAiEmbeddings:
    case RouteKind::kTfsPredict:
    case RouteKind::kTfsClassify:
    case RouteKind::kTfsRegress:
    case RouteKind::kIndex:
    case RouteKind::kLoad:
    case RouteKind::kUnload:
    case RouteKind::kSystemMemoryRegister:
    case RouteKind::kSystemMemoryUnregister:
    case RouteKind::kCudaMemoryRegister:
    case RouteKind::kCudaMemoryUnregister:
      return "POST";
    case RouteKind::kTrace:
    case RouteKind::kLogging:
    case RouteKind::kRollout:
      return "GET, POST";
    default:
      return "GET";
  }
}

ApiGroup GroupOf(RouteKind kind) {
  switch (kind) {
    case RouteKind::kLive:
    case RouteKind::kReady:
    case RouteKind::kModelReady:
    case RouteKind::kTfsStatus:
      return ApiGroup::kHealth;
    case RouteKind::kServerMetadata:
    case RouteKind::kModelMetadata:
    case RouteKind::kOpenAiModels:
    case RouteKind::kTfsMetadata:
      return ApiGroup::kMetadata;
    case RouteKind::kInfer:
    case RouteKind::kGenerate:
    case RouteKind::kGenerateStream:
    case RouteKind::kOpenAiCompletions:
    case RouteKind::kOpenAiChat:
    case RouteKind::kOpenAiEmbeddings:
    case RouteKind::kTfsPredict:
    case RouteKind::kTfsClassify:
    case RouteKind::kTfsRegress:
      return ApiGroup::kInference;
    case RouteKind::kModelConfig:
      return ApiGroup::kModelConfig;
    case RouteKind::kModelStats:
      return ApiGroup::kStatistics;
    case RouteKind::kTrace:
      return ApiGroup::kTrace;
    case RouteKind::kLogging:
      return ApiGroup::kLogging;
    case RouteKind::kIndex:
    case RouteKind::kLoad:
    case RouteKind::kUnload:
    case RouteKind::kRollout:
      return ApiGroup::kModelRepository;
    case RouteKind::kSystemMemoryStatus:
    case RouteKind::kSystemMemoryRegister:
    case RouteKind::kSystemMemoryUnregister:
    case RouteKind::kCudaMemoryStatus:
    case RouteKind::kCudaMemoryRegister:
    case RouteKind::kCudaMemoryUnregister:
      return ApiGroup::kSharedMemory;
    case RouteKind::kMetrics:
      return ApiGroup::kMetrics;
    default:
      return ApiGroup::kNone;
  }
}

bool Changes(RouteKind kind, Method method) {
  const bool reads = method == Method::kGet || method == Method::kHead;
  switch (kind) {
    case RouteKind::kTrace:
    case RouteKind::kLogging:
    case RouteKind::kRollout:
      return !reads;
    case RouteKind::kNotFound:
    case RouteKind::kBadTarget:
    case RouteKind::kServerMetadata:
    case RouteKind::kLive:
    case RouteKind::kReady:
    case RouteKind::kModelMetadata:
    case RouteKind::kModelReady:
    case RouteKind::kModelConfig:
    case RouteKind::kModelStats:
    case RouteKind::kInfer:
    case RouteKind::kGenerate:
    case RouteKind::kGenerateStream:
    case RouteKind::kIndex:
    case RouteKind::kSystemMemoryStatus:
    case RouteKind::kCudaMemoryStatus:
    case RouteKind::kMetrics:
    case RouteKind::kOpenAiModels:
    case RouteKind::kOpenAiCompletions:
    case RouteKind::kOpenAiChat:
    case RouteKind::kOpenAiEmbeddings:
    case RouteKind::kTfsPredict:
    case RouteKind::kTfsClassify:
    case RouteKind::kTfsRegress:
    case RouteKind::kTfsStatus:
    case RouteKind::kTfsMetadata:
      return false;
    default:
      return true;
  }
}

bool ConcernsAllModels(RouteKind kind) {
  switch (kind) {
    case RouteKind::kModelStats:
    case RouteKind::kTrace:
    case RouteKind::kLogging:
    case RouteKind::kIndex:
    case RouteKind::kMetrics:
    case RouteKind::kOpenAiModels:
      return true;
    default:
      return false;
  }
}

bool Allows(RouteKind kind, Method method) {
  const std::string_view allowed = AllowedMethods(kind);
  return ((method == Method::kGet || method == Method::kHead) && allowed.find("GET") != allowed.npos) ||
         (method == Method::kPost && allowed.find("POST") != allowed.npos);
}

}  // namespace tern::server
