#include "server/backend/engine.h"

#include "server/backend/engine_model.h"

namespace tern::server {
namespace {

void* Load(void*, const TernModelInfo* info, TernError* error) {
  auto model = Guard([&] { return EngineModel::Load(*info); });
  if (model.ok()) return model->release();
  Fail(model.status(), error);
  return nullptr;
}

void Unload(void* model) { delete static_cast<EngineModel*>(model); }

int32_t DescribeModel(void* model, const TernModelInfo* info, TernDescription* to, TernError* error) {
  const Status status = Guard([&] { return static_cast<EngineModel*>(model)->Describe(*info, to); });
  return status.ok() ? TERN_OK : Fail(status, error);
}

uint64_t MemoryBytes(void* model) {
  const MemoryReport memory = static_cast<EngineModel*>(model)->session->Memory();
  return memory.weights + memory.folded + memory.packed;
}

void Metrics(void* model, TernMetrics* to) {
  const Session& session = *static_cast<EngineModel*>(model)->session;
  Host().metric(to, "plans", session.PlansMade());
  Host().metric(to, "packed_bytes", static_cast<double>(session.Memory().packed));
}

void* CreateInstance(void* model, TernError* error) {
  auto instance = Guard([&]() -> Result<std::unique_ptr<EngineInstance>> {
    return std::make_unique<EngineInstance>(*static_cast<EngineModel*>(model));
  });
  if (instance.ok()) return instance->release();
  Fail(instance.status(), error);
  return nullptr;
}

void DestroyInstance(void* instance) { delete static_cast<EngineInstance*>(instance); }

int32_t RunBatch(void* instance, const TernBatch* batch, TernOutputs* outputs, TernError* error) {
  const Status status = Guard([&] { return static_cast<EngineInstance*>(instance)->Run(*batch, outputs); });
  return status.ok() ? TERN_OK : Fail(status, error);
}

}  // namespace

const TernBackend* EngineBackend() {
  static constexpr TernBackend backend{TERN_BACKEND_VERSION,
                                       sizeof(TernBackend),
                                       "tern",
                                       TERN_BACKEND_PARALLEL,
                                       nullptr,
                                       nullptr,
                                       Load,
                                       Unload,
                                       DescribeModel,
                                       MemoryBytes,
                                       Metrics,
                                       CreateInstance,
                                       DestroyInstance,
                                       RunBatch,
                                       nullptr,
                                       nullptr};
  return &backend;
}

}  // namespace tern::server
