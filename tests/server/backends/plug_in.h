// Functions that the sample plug-ins share. The plug-ins use only include/tern/backend.h of Tern.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "tern/backend.h"

namespace plug_in {

inline const TernHost* host = nullptr;

inline int32_t Initialise(const TernHost* functions, void**, TernError*) {
  host = functions;
  return TERN_OK;
}

inline int32_t Fail(TernError* error, TernCode code, const char* message) {
  error->code = code;
  std::snprintf(error->message, sizeof error->message, "%s", message);
  return code;
}

inline std::string Parameter(const TernModelInfo& info, const std::string& key,
                             const std::string& otherwise) {
  for (uint64_t i = 0; i < info.parameter_count; ++i)
    if (key == info.parameters[i].key) return info.parameters[i].value;
  return otherwise;
}

inline const TernTensor* Input(const TernBatch& batch, const std::string& name) {
  for (uint64_t i = 0; i < batch.input_count; ++i)
    if (name == batch.inputs[i].name) return &batch.inputs[i];
  return nullptr;
}

// Returns a copy of element i, or 0 if the tensor has no element i. The data of a tensor may have any
// alignment.
template <class T> T At(const TernTensor& tensor, uint64_t i) {
  T value{};
  if ((i + 1) * sizeof value <= tensor.bytes)
    std::memcpy(&value, static_cast<const char*>(tensor.data) + i * sizeof value, sizeof value);
  return value;
}

template <class T>
void AddOutput(TernOutputs* to, const char* name, TernType type, std::vector<int64_t> dims,
               const std::vector<T>& values) {
  const TernTensor tensor{name,        type,    static_cast<int32_t>(dims.size()),
                          dims.data(), nullptr, values.size() * sizeof(T)};
  if (void* memory = host->allocate(to, &tensor)) std::memcpy(memory, values.data(), tensor.bytes);
}

}  // namespace plug_in
