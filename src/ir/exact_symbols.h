// Whether the symbols in the dims of a graph's inputs can be relied on.
#pragma once
#include <algorithm>
#include <string_view>

#include "ir/graph.h"

namespace tern {

// With this pair in its metadata, a graph is valid only for inputs whose dims have equal sizes where they
// have equal symbols. A session then refuses other inputs. Importers set it only if the framework checks the
// sizes as well: some exporters of ONNX give dims of different sizes the same symbol.
inline constexpr std::string_view kSymbolsKey = "tern:symbols", kExactSymbols = "exact";

inline bool HasExactSymbols(const Graph& graph) {
  return std::any_of(graph.metadata.begin(), graph.metadata.end(), [](const auto& pair) {
    return pair.first == kSymbolsKey && pair.second == kExactSymbols;
  });
}

inline void SetExactSymbols(Graph& graph) {
  if (!HasExactSymbols(graph)) graph.metadata.emplace_back(kSymbolsKey, kExactSymbols);
}

}  // namespace tern
