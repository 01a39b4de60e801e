// W3C trace context: the header field traceparent.
#pragma once
#include <string_view>

#include "server/core/message.h"

namespace tern::server {

// "00-<32 hex>-<16 hex>-<2 hex>". Leaves `trace` empty for anything else.
void ParseTraceParent(std::string_view text, TraceContext& trace);

}  // namespace tern::server
