#include "server/backend/response.h"

#include <algorithm>
#include <cstring>

namespace tern::server {
namespace {

// Removes the outputs that the request does not ask for.
void Select(const Request& request, std::vector<WireTensor>& tensors) {
  if (request.outputs.empty()) return;
  std::erase_if(tensors, [&](const WireTensor& tensor) {
    return std::ranges::find(request.outputs, tensor.name, &RequestedOutput::name) == request.outputs.end();
  });
}

}  // namespace

std::string TextOf(const ParameterValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* number = std::get_if<int64_t>(&value)) return StrCat(*number);
  return StrCat(std::get<double>(value));
}

TernRequest* NewRequest(std::shared_ptr<LoadedBackend> backend, std::shared_ptr<Call> call) {
  auto request = std::make_unique<TernRequest>();
  for (const WireTensor& input : call->request.inputs) request->inputs.push_back(View(input));
  for (const auto& [name, value] : call->request.parameters)
    request->parameters.emplace_back(name, TextOf(value));
  request->backend = std::move(backend);
  request->call = std::move(call);
  return request.release();
}

const TernTensor* InputOf(const TernRequest* request, const char* name) {
  for (const TernTensor& input : request->inputs)
    if (!std::strcmp(input.name, name)) return &input;
  return nullptr;
}

const char* ParameterOf(const TernRequest* request, const char* name) {
  for (const auto& [key, value] : request->parameters)
    if (key == name) return value.c_str();
  return nullptr;
}

int32_t Cancelled(const TernRequest* request) {
  return request->call->cancelled() || request->call->finished();
}

TernOutputs* NewResponse(TernRequest* request) {
  auto response = std::make_unique<TernOutputs>();
  response->backend = request->backend;
  response->request = request;
  return response.release();
}

void SendResponse(TernOutputs* outputs, int32_t final) {
  const std::unique_ptr<TernOutputs> owned(outputs);
  const std::unique_ptr<TernRequest> ended(final ? outputs->request : nullptr);
  Call& call = *outputs->request->call;
  Response response;
  response.status = std::move(outputs->status);
  if (response.status.ok()) Select(call.request, outputs->tensors);
  response.final = final || !response.status.ok();
  if (response.status.ok()) response.outputs = std::move(outputs->tensors);
  call.Respond(std::move(response));
}

void FinishRequest(TernRequest* request, const TernError* error) {
  const std::unique_ptr<TernRequest> ended(request);
  Response response;
  if (error) response.status = StatusOf(*error);
  response.final = true;
  request->call->Respond(std::move(response));
}

}  // namespace tern::server
