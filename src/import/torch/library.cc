// The entry point of libtern_torch.so, which reads programs of torch.export and TorchScript models.
#include "import/torch/export/program.h"
#include "import/torch/operators.h"
#include "import/torch/script/script.h"
#include "load/importer.h"
#include "ops/ops.h"

namespace tern::torch {

static Result<std::unique_ptr<Graph>> Read(const load::Source& source, load::ReadContext& context) {
  InitOps();
  return Guard([&]() -> Result<std::unique_ptr<Graph>> {
    const bool mapped = !source.path.empty() && source.bytes.owned();
    TERN_ASSIGN(const Archive archive, Archive::Open(source.bytes, mapped));
    if (IsProgram(archive)) return ReadProgram(archive, context);
    return ReadScript(source, context);
  });
}

}  // namespace tern::torch

TERN_IMPORTER(tern::torch::Read, tern::torch::Operators)
