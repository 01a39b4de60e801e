// The HTTP/2 session of a connection, and what nghttp2 calls back.
#pragma once
#include "server/grpc/grpc_connection.h"

namespace tern::server {

// The session gives no more data to a connection that holds so many bytes for its socket.
inline constexpr size_t kFillBytes = size_t{1} << 20;

// Null if there is no memory. The session refers to the connection.
SessionPointer MakeSession(GrpcConnection& connection);

}  // namespace tern::server
