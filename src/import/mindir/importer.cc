#include "import/mindir/importer.h"

#include <algorithm>
#include <filesystem>

#include "import/common/block_stream.h"
#include "import/common/unsupported.h"
#include "import/mindir/raw_data.h"
#include "ops/ops.h"

namespace tern::mindir {
namespace {

namespace fs = std::filesystem;
using namespace std::string_view_literals;

constexpr size_t kMaxMessage = INT32_MAX;  // protobuf's own limit, in bytes
constexpr int kMaxNesting = 100;           // maximum nesting of messages
constexpr int64_t kMaxVersion = 3;         // the newest mind_ir_version that Tern supports
constexpr std::string_view kGraphFile = "_graph.mindir";

struct Cipher {
  std::string_view magic;
  const char* name;
};
constexpr Cipher kCiphers[] = {
    {"\xd8\x5e\x3a\x7f"sv, "AES-GCM"}, {"\xd9\x5e\x3a\x7f"sv, "AES-CBC"}, {"\xda\x5e\x3a\x7f"sv, "SM4-CBC"}};

template <class Message> bool Parse(const void* data, size_t size, Message& message) {
  return import::ParseMapped({static_cast<const char*>(data), size}, kMaxNesting, message);
}

Status CheckBytes(std::string_view bytes) {
  for (const Cipher& cipher : kCiphers)
    if (StartsWith(bytes, cipher.magic))
      return Unsupported(
          "the MindIR file is encrypted (", cipher.name,
          "); export it without enc_key, or decrypt it with mindspore.load(file, dec_key=...)");
  if (bytes.size() > kMaxMessage)
    return InvalidModel("the MindIR file has ", bytes.size(), " bytes, but a protobuf message has at most ",
                        kMaxMessage);
  return {};
}

Status CheckHeader(const pb::ModelProto& model) {
  if (!model.has_graph()) return InvalidModel("not a MindIR model, or an empty one: the file has no graph");
  if (model.mind_ir_version() < 0 || model.mind_ir_version() > kMaxVersion)
    return Unsupported("mind_ir_version ", model.mind_ir_version(), " is newer than ", kMaxVersion,
                       ", the newest version that Tern supports");
  if (model.has_little_endian() && !model.little_endian())
    return Unsupported("the MindIR file is big-endian");
  return {};
}

// MindSpore before 1.7 writes the parameters of a large model NAME_graph.mindir to the files
// NAME_variables/data_0, data_1, …, each a graph that has only parameters.
Status AddParameterFiles(pb::GraphProto& graph, const std::string& path, import::ExternalFiles& files) {
  const std::string name = fs::path(path).filename().string();
  if (!EndsWith(name, kGraphFile) || graph.parameter_size() > 0) return {};
  const std::string folder = name.substr(0, name.size() - kGraphFile.size()) + "_variables";
  for (int i = 0;; ++i) {
    const std::string location = StrCat(folder, "/data_", i);
    std::error_code error;
    if (!fs::exists(fs::path(path).parent_path() / location, error)) return {};
    TERN_ASSIGN(Buffer file, files.Map(location, graph.name()));
    pb::GraphProto part;
    if (file.size() > kMaxMessage || !Parse(file.data(), file.size(), part))
      return InvalidModel("the file '", location, "' with parameters is broken or cut short");
    for (auto& parameter : *part.mutable_parameter()) graph.add_parameter()->Swap(&parameter);
  }
}

std::set<const pb::GraphProto*> ReferencesOf(const pb::GraphProto& graph, const ModelContext& context) {
  std::set<const pb::GraphProto*> found;
  const auto add = [&](const std::string& name) {
    const auto it = context.functions.find(name);
    if (it != context.functions.end()) found.insert(it->second);
  };
  for (const auto& node : graph.node()) {
    if (StartsWith(node.op_type(), "REF::")) add(node.op_type().substr(5));
    for (const std::string& input : node.input()) add(input);
  }
  for (const auto& output : graph.output()) add(output.name());
  return found;
}

void FillContext(ModelContext& context) {
  const pb::ModelProto& model = *context.model;
  std::vector<const pb::GraphProto*> graphs = {&model.graph()};
  for (const auto& function : model.functions()) graphs.push_back(&function);
  for (const auto& primitive : model.primitives()) context.primitives[primitive.name()] = &primitive;
  for (const pb::GraphProto* graph : graphs) {
    context.functions[graph->name()] = graph;
    for (const auto& node : graph->node())
      if (node.op_type() == "Constant" && node.output_size() == 1) context.constants[node.output(0)] = &node;
  }
  for (const pb::GraphProto* graph : graphs) context.references[graph] = ReferencesOf(*graph, context);
}

// Counts the nodes that a graph has after its functions are inlined, up to kMaxNodes + 1. A function that
// calls itself counts once.
class NodeCounter {
 public:
  explicit NodeCounter(const ModelContext& context) : context_(context) {}

