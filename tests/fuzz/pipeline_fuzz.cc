// Parses pipeline.yaml.
#include <cstdlib>
#include <string_view>

#include "entry.h"
#include "pipeline/spec.h"

using namespace tern;

int TERN_FUZZ_ENTRY(const uint8_t* bytes, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto spec = pipeline::ParseSpec(text, "pipeline.yaml");
  if (spec.status().code() == Code::kInternal) std::abort();
  if (spec.ok() && (spec->inputs.empty() || spec->outputs.empty())) std::abort();
  return 0;
}
