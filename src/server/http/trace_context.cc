#include "server/http/trace_context.h"

namespace tern::server {
namespace {

bool IsHex(std::string_view text) { return text.find_first_not_of("0123456789abcdef") == text.npos; }
bool IsZero(std::string_view text) { return text.find_first_not_of('0') == text.npos; }

}  // namespace

void ParseTraceParent(std::string_view text, TraceContext& trace) {
  if (text.size() < 55 || text[2] != '-' || text[35] != '-' || text[52] != '-') return;
  const std::string_view version = text.substr(0, 2), id = text.substr(3, 32), parent = text.substr(36, 16),
                         flags = text.substr(53, 2);
  // Later versions may append fields. Version ff is invalid.
  if (!IsHex(version) || version == "ff" || (version == "00" && text.size() != 55)) return;
  if (text.size() > 55 && text[55] != '-') return;
  if (!IsHex(id) || !IsHex(parent) || !IsHex(flags) || IsZero(id) || IsZero(parent)) return;
  trace.trace_id = id;
  trace.parent_id = parent;
  trace.sampled = (flags[1] >= 'a' ? flags[1] - 'a' + 10 : flags[1] - '0') & 1;
}

}  // namespace tern::server
