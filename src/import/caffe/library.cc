// The entry point of libtern_caffe.so, the importer of Caffe networks.
#include <algorithm>
#include <filesystem>

#include "import/caffe/net_importer.h"
#include "import/caffe/operators.h"
#include "load/importer.h"
#include "ops/ops.h"

namespace tern::caffe {
namespace {

namespace fs = std::filesystem;

// Unlike a text, a protobuf message contains control characters near its start, such as lengths of fields.
bool IsMessage(std::string_view bytes) {
  const std::string_view start = bytes.substr(0, 4096);
  return std::any_of(start.begin(), start.end(), [](char c) {
    const auto u = static_cast<unsigned char>(c);
    return u < 0x09 || (u > 0x0d && u < 0x20);
  });
}

// Returns the file with another extension beside the model, or an empty path if there is none.
std::string Beside(const std::string& path, const char* extension) {
  if (path.empty()) return {};
  const std::string other = fs::path(path).replace_extension(extension).string();
  std::error_code ignored;
  return other != path && fs::is_regular_file(other, ignored) ? other : std::string();
}

Result<Weights> ReadWeights(const std::string& path) {
  const auto context = [&] { return StrCat("reading the weights '", path, "'"); };
  auto file = Buffer::MapFile(path);
  if (!file.ok()) return file.TakeStatus().While(context());
  const std::string_view bytes(reinterpret_cast<const char*>(file->data()), file->size());
  if (!bytes.empty() && !IsMessage(bytes))
    return InvalidArgument("the weights '", path, "' are a text file; a binary .caffemodel is needed");
  auto weights = Weights::Read(*file, path);
  if (!weights.ok()) return weights.TakeStatus().While(context());
  return weights;
}

std::string MissingWeights(const std::string& path) {
  const std::string file =
      path.empty() ? "NET.caffemodel" : fs::path(path).replace_extension(".caffemodel").string();
  return path.empty() ? "give them with the option 'weights' (--weights FILE.caffemodel)"
                      : StrCat("give them with --weights FILE.caffemodel; '", file, "' does not exist");
}

Result<std::unique_ptr<Graph>> Import(pb::NetParameter net, const WeightsSource& source,
                                      load::ReadContext& context) {
  TERN_TRY(Upgrade(net));
  return NetImporter(net, source, context.warnings).Import();
}

Result<std::unique_ptr<Graph>> ReadText(std::string_view text, const std::string& path, WeightsSource source,
                                        load::ReadContext& context) {
  TERN_ASSIGN(pb::NetParameter net, ParseText(text, context.warnings));
  if (!source.weights) {
    const std::string weights = context.weights.empty() ? Beside(path, ".caffemodel") : context.weights;
    if (weights.empty()) {
      source.missing = MissingWeights(path);
    } else {
      TERN_ASSIGN(source.weights, ReadWeights(weights));
    }
  }
  return Import(std::move(net), source, context);
}

bool HasInputs(const pb::NetParameter& net) {
  return std::any_of(net.layer().begin(), net.layer().end(),
                     [](const pb::LayerParameter& layer) { return layer.type() == "Input"; });
}

// Reads the network that a .caffemodel contains. If this is the training network, which has no inputs, reads
// the .prototxt beside the file instead.
Result<std::unique_ptr<Graph>> ReadModel(const load::Source& source, load::ReadContext& context) {
  if (!context.weights.empty())
    return InvalidArgument("the model is a .caffemodel, which contains weights, but the weights '",
                           context.weights, "' are given as well; the model must be the .prototxt");
  TERN_ASSIGN(Weights weights, Weights::Read(source.bytes, source.path));
  TERN_ASSIGN(pb::NetParameter net, ParseMessage(weights.network()));
  pb::NetParameter upgraded = net;
  TERN_TRY(Upgrade(upgraded));
  WeightsSource all;
  all.weights = std::move(weights);
  if (HasInputs(upgraded)) return Import(std::move(net), all, context);
  const std::string text = Beside(source.path, ".prototxt");
  if (text.empty())
    return InvalidModel(
        "the network in the .caffemodel has no inputs of known dims, because it is the training network; "
        "give the deploy .prototxt as the model and this file with --weights");
  TERN_ASSIGN(Buffer file, Buffer::MapFile(text));
  auto graph =
      ReadText({reinterpret_cast<const char*>(file.data()), file.size()}, text, std::move(all), context);
  if (!graph.ok()) return graph.TakeStatus().While(StrCat("reading '", text, "'"));
  return graph;
}

Result<std::unique_ptr<Graph>> Read(const load::Source& source, load::ReadContext& context) {
  InitOps();
  return Guard([&] {
    return IsMessage(source.text()) ? ReadModel(source, context)
                                    : ReadText(source.text(), source.path, {}, context);
  });
}

}  // namespace
}  // namespace tern::caffe

TERN_IMPORTER(tern::caffe::Read, tern::caffe::Operators)
