#include "pipeline/rows.h"

namespace tern::pipeline {
namespace {

// The bytes of an item before and after its steps.
size_t ItemBytes(const ItemRows& item) {
  size_t bytes = item.decoded_bytes;
  for (const NamedTensors& row : item.rows)
    for (const auto& [name, tensor] : row) bytes += tensor.bytes();
  return bytes;
}

}  // namespace

Status CountBytes(size_t bytes, size_t& total) {
  total += bytes;
  if (total <= kMaxRequestBytes) return {};
  return InvalidArgument("the decoded items or results of a request have more than ", kMaxRequestBytes,
                         " bytes; send fewer items per request");
}

Result<std::vector<ItemRows>> ReadItems(const std::vector<std::string_view>& items, const Stop& stop,
                                        const std::function<Result<ItemRows>(std::string_view)>& read) {
  std::vector<ItemRows> out;
  size_t total = 0;
  for (const std::string_view bytes : items) {
    TERN_TRY(stop.Check());
    auto rows = read(bytes);
    if (!rows.ok())
      return items.size() == 1 ? rows.TakeStatus()
                               : InvalidArgument("item ", out.size(), ": ", rows.status().message());
    TERN_TRY(CountBytes(ItemBytes(*rows), total));
    out.push_back(std::move(*rows));
  }
  return out;
}

}  // namespace tern::pipeline
