// Imports models from hostile bytes. CMakeLists.txt builds one program per importer. The result must be an
// error or a valid graph.
#include <cstdlib>

#include "check_model.h"
#include "entry.h"
#include "import/testing.h"

int TERN_FUZZ_ENTRY(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const tern::Buffer buffer = tern::Buffer::Borrow(const_cast<uint8_t*>(data), size, nullptr);
  const tern::load::Format* format =
      tern::load::Formats().Find({"", buffer, false});  // calls the detection function of every format
  if (format && format->name.empty()) std::abort();
  CheckModel(tern::load::ReadForTest(bytes));
  return 0;
}
