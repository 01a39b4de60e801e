#include "export/onnx/exporter.h"

namespace tern::onnx {

TERN_EXPORTERS(basic) {
  table.Add("Identity", DirectTo("Identity"));
  table.Add("Reshape", DirectTo("Reshape", {"allow_zero=allowzero"}));
}

}  // namespace tern::onnx
