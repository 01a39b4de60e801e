// The inputs and outputs of a model, and the files that belong to it.
#pragma once
#include <string>
#include <vector>

#include "import/tensorflow/model_context.h"

namespace tern::tensorflow {

class BodyImporter;

struct NamedTensor {
  std::string name;    // in the Tern graph
  std::string tensor;  // "node:0"
  Type type;           // of an input
  bool complex = false;
};

// Unknown dims get symbols: NAME_0 for the first axis of input NAME.
Result<NamedTensor> InputOf(const std::string& name, const std::string& tensor, int dtype,
                            const pb::TensorShapeProto& shape);
// Returns the outputs of a graph file, which are the tensors of nodes that no node reads. Omits nodes inside
// loops and branches, operators that never produce a result (such as Assert), and, if the graph has
// placeholders, nodes that depend on none of them.
Result<std::vector<NamedTensor>> OutputsOfGraph(const pb::GraphDef& graph, const ModelContext& model);
// Returns the inputs of a graph file, which are the placeholders that the outputs need, in the order of the
// file.
Result<std::vector<NamedTensor>> InputsOfGraph(const pb::GraphDef& graph, const ModelContext& model,
                                               const std::vector<NamedTensor>& outputs);

// Finds the asset files of a SavedModel.
Status AddAssets(const pb::MetaGraphDef& meta, const std::string& folder, ModelContext& model);
// Sets the values of the tensors that contain the names of asset files.
Status BindAssets(ModelContext& model, BodyImporter& importer);

}  // namespace tern::tensorflow
