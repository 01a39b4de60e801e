// A version of a model whose responses are cached.
#pragma once
#include <condition_variable>
#include <map>
#include <mutex>

#include "server/cache/response_cache.h"
#include "server/core/registry.h"
#include "server/scheduler/removable.h"

namespace tern::server {

// Thread-safe. Answers a request from the cache, or passes it on to the version and stores the response.
// Only successful responses are stored. A request whose response is found takes no place in the queue of the
// model, and is answered even if the model is overloaded.
class CachedModel final : public ModelVersion,
                          public Removable,
                          public std::enable_shared_from_this<CachedModel> {
 public:
  // `model` must have an identity. The steps of an ensemble are looked up in `models`. Fails if the model or
  // a step of an ensemble has sequences or decoupled responses, if the model generates text, or if a step is
  // an ensemble itself.
  static Result<std::shared_ptr<CachedModel>> Create(std::shared_ptr<ModelVersion> model,
                                                     std::shared_ptr<ResponseCache> cache,
                                                     const Registry& models);

  void Submit(std::shared_ptr<Call> call) override;
  const std::shared_ptr<ModelVersion>& model() const { return model_; }
  const std::vector<Signature>* signatures() const override { return model_->signatures(); }
  TextGenerator* generator() override { return model_->generator(); }
  bool Ready() const override { return model_->Ready(); }
  std::shared_ptr<const ModelProcess> process() const override { return model_->process(); }
  uint64_t Hangs() const override { return model_->Hangs(); }
  std::string StateNote() const override { return model_->StateNote(); }
  size_t MemoryBytes() const override { return model_->MemoryBytes(); }
  size_t Pending() const override { return model_->Pending(); }
  std::vector<std::pair<std::string, double>> Metrics() const override { return model_->Metrics(); }
  void Drain(std::chrono::milliseconds limit, bool refuse) override;
  bool Drained() const override;

 protected:
  void UseStatistics(const std::shared_ptr<ModelStatistics>& statistics) override;

 private:
  struct Search;
  CachedModel(std::shared_ptr<ModelVersion> model, std::shared_ptr<ResponseCache> cache,
              const Registry& models);

  // Returns the identities of the model and of the steps of an ensemble. Fails like Create.
  Result<std::vector<std::string>> Identities() const;
  void LookUp(const std::shared_ptr<Search>& search);
  void OnFound(const std::shared_ptr<Search>& search, ResponseCache::Response response);
  void Hit(Search& search, const CachedResponse& response);
  void Miss(Search& search);
  void Store(const CacheKey& key, const Response& response);
  void Refuse(Call& call, Status status, FailReason reason);
  // Makes Drain wait for a search that continues on another thread. Returns false if Drain refuses requests.
  bool Track(const std::shared_ptr<Search>& search);
  void Forget(const Search& search);

  const std::shared_ptr<ModelVersion> model_;
  const std::shared_ptr<ResponseCache> cache_;
  const Registry& models_;
  const bool reads_parameters_;
  mutable std::mutex mutex_;
  std::map<const Search*, std::shared_ptr<Search>> searches_;
  std::atomic<bool> draining_{false};
  std::condition_variable drained_;
};

}  // namespace tern::server
