// Passes replies from any thread to the thread of a connection.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "server/grpc/rpc.h"
#include "server/net/loop.h"

namespace tern::server {

class GrpcConnection;

// Calls share its ownership, so it may outlive its connection.
class ReplyBox : public std::enable_shared_from_this<ReplyBox> {
 public:
  // Constructed and closed on the loop's thread.
  ReplyBox(Loop& loop, GrpcConnection& connection);
  // Thread-safe. On the loop's thread the connection gets the reply at once. Replies after Close are dropped.
  void Deliver(Reply reply);
  // Thread-safe. Runs a function on the loop's thread, in a turn of the connection. Drops it after Close.
  void Post(std::function<void(GrpcConnection&)> function);
  void Close();

 private:
  void DeliverAll();

  const std::thread::id thread_;
  GrpcConnection* connection_;  // used only on the loop's thread
  std::mutex mutex_;            // guards the members below
  Loop* loop_;
  std::vector<Reply> replies_;
};

}  // namespace tern::server
