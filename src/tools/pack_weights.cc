#include "tools/pack_weights.h"

#include <cstdio>

#include "tools/engine.h"
#include "tools/feeds.h"
#include "tools/shapes.h"

namespace tern::tools {

Status PackWeights(Graph& graph, Precision precision) {
  NameConstants(graph);
  std::unique_ptr<Graph> copy = graph.Clone();
  Feeds feeds;
  TERN_TRY(CloseOpenDims(*copy, feeds));
  TERN_TRY(AddRandomFeeds(*copy, 0, feeds));
  TERN_ASSIGN(const DatumList inputs, OrderFeeds(*copy, feeds));
  TERN_ASSIGN(Engine engine, Engine::Make(std::move(copy), {0, false, Level::kLayout, precision}));
  TERN_TRY(engine.Bind(inputs));
  TERN_TRY(engine.Prepare().While("packing weights"));
  if (!SetPacks(graph, engine.PackedWeights()))
    std::fprintf(stderr,
                 "tern: warning: --pack stored nothing: no kernel chosen here packs the model's weights\n");
  return {};
}

}  // namespace tern::tools
