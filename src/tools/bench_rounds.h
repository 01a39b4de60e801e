// Measuring on demand, for a program that interleaves several engines and says when each may run.
#pragma once
#include "tools/engine.h"

namespace tern::tools {

// Answers each line "RUNS SECONDS" of standard input, at most so many runs and, after the first, no more than
// fit into so many seconds, with one JSON line: latency_ms and processor_ms of each run, peak_rss_mb so far.
// Returns at the end of input. The engine's inputs are bound already.
Status MeasureRounds(Engine& engine);

}  // namespace tern::tools
