// Measures on demand, for a program that interleaves several engines.
#pragma once
#include "tools/engine.h"

namespace tern::tools {

// For each line "RUNS SECONDS" of standard input, runs the engine at most RUNS times and, after the first
// run, at most SECONDS long. Prints one line of JSON: latency_ms and processor_ms of each run, peak_rss_mb so
// far. Returns at the end of input. The engine's inputs must be bound.
Status MeasureRounds(Engine& engine);

}  // namespace tern::tools