  int64_t Count(const pb::GraphProto& graph) {
    const auto [it, fresh] = counts_.emplace(&graph, 0);
    if (!fresh || depth_ >= kMaxDepth) return it->second;
    ++depth_;
    int64_t sum = graph.node_size();
    for (const auto& node : graph.node()) {
      if (StartsWith(node.op_type(), "REF::")) sum += CountOf(node.op_type().substr(5));
      for (const std::string& input : node.input()) sum += CountOf(input);
      if (sum > kMaxNodes) break;
    }
    --depth_;
    return counts_[&graph] = std::min(sum, kMaxNodes + 1);
  }

 private:
  int64_t CountOf(const std::string& name) {
    const auto it = context_.functions.find(name);
    return it == context_.functions.end() ? 0 : Count(*it->second);
  }

  const ModelContext& context_;
  std::map<const pb::GraphProto*, int64_t> counts_;
  int depth_ = 0;
};

Status CheckInlinedSize(const ModelContext& context) {
  if (NodeCounter(context).Count(context.model->graph()) <= kMaxNodes) return {};
  return Unsupported("the model has more than ", kMaxNodes, " nodes once its functions are inlined");
}

void AddMetadata(const pb::ModelProto& model, Graph& graph) {
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) graph.metadata.emplace_back(StrCat("mindir:", key), value);
  };
  add("ir_version", model.ir_version());
  add("producer_name", model.producer_name());
  add("model_version", model.model_version());
  add("mind_ir_version", StrCat(model.mind_ir_version()));
}

}  // namespace

Status ListUnsupported(const ModelContext& context) {
  import::UnsupportedOperators missing;
  std::set<const pb::GraphProto*> seen;
  std::vector<const pb::GraphProto*> pending = {&context.model->graph()};
  while (!pending.empty()) {
    const pb::GraphProto* graph = pending.back();
    pending.pop_back();
    if (!seen.insert(graph).second) continue;
    const auto& next = context.references.at(graph);
    pending.insert(pending.end(), next.begin(), next.end());
    for (const auto& node : graph->node()) {
      if (node.op_type() == "Constant") continue;
      const std::string op = FindPrimitive(context, node).name;
      if (!op.empty() && !Converters().Find(op))
        missing.Add(op, StrCat("'", node.domain().empty() ? ShortName(node.name()) : node.domain(), "'"));
    }
  }
  return missing.status();
}

namespace {

// Parses the model. Data of parameters that is left out of the message is added to context.data.
Status ParseModel(const Buffer& bytes, ModelContext& context) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto split = SplitRawData(text);
  const std::string_view message = split ? std::string_view(split->stripped) : text;
  if (!Parse(message.data(), message.size(), *context.model))
    return InvalidModel("not a MindIR model: the protobuf message of ", text.size(),
                        " bytes is broken or cut short");
  if (!split) return {};
  for (const RawSpan& span : split->spans)
    context.data[&context.model->graph().parameter(span.parameter)] = bytes.Slice(span.offset, span.size);
  return {};
}

}  // namespace

Result<std::unique_ptr<Graph>> ImportBytes(const Buffer& bytes, const std::string& path) {
  InitOps();
  return Guard([&]() -> Result<std::unique_ptr<Graph>> {
    TERN_TRY(CheckBytes({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
    ModelContext context;
    context.model = std::make_shared<pb::ModelProto>();
    TERN_TRY(ParseModel(bytes, context));
    TERN_TRY(CheckHeader(*context.model));
    if (!path.empty()) {
      const auto parent = fs::path(path).parent_path();
      context.files = std::make_unique<import::ExternalFiles>(parent.empty() ? "." : parent.string());
      TERN_TRY(AddParameterFiles(*context.model->mutable_graph(), path, *context.files));
    }
    FillContext(context);
    TERN_TRY(ListUnsupported(context));
    TERN_TRY(CheckInlinedSize(context));
    auto graph = std::make_unique<Graph>(context.model->graph().name());
    AddMetadata(*context.model, *graph);
    TERN_TRY(GraphImporter(context, *graph, nullptr).ImportMain(context.model->graph()));
    graph->RemoveDeadNodes();
    graph->RemoveUnusedConstants();
    return graph;
  });
}

}  // namespace tern::mindir
