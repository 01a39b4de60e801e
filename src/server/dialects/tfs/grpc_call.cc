#include "server/dialects/tfs/grpc_call.h"

#include <algorithm>

#include "server/dialects/tfs/grpc_request.h"
#include "server/dialects/tfs/grpc_response.h"
#include "server/dialects/tfs/run.h"
#include "server/dialects/tfs/split.h"
#include "server/grpc/grpc_connection.h"
#include "server/grpc/infer_call.h"

namespace tern::server::tfs {
namespace {

// Longer messages are read on another thread.
constexpr size_t kMaxLoopMessage = size_t{256} << 10;
constexpr uint64_t kMaxLoopTensors = uint64_t{1} << 20;  // bytes of the tensors of a message

class TfsCall final : public InferCall {
 public:
  TfsCall(GrpcMethod method, GrpcStream& stream)
      : InferCall(stream.connection().replies(), stream.id(), 0, false), method_(method) {}

 protected:
  RequestNames Peek(const Buffer& message) override {
    peeked_ = PeekSpec(method_, message);
    if (!peeked_.label.empty()) return {};
    return {peeked_.model, peeked_.version, {}};
  }
  bool TakesLong(const Buffer& message) override {
    return message.size() > kMaxLoopMessage || StandsForMore(method_, message, kMaxLoopTensors);
  }

  Status Decode(const Buffer& message, const InferParseOptions& options, InferMessage& parsed) override {
    limit_ = options.bytes;
    const Status status = ReadGrpcRequest(method_, message, options, read_, parsed);
    if (!read_.tasks.empty()) {
      parsed.model = read_.tasks[0].spec.model;
      parsed.version = read_.tasks[0].spec.version;
    }
    return status;
  }

  Result<std::shared_ptr<ModelVersion>> FindModel(const Registry& models) const override {
    return FindVersion(models, read_.tasks.empty() ? peeked_ : read_.tasks[0].spec);
  }

  Status Complete(const ModelVersion& version, uint64_t& converted) override {
    for (const Task& task : read_.tasks) {
      Run& run = runs_.emplace_back();
      run.limit = limit_ / read_.tasks.size();
      TERN_ASSIGN(run.signature, ChooseSignature(version, task.spec.signature));
      Request& own = method_ == GrpcMethod::kMultiInference ? requests_.emplace_back(request) : request;
      if (method_ == GrpcMethod::kPredict)
        TERN_TRY(CheckAliases(*run.signature.config));
      else
        TERN_TRY(Classifies(task) ? ReadClassify(read_.examples, run, own)
                                  : ReadRegress(read_.examples, run, own));
      if (method_ != GrpcMethod::kPredict)
        for (const WireTensor& input : own.inputs) converted += input.bytes.size();
      TERN_TRY(PrepareRun(run, own));
    }
    return {};
  }

  void SubmitTo(const std::shared_ptr<ModelVersion>& version) override {
    if (method_ != GrpcMethod::kMultiInference) return SubmitRun(runs_[0], version, shared_from_this());
    SubmitTasks(version);
  }

  Result<OutMessage> Encode(Response& response) const override {
    if (method_ == GrpcMethod::kMultiInference) return EncodeTasks(results_);
    FinishRun(runs_[0], response);
    if (method_ == GrpcMethod::kPredict) return EncodePrediction(Answered(0), response.outputs);
    TERN_ASSIGN(const std::string result, ResultOf(0, response));
    return EncodeResult(Answered(0), result);
  }

 private:
  bool Classifies(const Task& task) const {
    return method_ == GrpcMethod::kClassify || task.method == kClassifyMethod;
  }

  AnsweredBy Answered(size_t task) const {
    return {model()->config().name, model()->version(), runs_[task].signature.name};
  }

