// The data that all graphs and functions of a model share during import.
#pragma once
#include <map>
#include <memory>
#include <string>

#include "import/common/inlined_limit.h"
#include "import/tensorflow/body.h"
#include "import/tensorflow/bundle.h"
#include "import/tensorflow/edge.h"
#include "import/tensorflow/frames.h"
#include "load/format.h"

namespace tern::tensorflow {

inline constexpr int kMaxDepth = 100;  // the deepest nesting of function calls

struct ModelContext {
  std::shared_ptr<const void> owner;  // keeps the messages alive, which tensors may share
  Body main;
  std::map<std::string, Body> functions;
  std::unique_ptr<Bundle> bundle;             // null if the model has no variables
  std::map<std::string, std::string> assets;  // "node:0" → path of the asset file
  std::map<std::string, std::shared_ptr<Resource>> resources;
  std::map<const Body*, std::shared_ptr<const Frames>> frames;  // control flow of TF1, found when needed
  Graph* graph = nullptr;               // the model's graph, which holds the constants of variables
  std::string restore_node, init_node;  // nodes that fill variables and tables; empty if there are none
  bool restored = false, initialised = false;
  load::ReadContext* options = nullptr;
  import::InlinedLimit nodes{0, 0};
};

}  // namespace tern::tensorflow
