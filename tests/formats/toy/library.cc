// Reads the toy format.
#include "base/strings.h"
#include "ir/text.h"
#include "load/importer.h"

namespace tern::toy {
namespace {

constexpr std::string_view kHeader = "toy 1\n";

Result<std::unique_ptr<Graph>> Parse(std::string_view text, load::ReadContext& context) {
  if (!StartsWith(text, kHeader)) return InvalidModel("a toy model begins with the line 'toy 1'");
  text.remove_prefix(kHeader.size());
  if (StartsWith(text, "# ")) context.warnings.push_back("the comment in the first line is ignored");
  const size_t begin = StartsWith(text, "# ") ? text.find('\n') + 1 : 0;
  return ParseGraph(text.substr(begin));
}

Result<std::unique_ptr<Graph>> Read(const load::Source& source, load::ReadContext& context) {
  return Guard([&]() -> Result<std::unique_ptr<Graph>> {
    if (!source.folder) return Parse(source.text(), context);
    TERN_ASSIGN(const Buffer bytes, Buffer::MapFile(source.path + "/model.toy"));
    return Parse(load::Source{"", bytes, false}.text(), context);
  });
}

}  // namespace
}  // namespace tern::toy

TERN_IMPORTER(tern::toy::Read)
