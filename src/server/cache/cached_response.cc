#include "server/cache/cached_response.h"

#include <cstring>

namespace tern::server {

size_t CachedResponse::bytes() const {
  constexpr size_t kPerEntry = 256, kPerPart = 96;
  size_t sum = kPerEntry + text.size();
  for (const WireTensor& output : outputs)
    sum += kPerPart + output.name.size() + output.dims.size() * sizeof(int64_t) + output.bytes.size();
  for (const auto& [name, value] : parameters) {
    sum += kPerPart + name.size();
    if (const auto* content = std::get_if<std::string>(&value)) sum += content->size();
  }
  return sum;
}

Response CachedResponse::ToResponse() const {
  Response response;
  response.outputs = outputs;
  response.text = text;
  response.parameters = parameters;
  return response;
}

size_t PayloadBytes(const Response& response) {
  size_t sum = response.text.size();
  for (const WireTensor& output : response.outputs) sum += output.bytes.size();
  return sum;
}

std::shared_ptr<const CachedResponse> Freeze(const Response& response) {
  auto frozen = std::make_shared<CachedResponse>();
  frozen->outputs = response.outputs;
  frozen->text = response.text;
  frozen->parameters = response.parameters;
  constexpr size_t kAlign = 64;
  size_t total = 0;
  for (const WireTensor& output : response.outputs)
    total += (output.bytes.size() + kAlign - 1) / kAlign * kAlign;
  const Buffer all = Buffer::Allocate(total);
  size_t at = 0;
  for (WireTensor& output : frozen->outputs) {
    const size_t size = output.bytes.size();
    if (size > 0) std::memcpy(all.data() + at, output.bytes.data(), size);
    output.bytes = all.Slice(at, size);
    at += (size + kAlign - 1) / kAlign * kAlign;
  }
  return frozen;
}

}  // namespace tern::server
