#include "server/cache/cached_model.h"

#include "server/backend/backends.h"
#include "server/core/injected_delay.h"
#include "server/scheduler/execution.h"

namespace tern::server {
namespace {

// A thread that serves connections hashes and copies at most this many bytes.
constexpr size_t kMaxBytesAtOnce = size_t{256} << 10;

size_t InputBytes(const Request& request) {
  size_t sum = 0;
  for (const WireTensor& input : request.inputs) sum += input.bytes.size();
  return sum;
}

// The built-in engine and pipelines do not read parameters. The steps of an ensemble may.
bool ReadsParameters(const ModelConfig& config) {
  return !config.ensemble.empty() || !IsBuiltIn(config.backend);
}

}  // namespace

// A request whose response is searched in the cache.
struct CachedModel::Search {
  std::shared_ptr<Call> call;
  std::vector<std::string> identities;
  CacheKey key;
  Clock::time_point begin;
  // One thread answers the request or submits it: the one that finds the result, cancels or drains.
  std::atomic<bool> claimed{false};
  bool tracked = false;
  bool Claim() { return !claimed.exchange(true); }
};

CachedModel::CachedModel(std::shared_ptr<ModelVersion> model, std::shared_ptr<ResponseCache> cache,
                         const Registry& models)
    : ModelVersion(model->config(), model->version()),
      model_(std::move(model)),
      cache_(std::move(cache)),
      models_(models),
      reads_parameters_(ReadsParameters(config())) {
  ShareStatistics(*model_);
  SetIdentity(model_->identity());
  SetGoldenRequests(model_->golden_requests());
}

// The version and the cache count in the same statistics.
void CachedModel::UseStatistics(const std::shared_ptr<ModelStatistics>& statistics) {
  ModelVersion::UseStatistics(statistics);
  if (&model_->statistics() != statistics.get()) model_->ShareStatistics(*this);
}

Result<std::shared_ptr<CachedModel>> CachedModel::Create(std::shared_ptr<ModelVersion> model,
                                                         std::shared_ptr<ResponseCache> cache,
                                                         const Registry& models) {
  const ModelConfig& config = model->config();
  if (config.sequence || config.decoupled || model->generator())
    return InvalidArgument(
        "model '", config.name,
        "' cannot use response_cache, because models with sequences, decoupled responses or "
        "generated text are not cached");
  std::shared_ptr<CachedModel> cached(new CachedModel(std::move(model), std::move(cache), models));
  // A step whose responses cannot be cached now, as during a rollout, turns the cache off meanwhile.
  const Status usable = cached->Identities().TakeStatus();
  if (!usable.ok() && usable.code() != Code::kUnavailable) return usable;
  return cached;
}

Result<std::vector<std::string>> CachedModel::Identities() const {
  std::vector<std::string> identities{identity()};
  for (const EnsembleStep& step : config().ensemble) {
    TERN_ASSIGN(const auto version, models_.Find(step.model, step.version));
    const ModelConfig& of = version->config();
    const char* reason = of.sequence            ? "has sequence_batching"
                         : of.decoupled         ? "has decoupled responses"
                         : !of.ensemble.empty() ? "is an ensemble itself"
                                                : nullptr;
    if (reason)
      return InvalidArgument("model '", config().name, "' cannot use response_cache, because its step '",
                             step.model, "' ", reason);
    if (version->identity().empty())
      return Unavailable("model '", config().name, "': the step '", step.model, "' has no identity");
    identities.push_back(version->identity());
  }
  return identities;
}

void CachedModel::Submit(std::shared_ptr<Call> call) {
  const auto search = std::make_shared<Search>();
  search->begin = Clock::now();
  if (draining_.load(std::memory_order_acquire)) {
    SetTimes(call->times, search->begin);
    return Refuse(*call,
                  Unavailable("Request for unknown model: '", config().name, "' version ", version(),
                              " is not at ready state"),
                  FailReason::kRejected);
  }
  if (call->request.copy) return model_->Submit(std::move(call));
  auto identities = Identities();
  // A step of the ensemble is gone, or has become one whose responses are not cached.
  if (!identities.ok()) return model_->Submit(std::move(call));
  search->identities = std::move(*identities);
  search->call = std::move(call);
  if (InputBytes(search->call->request) <= kMaxBytesAtOnce) return LookUp(search);
  if (!Track(search)) return OnFound(search, nullptr);
  const auto look_up = [self = shared_from_this(), search] {
    const Status status = Guard([&]() -> Status {
      self->LookUp(search);
      return {};
    });
    if (!status.ok()) self->OnFound(search, nullptr);
  };
  if (!cache_->workers().Post(look_up)) look_up();
}

void CachedModel::LookUp(const std::shared_ptr<Search>& search) {
  std::string identity;
  for (const std::string& part : search->identities) (identity += part) += '\n';
  search->key = KeyOf(identity, reads_parameters_, search->call->request);
  InjectDelay(Phase::kCache);
  if (const auto found = cache_->FindNow(search->key)) return OnFound(search, found);
  if (!cache_->shared()) return OnFound(search, nullptr);
  if (!search->tracked && !Track(search)) return OnFound(search, nullptr);
  search->call->OnCancel([weak = weak_from_this(), search] {
    const auto self = weak.lock();
    if (!self || !search->Claim()) return;
    self->Refuse(*search->call, Status(Code::kCancelled, "the request was cancelled"),
                 FailReason::kCancelled);
    self->Forget(*search);
  });
  const auto on_found = [self = shared_from_this(), search](ResponseCache::Response response) {
    self->OnFound(search, std::move(response));
  };
  if (!cache_->FindLater(search->key, on_found)) OnFound(search, nullptr);
}

void CachedModel::OnFound(const std::shared_ptr<Search>& search, ResponseCache::Response response) {
  if (!search->Claim()) return;
  if (search->tracked) search->call->OnCancel({});
  if (response)
    Hit(*search, *response);
  else
    Miss(*search);
  if (search->tracked) Forget(*search);
}

void CachedModel::Hit(Search& search, const CachedResponse& response) {
  Call& call = *search.call;
  Response copy = response.ToResponse();
  call.times.cache = Clock::now() - search.begin;
  SetTimes(call.times, search.begin + call.times.cache);
  statistics().AddCacheHit(call.times, call.request.arrived);
  call.Respond(std::move(copy));
}

void CachedModel::Miss(Search& search) {
  search.call->times.cache = Clock::now() - search.begin;
  statistics().AddCacheMiss(search.call->times.cache, 1);
  // The call outlives its taps.
  search.call->Tap([self = shared_from_this(), call = search.call.get(), key = search.key,
                    identities = std::move(search.identities),
                    several = false](const Response& response) mutable {
    several |= !response.final;
    if (several || !response.status.ok()) return;
    // Meanwhile, another version of a step may have replaced the one in the key.
    const std::vector<std::string> steps(identities.begin() + 1, identities.end());
    if (call->step_identities == steps) self->Store(key, response);
  });
  model_->Submit(search.call);
}

void CachedModel::Store(const CacheKey& key, const Response& response) {
  const auto store = [self = shared_from_this(), key](const Response& from) {
    const Clock::time_point begin = Clock::now();
    (void)Guard([&]() -> Status {
      self->cache_->Insert(key, Freeze(from));
      return {};
    }).ok();
    self->statistics().AddCacheMiss(Clock::now() - begin, 0);
  };
  if (PayloadBytes(response) <= kMaxBytesAtOnce) return store(response);
  // The copy shares the bytes. If too many wait, the response is not stored.
  (void)cache_->workers().Post([store, from = response] { store(from); });
}

void CachedModel::Refuse(Call& call, Status status, FailReason reason) {
  call.times.cache = {};
  SetTimes(call.times, Clock::now());
  statistics().AddFailure(call.times, call.request.arrived, reason);
  Response response;
  response.status = std::move(status);
  call.Respond(std::move(response));
}

bool CachedModel::Track(const std::shared_ptr<Search>& search) {
  const std::lock_guard lock(mutex_);
  if (draining_.load(std::memory_order_acquire)) return false;
  search->tracked = true;
  searches_.emplace(search.get(), search);
  return true;
}

void CachedModel::Forget(const Search& search) {
  std::shared_ptr<Search> owned;  // released without the lock
  const std::lock_guard lock(mutex_);
  const auto found = searches_.find(&search);
  if (found == searches_.end()) return;
  owned.swap(found->second);
  searches_.erase(found);
  if (searches_.empty()) drained_.notify_all();
}

bool CachedModel::Drained() const {
  {
    const std::lock_guard lock(mutex_);
    if (!searches_.empty()) return false;
  }
  const auto* removable = dynamic_cast<const Removable*>(model_.get());
  return !removable || removable->Drained();
}

void CachedModel::Drain(std::chrono::milliseconds limit, bool refuse) {
  const auto deadline =
      Clock::now() + std::clamp(limit, std::chrono::milliseconds(0), std::chrono::milliseconds(86'400'000));
  if (refuse) draining_.store(true, std::memory_order_release);
  std::vector<std::shared_ptr<Search>> left;
  {
    std::unique_lock lock(mutex_);
    if (!drained_.wait_until(lock, deadline, [this] { return searches_.empty(); }))
      for (const auto& [key, search] : searches_) left.push_back(search);
  }
  for (const auto& search : left) {
    if (!search->Claim()) continue;
    Refuse(*search->call, Unavailable("the version is being unloaded"), FailReason::kOther);
    Forget(*search);
  }
  if (auto* removable = dynamic_cast<Removable*>(model_.get()))
    removable->Drain(std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()), refuse);
}

}  // namespace tern::server
