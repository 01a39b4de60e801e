// Converts layers that make blobs without a bottom, and layers that have no top.
#include "import/caffe/ops/emit.h"

namespace tern::caffe {
namespace {

Status Input(Layer& n) {
  const auto& shapes = n.proto.input_param().shape();
  if (shapes.size() == 0) return n.Bad("has no shape; add input_param { shape { dim: … } } to the .prototxt");
  if (shapes.size() != 1 && shapes.size() != n.Tops())
    return n.Bad("has ", n.Tops(), " tops, but ", shapes.size(), " shapes");
  for (int i = 0; i < n.Tops(); ++i) {
    const auto& dim = shapes[shapes.size() == 1 ? 0 : i].dim();
    TERN_TRY(n.AddInput(i, Dims(dim.begin(), dim.end())));
  }
  return {};
}

// The program that owns the network fills a MemoryData layer, so its tops are inputs.
Status MemoryData(Layer& n) {
  const auto& p = n.proto.memory_data_param();
  TERN_TRY(n.AddInput(0, {p.batch_size(), p.channels(), p.height(), p.width()}));
  return n.AddInput(1, {p.batch_size()});
}

Result<Dims> DummyDims(const Layer& n, int i) {
  const auto& p = n.proto.dummy_data_param();
  const auto at = [&](const auto& list) { return list[list.size() == 1 ? 0 : i]; };
  const auto fits = [&](int size) { return size == 1 || size == n.Tops(); };
  if (p.shape_size() > 0) {
    if (!fits(p.shape_size())) return n.Bad("has ", n.Tops(), " tops, but ", p.shape_size(), " shapes");
    const pb::BlobShape& shape = p.shape(p.shape_size() == 1 ? 0 : i);
    return Dims(shape.dim().begin(), shape.dim().end());
  }
  if (!fits(p.num_size()) || !fits(p.channels_size()) || !fits(p.height_size()) || !fits(p.width_size()))
    return n.Bad("needs one shape, or one for each of its ", n.Tops(), " tops");
  return Dims{at(p.num()), at(p.channels()), at(p.height()), at(p.width())};
}

// Supports only constant fillers, because the random numbers of other fillers are not reproducible.
Status DummyData(Layer& n) {
  const auto& p = n.proto.dummy_data_param();
  const int fillers = p.data_filler_size();
  if (fillers > 1 && fillers != n.Tops()) return n.Bad("has ", n.Tops(), " tops, but ", fillers, " fillers");
  for (int i = 0; i < n.Tops(); ++i) {
    const pb::FillerParameter filler = fillers ? p.data_filler(fillers == 1 ? 0 : i) : pb::FillerParameter();
    if (filler.type() != "constant") return n.NotYet("the random filler '", filler.type(), "'");
    TERN_ASSIGN(const Dims dims, DummyDims(n, i));
    if (!CheckedCount(dims, DType::kF32)) return n.Bad("the dims [", Join(dims, ","), "] are invalid");
    n.Out(i, n.b.Op("Fill", {n.b.Ints(dims)}, {{"value", Tensor::Of(DType::kF32, {1}, {filler.value()})}}));
  }
  return {};
}

Status Parameter(Layer& n) {
  const auto& dim = n.proto.parameter_param().shape().dim();
  TERN_ASSIGN(Value* const value, n.BlobValue(0, Dims(dim.begin(), dim.end())));
  n.Out(0, Copied(n, value));
  return {};
}

Status Database(Layer& n) {
  return n.NotYet(
      "reads training data. Use the deploy .prototxt of the network, or replace the layer by one of type "
      "Input: layer { name: \"data\" type: \"Input\" top: \"data\" input_param { shape { dim: 1 dim: 3 "
      "dim: 224 dim: 224 } } }");
}

Status Silence(Layer&) { return {}; }

Status Hdf5Output(Layer& n) {
  n.Warn("the layer writes a file in Caffe; here it has no effect");
  return {};
}

}  // namespace

TERN_CONVERTERS(data) {
  table.Add("Input", Input, {0, 0, 1, kAny});
  table.Add("MemoryData", MemoryData, {0, 0, 1, 2});
  table.Add("DummyData", DummyData, {0, 0, 1, kAny});
  table.Add("Parameter", Parameter, {0, 0, 1, 1});
  for (const char* name : {"Data", "ImageData", "HDF5Data", "WindowData", "AnnotatedData", "VideoData"})
    table.Refuse(name, Database);
  table.Add("Silence", Silence, {1, kAny, 0, 0});
  table.Add("HDF5Output", Hdf5Output, {1, kAny, 0, 0});
}

}  // namespace tern::caffe
