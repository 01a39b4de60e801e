#include "tools/pack_weights.h"

#include <cstdio>

#include "tools/engine.h"
#include "tools/feeds.h"
#include "tools/shapes.h"

namespace tern::tools {

Status PackWeights(Graph& graph, Precision precision) {
  NameConstants(graph);
  const std::unique_ptr<Graph> closed = graph.Clone();
  Feeds feeds;
  TERN_TRY(CloseOpenDims(*closed, feeds));
  TERN_TRY(AddRandomFeeds(*closed, 0, feeds));
  TERN_ASSIGN(const DatumList inputs, OrderFeeds(*closed, feeds));
  // The engine gets the graph with open dims, because a session that loads the file chooses its kernels for
  // this graph.
  TERN_ASSIGN(Engine engine, Engine::Make(graph.Clone(), {.precision = precision}));
  TERN_TRY(engine.Bind(inputs));
  TERN_TRY(engine.Prepare().While("packing weights"));
  if (!SetPacks(graph, engine.PackedWeights()))
    std::fprintf(
        stderr,
        "tern: warning: --pack stored nothing, because the chosen kernels use the weights unpacked\n");
  return {};
}

}  // namespace tern::tools
