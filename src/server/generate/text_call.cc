// Requests of the v2 protocol to a model that generates text.
#include <cmath>
#include <cstring>
#include <random>

#include "server/generate/generator_model.h"
#include "server/pipeline/wire.h"
#include "server/scheduler/execution.h"

namespace tern::server {
namespace {

WireTensor TextOf(const std::string& text) {
  WireTensor out;
  out.name = kTextOutput;
  out.dtype = DType::kString;
  out.dims = {1};
  out.bytes = Buffer::Allocate(4 + text.size());
  const auto size = static_cast<uint32_t>(text.size());
  std::memcpy(out.bytes.data(), &size, 4);
  std::memcpy(out.bytes.data() + 4, text.data(), text.size());
  return out;
}

class CallSink final : public GenerationSink {
 public:
  CallSink(std::shared_ptr<Call> call, std::weak_ptr<Generation> generation, bool stream)
      : call_(std::move(call)), generation_(std::move(generation)), stream_(stream) {}

  void OnEvent(GenerationEvent event) override {
    text_ += event.text;
    Response response;
    response.final = event.last();
    if (!event.status.ok()) {
      response.status = std::move(event.status);
    } else {
      if (!stream_ && !response.final) return;
      if (!text_.empty() || !stream_) response.outputs.push_back(TextOf(std::exchange(text_, {})));
      if (event.finish != FinishReason::kNone)
        response.parameters.emplace_back(
            "finish_reason", std::string(event.finish == FinishReason::kStop ? "stop" : "length"));
    }
    if (response.final)
      if (const auto generation = generation_.lock()) call_->times = generation->times;
    call_->Respond(std::move(response));
  }

 private:
  const std::shared_ptr<Call> call_;
  const std::weak_ptr<Generation> generation_;
  const bool stream_;
  std::string text_;
};

Status Wrong(std::string_view name, std::string_view must) {
  return InvalidArgument("parameter '", name, "' must be ", must);
}

// Sets `out` if the request has the parameter.
Status ReadNumber(const Parameters& parameters, std::string_view name, double least, double most,
                  double& out) {
  const ParameterValue* value = FindParameter(parameters, name);
  if (!value) return {};
  if (const auto* integer = std::get_if<int64_t>(value))
    out = static_cast<double>(*integer);
  else if (const auto* real = std::get_if<double>(value))
    out = *real;
  else
    return Wrong(name, "a number");
  return out >= least && out <= most
             ? Status()
             : InvalidArgument("parameter '", name, "' is ", out, ", must be from ", least, " to ", most);
}

Status ReadInteger(const Parameters& parameters, std::string_view name, int64_t least, int64_t most,
                   int64_t& out) {
  const ParameterValue* value = FindParameter(parameters, name);
  if (!value) return {};
  const auto* integer = std::get_if<int64_t>(value);
  if (!integer) return Wrong(name, "an integer");
  out = *integer;
  return out >= least && out <= most
             ? Status()
             : InvalidArgument("parameter '", name, "' is ", out, ", must be from ", least, " to ", most);
}

Status ReadBool(const Parameters& parameters, std::string_view name, bool& out) {
  const ParameterValue* value = FindParameter(parameters, name);
  if (!value) return {};
  const auto* truth = std::get_if<bool>(value);
  if (!truth) return Wrong(name, "true or false");
  out = *truth;
  return {};
}

Status ReadSampling(const Parameters& parameters, SamplingOptions& s) {
  TERN_TRY(ReadNumber(parameters, "temperature", 0, 100, s.temperature));
  TERN_TRY(ReadNumber(parameters, "top_p", 0, 1, s.top_p));
  TERN_TRY(ReadInteger(parameters, "top_k", 0, INT64_MAX, s.top_k));
  TERN_TRY(ReadNumber(parameters, "presence_penalty", -2, 2, s.presence_penalty));
  TERN_TRY(ReadNumber(parameters, "frequency_penalty", -2, 2, s.frequency_penalty));
  TERN_TRY(ReadNumber(parameters, "repetition_penalty", 1e-3, 1e3, s.repetition_penalty));
  int64_t seed = static_cast<int64_t>(std::random_device()());
  TERN_TRY(ReadInteger(parameters, "seed", INT64_MIN, INT64_MAX, seed));
  s.seed = static_cast<uint64_t>(seed);
  return {};
}

Result<std::string> TextInput(const Request& request) {
  if (request.inputs.size() != 1 || request.inputs[0].name != kTextInput)
    return InvalidArgument("the request must have the input '", kTextInput, "' and no other");
  TERN_ASSIGN(const auto elements, ElementsOf(request.inputs[0]));
  if (elements.size() != 1)
    return InvalidArgument("input '", kTextInput, "' has ", elements.size(), " elements, must have one");
  return std::string(elements[0]);
}

}  // namespace

Status ReadTextCall(const std::shared_ptr<Call>& call, const GeneratorInfo& info, Generation& g) {
  const Request& request = call->request;
  for (const RequestedOutput& output : request.outputs)
    if (output.name != kTextOutput || output.classification > 0)
      return InvalidArgument("unexpected inference output '", output.name, "'; the output is '", kTextOutput,
                             "', without classification");
  TERN_ASSIGN(const std::string text, TextInput(request));
  TERN_ASSIGN(data::Encoding encoding, info.tokenizer->Encode(text));
  g.prompt = std::move(encoding.ids);
  g.arrived = request.arrived;
  SamplingOptions& s = g.options.sampling;
  s.temperature = info.defaults.temperature, s.top_p = info.defaults.top_p, s.top_k = info.defaults.top_k;
  s.repetition_penalty = info.defaults.repetition_penalty;
  TERN_TRY(ReadSampling(request.parameters, s));
  TERN_TRY(ReadInteger(request.parameters, "max_tokens", 1, INT32_MAX, g.options.max_tokens));
  TERN_TRY(ReadBool(request.parameters, "ignore_eos", g.options.ignore_eos));
  if (const ParameterValue* stop = FindParameter(request.parameters, "stop")) {
    const auto* stop_text = std::get_if<std::string>(stop);
    if (!stop_text || stop_text->empty()) return Wrong("stop", "a string that is not empty");
    g.options.stop = {*stop_text};
  }
  if (request.timeout.count() > 0) g.options.deadline = request.arrived + request.timeout;
  return {};
}

void GeneratorModel::Submit(std::shared_ptr<Call> call) {
  const auto generation = std::make_shared<Generation>();
  bool stream = false;
  Status status = Guard([&]() -> Status {
    TERN_TRY(ReadBool(call->request.parameters, "stream", stream));
    return ReadTextCall(call, info(), *generation);
  });
  if (status.ok()) {
    generation->sink = std::make_shared<CallSink>(call, generation, stream);
    call->OnCancel([generation] { generation->cancelled.store(true, std::memory_order_relaxed); });
    status = Generate({generation});
  }
  if (status.ok()) return;
  SetTimes(call->times, Clock::now());
  statistics().AddFailure(call->times, call->request.arrived, FailReason::kRejected);
  Response response;
  response.status = std::move(status);
  call->Respond(std::move(response));
}

}  // namespace tern::server
