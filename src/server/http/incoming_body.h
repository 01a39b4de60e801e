// The body of a request.
#pragma once
#include <optional>

#include "server/core/byte_budget.h"
#include "server/core/compression.h"
#include "server/http/reply.h"

namespace tern::server {

struct IncomingBody {
  Buffer bytes;
  Encoding encoding = Encoding::kIdentity;  // of `bytes`
  ByteReservation reservation;              // for `bytes`

  std::string_view text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
  // Decompresses the bytes, which takes long for long bodies. Returns the reply to the client if that fails.
  std::optional<HttpReply> Decode(ServerContext& context);
};

}  // namespace tern::server
