// Exports gather and scatter ops, and ops whose output size depends on the data.
#include "export/onnx/ops/common.h"

namespace tern::onnx {
namespace {

AttrList FlattenOrAxis(TernNode& n) {
  if (n.attrs().Bool("flatten")) return {};
  return {{"axis", n.attrs().Int("axis")}};
}

// Returns an exporter for GatherND and ScatterND, which support only i64 indices. `attr` is the attribute to
// copy.
Exporter WithLongIndices(const char* op, const char* attr) {
  return [=](TernNode& n) -> Status {
    AttrList attrs;
    for (const auto& entry : n.attrs().List())
      if (entry.name == attr) attrs.emplace_back(attr, entry.value);
    n.Emit(op, {n.In(0), Longs(n, 1), n.In(2)}, n.Outs(), attrs);
    return {};
  };
}

// Emits ScatterElements, because opset 21 has no TensorScatter. The indices of ScatterElements are the
// positions to write along the axis.
Status TensorScatter(TernNode& n) {
  const int rank = n.TypeOf(0).shape.rank();
  if (rank < 2) return n.NotExportable("the rank of the cache is not known");
  const int64_t given = n.attrs().Int("axis"), axis = given < 0 ? given + rank : given;
  const std::string dims = n.Op("Shape", {n.In(1)});
  const std::string length = n.Op("Gather", {dims, n.Scalar(DType::kI64, static_cast<double>(axis))});
  std::vector<int64_t> along(static_cast<size_t>(rank), 1), per_sample(static_cast<size_t>(rank), 1);
  along[static_cast<size_t>(axis)] = -1;
  per_sample[0] = -1;
  const std::string steps = n.Op("Range", {n.Scalar(DType::kI64, 0), length, n.Scalar(DType::kI64, 1)});
  std::string places = n.Op("Reshape", {steps, n.Ints(along)});
  if (n.Has(2)) places = n.Op("Add", {places, n.Op("Reshape", {Longs(n, 2), n.Ints(per_sample)})});
  if (n.attrs().Text("mode") == "circular") {
    const std::string capacity = n.Op("Shape", {n.In(0)}, {{"start", axis}, {"end", axis + 1}});
    places = n.Op("Mod", {places, capacity});
  }
  n.Emit("ScatterElements", {n.In(0), n.Op("Expand", {places, dims}), n.In(1)}, n.Outs(), {{"axis", axis}});
  return {};
}

Status Compress(TernNode& n) {
  n.Emit("Compress", n.Ins(), n.Outs(), FlattenOrAxis(n));
  return {};
}

Status Unique(TernNode& n) {
  AttrList attrs = FlattenOrAxis(n);
  attrs.emplace_back("sorted", n.attrs().Bool("sorted"));
  n.Emit("Unique", n.Ins(), n.Outs(), attrs);
  return {};
}

Status EyeLike(TernNode& n) {
  AttrList attrs = {{"k", n.attrs().Int("k")}};
  if (n.attrs().Type("dtype") != DType::kInvalid) attrs.emplace_back("dtype", n.attrs().Type("dtype"));
  n.Emit("EyeLike", n.Ins(), n.Outs(), attrs);
  return {};
}

Status Trilu(TernNode& n) {
  n.Emit("Trilu", {n.In(0), Longs(n, 1)}, n.Outs(), {{"upper", n.attrs().Bool("upper")}});
  return {};
}

Status ReverseSequence(TernNode& n) {
  n.Emit("ReverseSequence", {n.In(0), Longs(n, 1)}, n.Outs(),
         {{"time_axis", n.attrs().Int("time_axis")}, {"batch_axis", n.attrs().Int("batch_axis")}});
  return {};
}

Status CenterCropPad(TernNode& n) {
  AttrList attrs;
  if (!n.attrs().Ints("axes").empty()) attrs.emplace_back("axes", n.attrs().Ints("axes"));
  n.Emit("CenterCropPad", n.Ins(), n.Outs(), attrs);
  return {};
}

}  // namespace

TERN_EXPORTERS(gather) {
  table.Add("GatherElements", DirectTo("GatherElements", {"axis"}));
  table.Add("GatherND", WithLongIndices("GatherND", "batch_dims"));
  table.Add("ScatterElements", DirectTo("ScatterElements", {"axis", "reduction"}));
  table.Add("ScatterND", WithLongIndices("ScatterND", "reduction"));
  table.Add("TensorScatter", TensorScatter);
  table.Add("OneHot", DirectTo("OneHot", {"axis"}));
  table.Add("NonZero", DirectTo("NonZero"));
  table.Add("Compress", Compress);
  table.Add("Unique", Unique);
  table.Add("EyeLike", EyeLike);
  table.Add("Trilu", Trilu);
  table.Add("DepthToSpace", DirectTo("DepthToSpace", {"block=blocksize", "mode"}));
  table.Add("SpaceToDepth", DirectTo("SpaceToDepth", {"block=blocksize"}));
  table.Add("ReverseSequence", ReverseSequence);
  table.Add("CenterCropPad", CenterCropPad);
}

}  // namespace tern::onnx
