#include "server/load/load.h"

#include "server/load/payload.h"
#include "server/load/step.h"

namespace tern::server {

using namespace loadgen;  // NOLINT

Result<LoadReport> RunLoad(const LoadCommand& command) {
  TERN_ASSIGN(Url url, ParseUrl(command.url, command.grpc ? 8001 : 8000));
  if (url.tls) return Unsupported("'", command.url, "': TLS is not supported here; use http://");
  url.token = command.token;
  TERN_ASSIGN(const ModelFacts facts, ReadModelFacts(url, command));
  TERN_ASSIGN(const std::vector<InputTensor> inputs, MakeInputs(facts, command));
  std::unique_ptr<SharedInputs> shared;
  if (command.shared_memory) {
    TERN_ASSIGN(shared, SharedInputs::Create(url, command, inputs));
  }
  const RequestBytes request = InferRequest(url, command, inputs, shared.get());
  LoadReport report{StrCat(url.host, ":", url.port),
                    command.model,
                    command.grpc ? "grpc" : "http",
                    request.bytes.size(),
                    {}};
  for (const double rate : command.rates.empty() ? std::vector<double>{0} : command.rates) {
    TERN_ASSIGN(LoadStep step, RunStep(command, url, request, rate));
    report.steps.push_back(std::move(step));
    if (command.stop && command.stop()) break;
  }
  return report;
}

}  // namespace tern::server
