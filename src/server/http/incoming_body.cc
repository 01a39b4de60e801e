#include "server/http/incoming_body.h"

namespace tern::server {

std::optional<HttpReply> IncomingBody::Decode(ServerContext& context) {
  if (encoding == Encoding::kIdentity) return {};
  auto plain = Guard([&] { return Decompress(text(), context.limits.body_bytes); });
  if (!plain.ok())
    return ErrorReply(plain.status().code() == Code::kResourceExhausted ? 413 : 400,
                      plain.status().message());
  if (!reservation.Add(context, plain->size())) return ErrorReply(TooManyQueuedBytes(context, plain->size()));
  bytes = std::move(*plain);
  encoding = Encoding::kIdentity;
  return {};
}

}  // namespace tern::server
