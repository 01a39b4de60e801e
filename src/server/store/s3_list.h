// Parses the answers of S3's ListObjectsV2.
#pragma once
#include "server/store/object_store.h"

namespace tern::server {

struct ListPage {
  std::vector<ObjectInfo> objects;  // keys begin with the prefix of the request
  std::string next;                 // the token of the next page; empty: this is the last one
};

// `now` is the time of the answer by the clock of the store; -1: unknown. Fails with kIo for anything that is
// not such an answer.
Result<ListPage> ParseListPage(std::string_view xml, int64_t now);

}  // namespace tern::server
