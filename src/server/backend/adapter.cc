#include "server/backend/adapter.h"

#include "server/backend/model_info.h"
#include "server/backend/response.h"

namespace tern::server {
namespace {

Status Failure(TernError& error) {
  if (error.code == TERN_OK) error.code = TERN_INTERNAL;
  return StatusOf(error);
}

// The engine's model. Its instances share the ownership, so it is unloaded after the last instance is
// destroyed.
class Handle {
 public:
  Handle(std::shared_ptr<LoadedBackend> backend, void* model) : backend_(std::move(backend)), model_(model) {}
  ~Handle() { backend_->api().unload(model_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  const std::shared_ptr<LoadedBackend>& backend() const { return backend_; }
  const TernBackend& api() const { return backend_->api(); }
  void* get() const { return model_; }

 private:
  std::shared_ptr<LoadedBackend> backend_;
  void* model_;
};

class Instance : public BackendInstance {
 public:
  Instance(std::shared_ptr<Handle> model, void* instance) : model_(std::move(model)), instance_(instance) {}
  ~Instance() override { model_->api().destroy_instance(instance_); }

  Result<std::vector<WireTensor>> Run(Batch& batch) override {
    if (!model_->api().run) return Unsupported("the model answers single requests, not batches");
    inputs_.clear();
    names_.clear();
    for (const WireTensor& input : batch.inputs) inputs_.push_back(View(input));
    for (const std::string& name : batch.outputs) names_.push_back(name.c_str());
    TernRows rows{&batch, {}, {}};
    const TernBatch view{sizeof view,    batch.threads, inputs_.data(), names_.data(),
                         inputs_.size(), names_.size(), &batch.stop,    &rows};
    TernOutputs outputs;
    outputs.backend = model_->backend();
    outputs.config = batch.config;
    outputs.memory = batch.memory;
    TernError error;
    error.code = TERN_OK;
    error.message[0] = 0;
    if (model_->api().run(instance_, &view, &outputs, &error) != TERN_OK) return Failure(error);
    TERN_TRY(outputs.status);
    batch.again = std::move(outputs.again);
    return std::move(outputs.tensors);
  }

  void RunCall(const std::shared_ptr<Call>& call) override {
    if (model_->api().run_request)
      return model_->api().run_request(instance_, NewRequest(model_->backend(), call));
    Response response;
    response.status = Unsupported("the back end does not support decoupled responses");
    call->Respond(std::move(response));
  }

  void EndSequence(const std::string& id) override {
    if (model_->api().end_sequence) model_->api().end_sequence(instance_, id.c_str());
  }

 private:
  std::shared_ptr<Handle> model_;
  void* instance_;
  std::vector<TernTensor> inputs_;  // members only to reuse their memory in the next batch
  std::vector<const char*> names_;
};

class Model : public BackendModel {
 public:
  Model(std::shared_ptr<Handle> model, ModelFiles files)
      : model_(std::move(model)), files_(std::move(files)) {}

  Status Complete(ModelConfig& config) override {
    if (!model_->api().describe) return {};
    const ModelInfo info(files_, config);
    TernDescription description;
    TernError error{};
    if (model_->api().describe(model_->get(), info.get(), &description, &error) != TERN_OK)
      return Failure(error);
    return MergeDescription(description, config);
  }

  Result<std::unique_ptr<BackendInstance>> CreateInstance() override {
    TernError error{};
    void* instance = model_->api().create_instance(model_->get(), &error);
    if (!instance) return Failure(error);
    return std::unique_ptr<BackendInstance>(new Instance(model_, instance));
  }

  size_t MemoryBytes() const override {
    return model_->api().memory_bytes ? model_->api().memory_bytes(model_->get()) : 0;
  }
  bool Parallel() const override { return model_->api().flags & TERN_BACKEND_PARALLEL; }
  bool KeepsSequences() const override { return model_->api().end_sequence != nullptr; }
  bool RunsCalls() const override { return model_->api().run_request != nullptr; }

  std::vector<std::pair<std::string, double>> Metrics() const override {
    TernMetrics metrics;
    if (model_->api().metrics) model_->api().metrics(model_->get(), &metrics);
    return std::move(metrics.values);
  }

 private:
  std::shared_ptr<Handle> model_;
  ModelFiles files_;
};

class Adapter : public Backend {
 public:
  explicit Adapter(std::shared_ptr<LoadedBackend> loaded) : loaded_(std::move(loaded)) {}

  Result<std::unique_ptr<BackendModel>> Load(const ModelFiles& files, const ModelConfig& config) override {
    const ModelInfo info(files, config);
    TernError error{};
    void* model = loaded_->api().load(loaded_->handle(), info.get(), &error);
    if (!model) return Failure(error);
    return std::unique_ptr<BackendModel>(new Model(std::make_shared<Handle>(loaded_, model), files));
  }

 private:
  std::shared_ptr<LoadedBackend> loaded_;
};

}  // namespace

std::unique_ptr<BackendModel> AdaptModel(std::shared_ptr<LoadedBackend> loaded, void* model,
                                         const ModelFiles& files) {
  return std::make_unique<Model>(std::make_shared<Handle>(std::move(loaded), model), files);
}

std::shared_ptr<Backend> AdaptBackend(std::shared_ptr<LoadedBackend> loaded) {
  return std::make_shared<Adapter>(std::move(loaded));
}

}  // namespace tern::server
