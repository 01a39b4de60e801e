// Writes a request as one line of JSON.
#pragma once
#include <string>

#include "server/core/control.h"

namespace tern::server {

// How long each phase of a request took. A phase that did not happen has 0.
struct PhaseTimes {
  std::chrono::nanoseconds parse{0}, queue{0}, input{0}, compute{0}, output{0}, send{0}, cache{0};
};

// `now` is the time at which the request was finished, on the clock of CallTimes.
PhaseTimes PhasesOf(const AccessRecord& record, Clock::time_point now);

// Appends a time such as 2026-11-16T16:05:12.123456Z.
void AppendTime(std::chrono::system_clock::time_point time, std::string& out);

// Appends a text in quotes, with escapes. Bytes that are not UTF-8 become U+FFFD.
void AppendJsonText(std::string_view text, std::string& out);

// Appends the line with a line end. `wall` and `now` are the same moment on two clocks.
void AppendAccessLine(const AccessRecord& record, std::chrono::system_clock::time_point wall,
                      Clock::time_point now, std::string& out);

}  // namespace tern::server
