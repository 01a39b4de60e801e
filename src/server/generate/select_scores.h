// Lets a language model compute the scores of the next token only where they are needed.
#pragma once
#include "ir/graph.h"

namespace tern::server {

// The name of the input that SelectScores adds: int64 [count], the same tokens for all rows.
inline constexpr const char* kScorePositions = "tern_score_positions";

// The product with the vocabulary is a third of the work of a small model, and of a prompt only the last
// token needs it. If the output `logits` is such a product of a value [batch, tokens, width], adds an input
// with the indices of the tokens after which scores are computed, so that `logits` is [batch, count,
// vocabulary]. Otherwise leaves the graph as it is.
Status SelectScores(Graph& graph);

}  // namespace tern::server
