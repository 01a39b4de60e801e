// Reads the small XML documents that S3 and STS send.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace tern::server {

// Calls `visit` at the end of each element, with its path, such as "ListBucketResult/Contents/Key", and the
// text directly inside it. Prefixes of namespaces are part of names; attributes are skipped. Fails with kIo
// for anything malformed, for document types and entities of its own, and below a depth of 16.
Status ReadXml(std::string_view xml,
               const std::function<Status(const std::string& path, const std::string& text)>& visit);

}  // namespace tern::server
