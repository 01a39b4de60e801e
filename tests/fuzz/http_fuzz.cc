// Parses the heads, chunked bodies and compressed bodies of HTTP requests.
#include <cstdlib>
#include <string_view>

#include "entry.h"
#include "server/core/compression.h"
#include "server/http/chunks.h"
#include "server/http/request_head.h"
#include "server/http/route.h"
#include "server/http/trace_context.h"

using namespace tern::server;

namespace {

// Decodes a chunked body at once and byte by byte. Both must have the same result.
void CheckChunks(std::string_view text) {
  ChunkDecoder one(4096), two(4096);
  std::string body, again;
  size_t used = 0, total = 0;
  const bool good = one.Feed(text, body, used).ok();
  bool good_again = true;
  for (size_t i = 0; i < text.size() && good_again && !two.done(); ++i) {
    size_t step = 0;
    good_again = two.Feed(text.substr(i, 1), again, step).ok();
    total += step;
  }
  if (good != good_again || one.done() != two.done() || (good && (body != again || used != total)))
    std::abort();
}

void CheckHead(std::string_view text) {
  size_t line = 0, resumed = 0;
  const HeadScan scan = ScanHead(text, line);
  HeadScan again;
  for (size_t i = 1; i <= text.size() && again.outcome == HeadScan::Outcome::kMore; ++i)
    again = ScanHead(text.substr(0, i), resumed);
  if (scan.outcome != again.outcome || scan.size != again.size) std::abort();
  if (scan.outcome != HeadScan::Outcome::kComplete || scan.size > kMaxHeadBytes) return;
  RequestHead head;
  if (ParseHead(text.substr(0, scan.size), head).status) return;
  if (head.chunked && head.content_length) std::abort();
  const Route route = ParseRoute(head.target);
  Allows(route.kind, head.method);
  tern::server::TraceContext trace;
  ParseTraceParent(head.traceparent, trace);
}

}  // namespace

int TERN_FUZZ_ENTRY(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  CheckHead(text);
  CheckChunks(text);
  const auto plain = Decompress(text, 65536);
  if (plain.ok() && plain->size() > 65536) std::abort();
  return 0;
}
