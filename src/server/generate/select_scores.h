// Lets a language model compute the scores of the next token only where they are needed.
#pragma once
#include "ir/graph.h"

namespace tern::server {

// The name of the input that SelectScores adds: int64 [count], the same tokens for all rows.
inline constexpr const char* kScorePositions = "tern_score_positions";

// The MatMul with the vocabulary is a third of the work of a small model, but only the last token of a prompt
// needs its result. If the output `logits` is such a product of a value [batch, tokens, width], adds an input
// with the indices of the tokens after which scores are computed. `logits` then has the shape [batch, count,
// vocabulary]. Otherwise leaves the graph as it is.
Status SelectScores(Graph& graph);

}  // namespace tern::server
