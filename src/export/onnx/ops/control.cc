// Exports If, Loop, Scan, and the ops on sequences and optionals.
#include "export/onnx/exporter.h"

namespace tern::onnx {
namespace {

Status ExportIf(TernNode& n) {
  n.Emit("If", n.Ins(), n.Outs());
  return n.EmitSubgraphs({"then_branch", "else_branch"});
}

Status ExportLoop(TernNode& n) {
  n.Emit("Loop", n.Ins(), n.Outs());
  return n.EmitSubgraphs({"body"});
}

Status ExportScan(TernNode& n) {
  AttrList attrs = {{"num_scan_inputs", n.attrs().Int("scan_inputs")}};
  const std::pair<const char*, const char*> lists[] = {{"input_axes", "scan_input_axes"},
                                                       {"output_axes", "scan_output_axes"},
                                                       {"input_reverse", "scan_input_directions"},
                                                       {"output_reverse", "scan_output_directions"}};
  for (const auto& [from, to] : lists)
    if (auto v = n.attrs().Ints(from); !v.empty()) attrs.emplace_back(to, v);
  n.Emit("Scan", n.Ins(), n.Outs(), attrs);
  return n.EmitSubgraphs({"body"});
}

Status ExportSequenceMap(TernNode& n) {
  n.Emit("SequenceMap", n.Ins(), n.Outs());
  return n.EmitSubgraphs({"body"});
}

Status ExportOptional(TernNode& n) {
  n.Emit("Optional", n.Ins(), n.Outs());
  if (!n.Has(0)) n.EmitTypeAttr("type", *n.node.output(0)->type.element);
  return {};
}

}  // namespace

TERN_EXPORTERS(control) {
  table.Add("If", ExportIf);
  table.Add("Loop", ExportLoop);
  table.Add("Scan", ExportScan);
  table.Add("SequenceMap", ExportSequenceMap);
  table.Add("SequenceEmpty", DirectTo("SequenceEmpty", {"dtype"}));
  table.Add("SequenceConstruct", DirectTo("SequenceConstruct"));
  table.Add("SequenceAt", DirectTo("SequenceAt"));
  table.Add("SequenceInsert", DirectTo("SequenceInsert"));
  table.Add("SequenceErase", DirectTo("SequenceErase"));
  table.Add("SequenceLength", DirectTo("SequenceLength"));
  table.Add("ConcatFromSequence", DirectTo("ConcatFromSequence", {"axis", "new_axis"}));
  table.Add("SplitToSequence", DirectTo("SplitToSequence", {"axis", "keep_dims=keepdims"}));
  table.Add("Optional", ExportOptional);
  table.Add("OptionalHasElement", DirectTo("OptionalHasElement"));
  table.Add("OptionalGetElement", DirectTo("OptionalGetElement"));
}

}  // namespace tern::onnx
