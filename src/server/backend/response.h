// Functions of TernHost for run_request: reading a request, sending its responses.
#pragma once
#include "server/backend/host.h"

namespace tern::server {

// Passed to run_request, which owns it until its final response.
TernRequest* NewRequest(std::shared_ptr<LoadedBackend> backend, std::shared_ptr<Call> call);

const TernTensor* InputOf(const TernRequest* request, const char* name);
const char* ParameterOf(const TernRequest* request, const char* name);
int32_t Cancelled(const TernRequest* request);
TernOutputs* NewResponse(TernRequest* request);
void SendResponse(TernOutputs* response, int32_t final);
void FinishRequest(TernRequest* request, const TernError* error);

}  // namespace tern::server
