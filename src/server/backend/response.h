// Functions of TernHost for run_request. They read a request and send its responses.
#pragma once
#include "server/backend/host.h"

namespace tern::server {

// Makes the request that is passed to run_request. The engine owns it until it sends the final response.
TernRequest* NewRequest(std::shared_ptr<LoadedBackend> backend, std::shared_ptr<Call> call);

std::string TextOf(const ParameterValue& value);

const TernTensor* InputOf(const TernRequest* request, const char* name);
const char* ParameterOf(const TernRequest* request, const char* name);
int32_t Cancelled(const TernRequest* request);
TernOutputs* NewResponse(TernRequest* request);
void SendResponse(TernOutputs* response, int32_t final);
void FinishRequest(TernRequest* request, const TernError* error);

}  // namespace tern::server
