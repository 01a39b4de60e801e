// The examples of classify and regress requests: features with names, one set per item.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/core/message.h"
#include "server/core/model_config.h"

namespace tern::server::tfs {

// The values of a feature. One of the lists has values. The kind of an empty feature is kInvalid.
struct Feature {
  DType kind = DType::kInvalid;  // kF32, kI64 or kString
  std::vector<float> floats;
  std::vector<int64_t> integers;
  std::vector<std::string> texts;
  size_t size() const { return floats.size() + integers.size() + texts.size(); }
};

struct Example {
  std::vector<std::pair<std::string, Feature>> features;  // each name once
  const Feature* Find(std::string_view name) const;
  // Replaces the feature of this name if there is one.
  void Set(std::string name, Feature feature);
};

// The largest number of examples in a list. An empty example takes much more memory than bytes of a message.
inline constexpr size_t kMostExamples = size_t{1} << 20;

struct Examples {
  Example context;  // features that all items share
  std::vector<Example> items;
};

// Reads a serialized tensorflow.Example, and adds its features to `example`. Fails with kInvalidArgument if
// the bytes are damaged or there are more than `most` features.
Status ReadExample(std::string_view bytes, size_t most, Example& example);
// Serializes the features of the context and of the item, as one tensorflow.Example.
std::string SerializeExample(const Example& context, const Example& item);

// Makes the inputs of a request. If the only input of the model is a text that no feature names (`inputs` or
// `examples`), it gets the serialized examples, as a SavedModel that parses examples expects. Otherwise each
// input gets the feature of its name. Fails with kInvalidArgument if a feature is missing, has another type,
// or has another number of values than the input, or if the inputs would take more than `limit` bytes: each
// example repeats the features of the context.
Status MakeInputs(const ModelConfig& config, const Examples& examples, uint64_t limit, Request& request);

}  // namespace tern::server::tfs
