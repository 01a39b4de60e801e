#include "tools/bench_rounds.h"

#include <fmt/core.h>

#include <cstdio>
#include <ctime>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "base/cpu_info.h"
#include "data/json_writer.h"
#include "tools/timing.h"

namespace tern::tools {
namespace {

struct Round {
  int64_t runs = 0;
  double seconds = 0;
};

Result<Round> ParseRound(const std::string& line) {
  std::istringstream words(line);
  Round round;
  std::string extra;
  if (!(words >> round.runs >> round.seconds) || words >> extra)
    return InvalidArgument("a round is 'RUNS SECONDS', got '", line, "'");
  if (round.runs < 1 || round.runs > 1'000'000)
    return InvalidArgument("a round has 1 to 1000000 runs, got ", round.runs);
  if (!(round.seconds >= 0 && round.seconds <= 86400))
    return InvalidArgument("a round takes 0 to 86400 seconds, got ", round.seconds);
  return round;
}

// The times of each run in ms. `latency` is the wall-clock time. `processor` is the processor time of all
// threads of the process. If other programs compete for the cores, the processor time of a run with one
// thread is more reliable than its latency.
struct Times {
  std::vector<double> latency, processor;
};

double ProcessorMilliseconds() { return static_cast<double>(std::clock()) * (1000.0 / CLOCKS_PER_SEC); }

Result<Times> RunRound(Engine& engine, const Round& round) {
  Times times;
  const Stopwatch all;
  for (int64_t i = 0; i < round.runs && (i == 0 || all.Milliseconds() < round.seconds * 1000); ++i) {
    const double processor = ProcessorMilliseconds();
    const Stopwatch watch;
    TERN_TRY(engine.RunBound());
    times.latency.push_back(watch.Milliseconds());
    times.processor.push_back(ProcessorMilliseconds() - processor);
  }
  return times;
}

void Write(data::JsonWriter& json, const char* key, const std::vector<double>& numbers) {
  json.Key(key).BeginArray();
  for (const double v : numbers) json.Number(Rounded(v));
  json.EndArray();
}

void Answer(const Times& times) {
  data::JsonWriter json;
  json.BeginObject();
  Write(json, "latency_ms", times.latency);
  Write(json, "processor_ms", times.processor);
  json.Key("peak_rss_mb").Number(Rounded(static_cast<double>(PeakMemory()) / 1e6)).EndObject();
  fmt::print("{}\n", json.text());
  std::fflush(stdout);
}

}  // namespace

Status MeasureRounds(Engine& engine) {
  std::string line;
  while (std::getline(std::cin, line)) {
    TERN_ASSIGN(const Round round, ParseRound(line));
    TERN_ASSIGN(const Times times, RunRound(engine, round));
    Answer(times);
  }
  return {};
}

}  // namespace tern::tools
