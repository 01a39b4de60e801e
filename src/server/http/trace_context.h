// Parses the header field traceparent of the W3C trace context.
#pragma once
#include <string_view>

#include "server/core/message.h"

namespace tern::server {

// The text of version 00 is "00-<32 hex>-<16 hex>-<2 hex>". Later versions may append fields. A malformed
// text leaves `trace` empty.
void ParseTraceParent(std::string_view text, TraceContext& trace);

}  // namespace tern::server
