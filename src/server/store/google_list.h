// Parses the lists of objects of Google Cloud Storage.
#pragma once
#include "server/store/s3_list.h"

namespace tern::server {

// Parses an answer of GET /storage/v1/b/BUCKET/o. The version of an object is its generation. `now` is the
// time of the answer by the clock of the store; -1: unknown. Fails with kIo for anything that is not such an
// answer.
Result<ListPage> ParseGooglePage(std::string_view json, int64_t now);

}  // namespace tern::server
