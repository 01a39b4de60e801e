#include "server/dialects/tfs/run.h"

#include "server/dialects/tfs/results.h"
#include "server/dialects/tfs/split.h"
#include "server/scheduler/execution.h"

namespace tern::server::tfs {

Status ReadClassify(const Examples& examples, Run& run, Request& request) {
  TERN_ASSIGN(const ClassOutputs outputs, FindClassOutputs(*run.signature.config));
  for (const TensorConfig* output : {outputs.classes, outputs.scores})
    if (output) request.outputs.push_back({output->name, 0});
  run.items = static_cast<int64_t>(examples.items.size());
  return MakeInputs(*run.signature.config, examples, run.limit, request);
}

Status ReadRegress(const Examples& examples, Run& run, Request& request) {
  TERN_ASSIGN(const TensorConfig* output, FindRegressOutput(*run.signature.config));
  request.outputs.push_back({output->name, 0});
  run.items = static_cast<int64_t>(examples.items.size());
  return MakeInputs(*run.signature.config, examples, run.limit, request);
}

Status PrepareRun(Run& run, Request& request) {
  const ModelConfig& config = *run.signature.config;
  if (config.decoupled)
    return Unsupported("model '", config.name,
                       "' is decoupled: it answers a request with any number of responses, "
                       "which TensorFlow Serving's protocol does not have");
  request.signature = run.signature.key;
  FitInputs(config, request, run.fit);
  return {};
}

Result<std::vector<Request>> CutRun(const Run& run, Request request) {
  if (const int64_t items = ItemsPerPart(*run.signature.config, request)) return CutRequest(request, items);
  std::vector<Request> one;
  one.push_back(std::move(request));
  return one;
}

void SubmitRun(const Run& run, const std::shared_ptr<ModelVersion>& model,
               const std::shared_ptr<Call>& call) {
  if (ItemsPerPart(*run.signature.config, call->request) == 0) return model->Submit(call);
  auto requests = CutRun(run, call->request);
  if (!requests.ok()) return FailRun(requests.TakeStatus(), *model, *call);
  std::vector<Part> parts;
  for (Request& request : *requests) parts.push_back({model, std::move(request)});
  SubmitParts(call, std::move(parts), ConcatenateOutputs);
}

void FailRun(Status status, ModelVersion& model, Call& call) {
  SetTimes(call.times, Clock::now());
  model.statistics().AddFailure(call.times, call.request.arrived, FailReason::kOther);
  Response failed;
  failed.status = std::move(status);
  call.Respond(std::move(failed));
}

void FinishRun(const Run& run, Response& response) {
  for (WireTensor& output : response.outputs) FitOutput(*run.signature.config, run.fit, output);
}

}  // namespace tern::server::tfs
