#include "pipeline/pipeline.h"

#include <filesystem>

#include "data/json_writer.h"
#include "generate/generate.h"

namespace tern::pipeline {

// A session that is returned to the pool when it is no longer used.
class Pipeline::Borrowed {
 public:
  explicit Borrowed(const Pipeline& pipeline) : pipeline_(pipeline) {
    const std::lock_guard lock(pipeline.mutex_);
    if (pipeline.idle_.empty()) {
      session_ = pipeline.first_->Clone();
      return;
    }
    session_ = std::move(pipeline.idle_.back());
    pipeline.idle_.pop_back();
  }
  ~Borrowed() {
    session_->SetStop({});
    const std::lock_guard lock(pipeline_.mutex_);
    pipeline_.idle_.push_back(std::move(session_));
  }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  Session& operator*() { return *session_; }

 private:
  const Pipeline& pipeline_;
  std::unique_ptr<Session> session_;
};

Result<std::shared_ptr<Pipeline>> Pipeline::Create(std::unique_ptr<Graph> graph, const Spec& spec,
                                                   const PipelineOptions& options) {
  InitGenerate();
  TERN_ASSIGN(std::shared_ptr<const Steps> steps, Steps::Create(spec, *graph));
  TERN_ASSIGN(std::unique_ptr<Session> session, Session::Create(std::move(graph), options.session));
  return std::shared_ptr<Pipeline>(new Pipeline(std::move(steps), std::move(session), options.most));
}

Result<Source> FindSource(const std::string& model, const std::string& file) {
  std::string path = file;
  if (path.empty()) {
    TERN_ASSIGN(Found found, LookForPipeline(model));
    if (found.file.empty()) return NotFound(found.reason);
    path = std::move(found.file);
  }
  Source out;
  TERN_ASSIGN(out.spec, ReadSpec(path));
  std::error_code error;
  const bool folder = !out.spec.model.empty() && std::filesystem::is_directory(model, error);
  out.model = folder ? (std::filesystem::path(model) / out.spec.model).string() : model;
  return out;
}

Result<std::shared_ptr<Pipeline>> Pipeline::Load(const std::string& model, const std::string& file,
                                                 const PipelineOptions& options) {
  InitGenerate();
  TERN_ASSIGN(const Source source, FindSource(model, file));
  TERN_ASSIGN(load::Loaded loaded, load::LoadFile(source.model, {.threads = options.session.threads}));
  TERN_ASSIGN(std::shared_ptr<Pipeline> out, Create(std::move(loaded.graph), source.spec, options));
  out->warnings_ = std::move(loaded.warnings);
  return out;
}

Result<NamedTensors> Pipeline::RunOnce(Session& session, const NamedTensors& inputs) const {
  NamedData data;
  for (const auto& [name, tensor] : inputs) data.emplace_back(name, Datum(tensor));
  TERN_ASSIGN(const DatumList outputs, session.Run(data));
  NamedTensors out;
  const auto& values = session.graph().outputs();
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].is_tensor())
      return Unsupported("output '", values[i]->name, "' is ", outputs[i].Describe(), ", not a tensor");
    out.emplace_back(values[i]->name, outputs[i].tensor);
  }
  return out;
}

Result<std::vector<Item>> Pipeline::Run(const std::vector<RawInput>& inputs, const Stop& stop) const {
  return Guard([&]() -> Result<std::vector<Item>> {
    TERN_ASSIGN(Work work, Work::Start(steps_, inputs, most_, stop));
    Borrowed session(*this);
    (*session).SetStop(stop);
    while (true) {
      TERN_ASSIGN(const NamedTensors feeds, work.Next());
      if (feeds.empty()) return work.Finish();
      TERN_ASSIGN(const NamedTensors outputs, RunOnce(*session, feeds));
      TERN_TRY(work.Take(outputs));
    }
  });
}

std::string ToJson(const std::vector<Item>& items) {
  data::JsonWriter json;
  json.BeginObject().Key("results").BeginArray();
  for (const Item& item : items) WriteItem(item, json);
  return json.EndArray().EndObject().Take();
}

}  // namespace tern::pipeline