  Result<std::string> ResultOf(size_t task, const Response& response) const {
    const ModelConfig& config = *runs_[task].signature.config;
    if (Classifies(read_.tasks[task])) {
      TERN_ASSIGN(const auto classes, MakeClasses(config, response, runs_[task].items));
      return SerializeClasses(classes);
    }
    TERN_ASSIGN(const auto values, MakeRegressions(config, response, runs_[task].items));
    return SerializeRegressions(values);
  }

  static std::string NamesOf(const std::vector<TensorConfig>& tensors) {
    std::vector<std::string> names;
    for (const TensorConfig& tensor : tensors) names.push_back(tensor.name);
    std::sort(names.begin(), names.end());
    return Join(names, ",");
  }

  // The messages are TensorFlow Serving's.
  Status CheckAliases(const ModelConfig& config) const {
    for (const WireTensor& input : request.inputs)
      if (!config.FindInput(input.name))
        return InvalidArgument("input tensor alias not found in signature: ", input.name,
                               ". Inputs expected to be in the set {", NamesOf(config.inputs), "}.");
    for (const RequestedOutput& output : request.outputs)
      if (!config.FindOutput(output.name))
        return InvalidArgument("output tensor alias not found in signature: ", output.name,
                               " Outputs expected to be in the set {", NamesOf(config.outputs), "}.");
    return {};
  }

  // Each task is a request of its own.
  void SubmitTasks(const std::shared_ptr<ModelVersion>& version) {
    std::vector<Part> parts;
    std::vector<size_t> counts;
    for (size_t i = 0; i < runs_.size(); ++i) {
      auto cut = CutRun(runs_[i], std::move(requests_[i]));
      if (!cut.ok()) return FailRun(cut.TakeStatus(), *version, *this);
      counts.push_back(cut->size());
      for (Request& own : *cut) parts.push_back({version, std::move(own)});
    }
    // The group of the parts owns this call.
    SubmitParts(shared_from_this(), std::move(parts), [this, counts](std::vector<Response> responses) {
      Response done;
      done.status = TakeResults(counts, responses);
      return done;
    });
  }

  Status TakeResults(const std::vector<size_t>& counts, std::vector<Response>& responses) {
    auto next = responses.begin();
    for (size_t i = 0; i < counts.size(); ++i) {
      const auto end = next + static_cast<std::ptrdiff_t>(counts[i]);
      Response joined = ConcatenateOutputs({std::make_move_iterator(next), std::make_move_iterator(end)});
      next = end;
      TERN_TRY(std::move(joined.status));
      FinishRun(runs_[i], joined);
      TERN_ASSIGN(std::string result, ResultOf(i, joined));
      results_.push_back({Answered(i), Classifies(read_.tasks[i]), std::move(result)});
    }
    return {};
  }

  const GrpcMethod method_;
  uint64_t limit_ = 0;  // bytes of a request
  ModelSpec peeked_;
  GrpcRequest read_;
  std::vector<Run> runs_;          // one per task
  std::vector<Request> requests_;  // of MultiInference, until they are submitted
  std::vector<TaskResult> results_;
};

std::unique_ptr<Rpc> MakeRpc(GrpcMethod method, GrpcStream& stream) {
  return MakeCallRpc(stream, std::make_shared<TfsCall>(method, stream));
}

}  // namespace

std::unique_ptr<Rpc> MakePredictRpc(GrpcStream& stream, const RpcMethod&) {
  return MakeRpc(GrpcMethod::kPredict, stream);
}
std::unique_ptr<Rpc> MakeClassifyRpc(GrpcStream& stream, const RpcMethod&) {
  return MakeRpc(GrpcMethod::kClassify, stream);
}
std::unique_ptr<Rpc> MakeRegressRpc(GrpcStream& stream, const RpcMethod&) {
  return MakeRpc(GrpcMethod::kRegress, stream);
}
std::unique_ptr<Rpc> MakeMultiInferenceRpc(GrpcStream& stream, const RpcMethod&) {
  return MakeRpc(GrpcMethod::kMultiInference, stream);
}

}  // namespace tern::server::tfs
