#include "server/store/s3_list.h"

#include <algorithm>

#include "server/http/route.h"
#include "server/store/times.h"
#include "server/store/xml.h"

namespace tern::server {
namespace {

struct Fields {
  std::string key, etag, modified;
  uint64_t size = 0;
  bool has_size = false;
};

Status ReadField(std::string_view name, const std::string& text, Fields& fields) {
  if (name == "Key") fields.key = text;
  if (name == "ETag") fields.etag = text;
  if (name == "LastModified") fields.modified = text;
  if (name == "Size") fields.has_size = ParseUnsigned(text, fields.size);
  return {};
}

Result<ObjectInfo> Convert(Fields& fields, bool encoded, int64_t now) {
  if (fields.key.empty() || !fields.has_size)
    return IoError("the list of objects has an entry without key or size");
  ObjectInfo object;
  if (encoded) {
    std::replace(fields.key.begin(), fields.key.end(), '+', ' ');
    if (!PercentDecode(fields.key, object.key))
      return IoError("the list of objects has a key that is not encoded");
  } else {
    object.key = std::move(fields.key);
  }
  object.size = fields.size;
  object.version = fields.etag.empty() ? StrCat(fields.modified, "|", fields.size) : std::move(fields.etag);
  const auto modified = ParseIsoTime(fields.modified);
  if (modified && now >= 0) object.age = static_cast<double>(std::max<int64_t>(now - *modified, 0));
  return object;
}

}  // namespace

Result<ListPage> ParseListPage(std::string_view xml, int64_t now) {
  ListPage page;
  std::vector<Fields> entries;
  Fields current;
  bool encoded = false, truncated = false, is_list = false;
  TERN_TRY(ReadXml(xml, [&](const std::string& path, const std::string& text) -> Status {
    constexpr std::string_view kContents = "ListBucketResult/Contents";
    if (path == "ListBucketResult") is_list = true;
    if (path == "ListBucketResult/EncodingType") encoded = text == "url";
    if (path == "ListBucketResult/IsTruncated") truncated = text == "true";
    if (path == "ListBucketResult/NextContinuationToken") page.next = text;
    if (path == kContents) {
      entries.push_back(std::move(current));
      current = {};
    } else if (StartsWith(path, kContents) && path[kContents.size()] == '/') {
      return ReadField(std::string_view(path).substr(kContents.size() + 1), text, current);
    }
    return {};
  }));
  if (!is_list) return IoError("the answer is not a list of objects");
  for (Fields& entry : entries) {
    TERN_ASSIGN(ObjectInfo object, Convert(entry, encoded, now));
    page.objects.push_back(std::move(object));
  }
  if (!truncated) page.next.clear();
  if (truncated && page.next.empty())
    return IoError("the list of objects is truncated without a token for the rest");
  return page;
}

}  // namespace tern::server
