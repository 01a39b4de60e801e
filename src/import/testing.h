// Reads models in unit tests and fuzz targets that link an importer.
#pragma once
#include <memory>
#include <string_view>

#include "load/importer.h"
#include "ops/ops.h"

namespace tern::load {

// Reads a model from memory with the importer that the program links.
inline Result<std::unique_ptr<Graph>> ReadForTest(std::string_view bytes) {
  InitOps();
  ReadContext context;
  const Buffer buffer = Buffer::Borrow(const_cast<char*>(bytes.data()), bytes.size(), nullptr);
  return tern_importer_3()->read({"", buffer, false}, context);
}

}  // namespace tern::load
