// Writes one Tern graph as an ONNX graph message.
#pragma once
#include <set>

#include "export/onnx/exporter.h"
#include "import/onnx/proto_tensor.h"

namespace tern::onnx {

const ExporterTable& Exporters();

class GraphExporter {
 public:
  // `outer` is the exporter of the enclosing graph. It is null for the model's top-level graph. All exporters
  // of a model share one set of names, so that names are unique in the model.
  GraphExporter(pb::GraphProto& proto, GraphExporter* outer)
      : proto_(proto),
        outer_(outer),
        names_(outer ? outer->names_ : std::make_shared<std::set<std::string>>()) {
    contrib = outer && outer->contrib;
  }
  void NeedOpset(int version);
  void NeedMlOpset(int version);
  int opset() const { return opset_; }  // on the top-level exporter: the opset of the model
  int ml_opset() const { return ml_opset_; }
  Status Export(const Graph& graph);

  std::string NameOf(const Value* value);
  std::string Fresh(const std::string& base);
  std::string AddInitializer(const Tensor& tensor, const std::string& base);
  pb::NodeProto* AddNode();
  pb::NodeProto* last_node() { return last_; }
  // Returns the initializers whose data is not in the message, and their tensors. The caller must write the
  // data to a file.
  const std::vector<std::pair<pb::TensorProto*, Tensor>>& initializers() const { return initializers_; }
  bool keep_weights_outside = false, contrib = false;
  std::map<std::string, std::string> emitted;  // maps a key of TernNode::Once to the name of the value
  std::set<const Node*> done;                  // nodes that an emitted operator already computes

 private:
  const std::string* FindName(const Value* value) const;
  std::string Copied(const std::string& name);  // emits an Identity and returns the name of its output
  pb::GraphProto& proto_;
  GraphExporter* outer_;
  std::shared_ptr<std::set<std::string>> names_;
  std::map<const Value*, std::string> value_names_;
  std::vector<std::pair<pb::TensorProto*, Tensor>> initializers_;
  pb::NodeProto* last_ = nullptr;
  int opset_ = kExportOpset, ml_opset_ = kExportMlOpset;
};

}  // namespace tern::onnx
