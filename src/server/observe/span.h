// Spans of traces, and their JSON forms: OTLP and Triton's trace file.
#pragma once
#include <string>
#include <vector>

#include "server/core/control.h"

namespace tern::server {

struct Span {
  std::string trace_id, span_id, parent_id, name;
  bool server = false;                // the request itself, else a phase of it
  uint64_t start_ns = 0, end_ns = 0;  // since the epoch
  std::vector<std::pair<std::string, std::string>> texts;
  std::vector<std::pair<std::string, int64_t>> numbers;
  std::string error;  // empty: none
};

// Random hexadecimal digits; never all zero.
std::string RandomHex(int digits);

// The request, then its queue and compute phases. wall, now: the same moment on two clocks. The trace id is
// the caller's, or a new one.
std::vector<Span> SpansOf(const AccessRecord& record, std::chrono::system_clock::time_point wall,
                          Clock::time_point now);

// An ExportTraceServiceRequest in OTLP's JSON encoding.
std::string OtlpJson(const std::vector<Span>& spans, std::string_view service, std::string_view version);

// Two entries of Triton's trace file for one request, separated by a comma.
std::string TritonTraceJson(const AccessRecord& record, uint64_t id, Clock::time_point now);

}  // namespace tern::server
