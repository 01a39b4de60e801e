// Recognises the files of PyTorch that contain a program: torch.export and TorchScript archives.
#include "load/format.h"
#include "load/foreign.h"

namespace tern::load {

TERN_FORMAT(TorchExport) {
  return {.name = "torch.export",
          .title = "a program of torch.export (.pt2)",
          .extensions = {".pt2"},
          .recognise = IsTorchExport,
          .library = "torch",
          .uses_signature = true};
}

TERN_FORMAT(TorchScript) {
  return {.name = "TorchScript",
          .title = "a TorchScript model",
          .extensions = {".pt"},
          .recognise = IsTorchScript,
          .library = "torch",
          .uses_input_types = true};
}

}  // namespace tern::load
