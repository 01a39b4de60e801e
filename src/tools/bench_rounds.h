// Measures an engine each time that a line arrives on standard input. With this function, a benchmark can
// measure several engines in turn.
#pragma once
#include "tools/engine.h"

namespace tern::tools {

// Reads lines "RUNS SECONDS" from standard input. For each line, runs the engine at least once and at
// most RUNS times. Starts no further run after SECONDS. Then prints one line of JSON with latency_ms and
// processor_ms of each run, and with peak_rss_mb of the process. Returns at the end of standard input. The
// engine's inputs must be bound.
Status MeasureRounds(Engine& engine);

}  // namespace tern::tools
