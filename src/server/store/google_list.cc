#include "server/store/google_list.h"

#include <simdjson.h>

#include <algorithm>

#include "server/http/base64.h"
#include "server/store/digest.h"
#include "server/store/times.h"

namespace tern::server {
namespace {

// Numbers of 64 bits are strings in this protocol.
bool TextOf(const simdjson::dom::element& item, const char* key, std::string& out) {
  std::string_view text;
  if (item[key].get(text)) return false;
  out = text;
  return true;
}

Result<ObjectInfo> Convert(const simdjson::dom::element& item, int64_t now) {
  ObjectInfo object;
  std::string size, md5, updated;
  if (!TextOf(item, "name", object.key) || !TextOf(item, "size", size) ||
      !TextOf(item, "generation", object.version) || !ParseUnsigned(size, object.size))
    return IoError("the list of objects has an entry without name, size or generation");
  if (TextOf(item, "md5Hash", md5)) {
    std::string bytes;
    if (!DecodeBase64(md5, bytes) || bytes.size() != 16)
      return IoError("the list of objects has an invalid MD5");
    object.md5 = Hex(bytes);
  }
  const auto time = TextOf(item, "updated", updated) ? ParseIsoTime(updated) : std::nullopt;
  if (time && now >= 0) object.age = static_cast<double>(std::max<int64_t>(now - *time, 0));
  return object;
}

}  // namespace

Result<ListPage> ParseGooglePage(std::string_view json, int64_t now) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  simdjson::dom::object object;
  if (parser.parse(json.data(), json.size()).get(root) || root.get(object))
    return IoError("the answer is not a list of objects");
  ListPage page;
  TextOf(root, "nextPageToken", page.next);
  simdjson::dom::array items;
  if (root["items"].get(items)) return page;  // an empty list has no items
  for (const simdjson::dom::element item : items) {
    TERN_ASSIGN(ObjectInfo info, Convert(item, now));
    page.objects.push_back(std::move(info));
  }
  return page;
}

}  // namespace tern::server
