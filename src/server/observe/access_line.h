// One request as one line of JSON.
#pragma once
#include <string>

#include "server/core/control.h"

namespace tern::server {

// How long each phase of a request took. 0 for a phase that did not happen.
struct PhaseTimes {
  std::chrono::nanoseconds parse{0}, queue{0}, input{0}, compute{0}, output{0}, send{0};
};

// now: when the request was finished, on the clock of CallTimes.
PhaseTimes PhasesOf(const AccessRecord& record, Clock::time_point now);

// "2026-11-16T16:05:12.123456Z"
void AppendTime(std::chrono::system_clock::time_point time, std::string& out);

// Text in quotes, with escapes. Bytes that are not UTF-8 become U+FFFD.
void AppendJsonText(std::string_view text, std::string& out);

// Appends the line with its end. wall, now: the same moment on two clocks.
void AppendAccessLine(const AccessRecord& record, std::chrono::system_clock::time_point wall,
                      Clock::time_point now, std::string& out);

}  // namespace tern::server
