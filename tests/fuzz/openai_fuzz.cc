// Parses the bodies of requests of OpenAI's API.
#include <cstdlib>
#include <string_view>

#include "entry.h"
#include "server/dialects/openai/completion_request.h"

using namespace tern;
using namespace tern::server;

namespace {

void Check(const RequestFault& fault) {
  if (fault.status.code() == Code::kInternal) std::abort();
}

}  // namespace

int TERN_FUZZ_ENTRY(const uint8_t* bytes, size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(bytes), size);
  for (const bool chat : {false, true}) {
    CompletionRequest request;
    const RequestFault fault = ReadCompletionRequest(body, chat, 100, request);
    Check(fault);
    if (!fault.status.ok()) continue;
    if (request.model.empty() || request.n < 1 ||
        (chat ? !request.messages.is_list() : request.prompts.empty()))
      std::abort();
  }
  EmbeddingRequest embedding;
  const RequestFault fault = ReadEmbeddingRequest(body, 100, embedding);
  Check(fault);
  if (fault.status.ok() && embedding.inputs.empty()) std::abort();
  return 0;
}
