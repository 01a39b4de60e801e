// Parses a chat template and runs it on a conversation.
#include <cstdlib>
#include <string_view>

#include "entry.h"
#include "server/generate/template/chat_template.h"

using namespace tern;
using namespace tern::server;

namespace {

constexpr char kVariables[] =
    R"({"messages":[{"role":"system","content":" s "},{"role":"user","content":"h\u00e9llo"},{"role":"assistant","content":null}],)"
    R"("add_generation_prompt":true,"bos_token":"<s>","eos_token":"</s>","tools":null,"n":3,"x":[1,2.5,true]})";

}  // namespace

int TERN_FUZZ_ENTRY(const uint8_t* bytes, size_t size) {
  constexpr size_t kMaxBytes = 4096;  // the limit on steps, not on bytes, bounds the time of a template
  const std::string_view text(reinterpret_cast<const char*>(bytes), size < kMaxBytes ? size : kMaxBytes);
  const auto parsed = ChatTemplate::Parse(text);
  if (parsed.status().code() == Code::kInternal) std::abort();
  if (!parsed.ok()) return 0;
  const auto variables = ParseValue(kVariables);
  if (!variables.ok()) std::abort();
  if ((*parsed)->Render(*variables).status().code() == Code::kInternal) std::abort();
  return 0;
}
