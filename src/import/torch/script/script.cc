#include "import/torch/script/script.h"

namespace tern::torch {

Result<std::unique_ptr<Graph>> ReadScript(const load::Source&, load::ReadContext&) {
  return Unsupported(
      "TorchScript is not read yet; open it with torch.jit.load and write it with torch.onnx.export(model, inputs, "
      "'model.onnx', dynamo=False)");
}

}  // namespace tern::torch
