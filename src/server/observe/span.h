// Spans of traces, and their JSON forms: OTLP and Triton's trace file.
#pragma once
#include <string>
#include <vector>

#include "server/core/control.h"

namespace tern::server {

struct Span {
  std::string trace_id, span_id, parent_id, name;
  bool server = false;                // true for the request itself, false for a phase of it
  uint64_t start_ns = 0, end_ns = 0;  // since the epoch
  std::vector<std::pair<std::string, std::string>> texts;
  std::vector<std::pair<std::string, int64_t>> numbers;
  std::string error;  // empty: none
};

// Returns random hexadecimal digits that are not all zero.
std::string RandomHex(int digits);

// Returns a span of the request, then spans of its queue and compute phases. `wall` and `now` are the same
// moment on two clocks. The trace id is the caller's. If the caller sent none, it is new.
std::vector<Span> SpansOf(const AccessRecord& record, std::chrono::system_clock::time_point wall,
                          Clock::time_point now);

// Returns an ExportTraceServiceRequest in OTLP's JSON encoding.
std::string OtlpJson(const std::vector<Span>& spans, std::string_view service, std::string_view version);

// Returns the two entries of Triton's trace file for one request, separated by a comma.
std::string TritonTraceJson(const AccessRecord& record, uint64_t id, Clock::time_point now);

}  // namespace tern::server
