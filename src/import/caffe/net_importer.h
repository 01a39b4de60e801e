// Converts the layers of a network to a graph.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "import/caffe/network.h"
#include "import/caffe/weights.h"
#include "ir/graph.h"

namespace tern::caffe {

// Where the weights come from.
struct WeightsSource {
  std::optional<Weights> weights;
  // If there are no weights, says what the user can do. The error of a layer that needs weights contains it.
  std::string missing;
};

class NetImporter {
 public:
  NetImporter(const pb::NetParameter& net, const WeightsSource& source, std::vector<std::string>& warnings)
      : net_(net), source_(source), warnings_(warnings) {}

  // Converts the layers in order. The outputs of the graph are the blobs that no layer reads, sorted by name
  // as in Caffe.
  Result<std::unique_ptr<Graph>> Import();

  Value* Find(const std::string& blob) const;
  // Binds the name of a blob to a value. A layer that works in place replaces the value of its bottom.
  void Bind(const std::string& blob, Value* value);
  const std::vector<Blob>* BlobsOf(const std::string& layer) const;
  // Returns blob i of a layer. A blob with a param name is shared with the first layer that has this name.
  Result<Tensor> BlobOf(const pb::LayerParameter& layer, int i);
  void Warn(std::string text) { warnings_.push_back(std::move(text)); }
  Status AddInput(const std::string& blob, Type type);

 private:
  Status CheckTypes() const;
  Status Convert(const pb::LayerParameter& layer, int index);
  Status SetOutputs();

  const pb::NetParameter& net_;
  const WeightsSource& source_;
  std::vector<std::string>& warnings_;
  std::unique_ptr<Graph> graph_;
  std::map<std::string, Value*> blobs_;
  std::set<std::string> unread_;          // blobs that no layer has read since they were made
  std::map<std::string, Tensor> shared_;  // by param name
};

std::string LayerLabel(const pb::LayerParameter& layer);

}  // namespace tern::caffe
