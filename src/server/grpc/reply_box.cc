#include "server/grpc/reply_box.h"

#include "server/grpc/grpc_connection.h"

namespace tern::server {

ReplyBox::ReplyBox(Loop& loop, GrpcConnection& connection)
    : thread_(std::this_thread::get_id()), connection_(&connection), loop_(&loop) {}

void ReplyBox::Deliver(Reply reply) {
  if (std::this_thread::get_id() == thread_) {
    if (connection_) connection_->OnReply(std::move(reply));
    return;
  }
  const std::lock_guard lock(mutex_);
  if (!loop_) return;
  replies_.push_back(std::move(reply));
  // The posted function delivers all replies that arrive before it runs, so only the first reply posts it.
  if (replies_.size() == 1) loop_->Post([self = shared_from_this()] { self->DeliverAll(); });
}

void ReplyBox::Post(std::function<void(GrpcConnection&)> function) {
  const std::lock_guard lock(mutex_);
  if (!loop_) return;
  loop_->Post([self = shared_from_this(), function = std::move(function)] {
    if (self->connection_) self->connection_->RunTurn(function);
  });
}

void ReplyBox::DeliverAll() {
  std::vector<Reply> replies;
  {
    const std::lock_guard lock(mutex_);
    replies.swap(replies_);
  }
  if (connection_) connection_->OnReplies(std::move(replies));
}

void ReplyBox::Close() {
  connection_ = nullptr;
  std::vector<Reply> dropped;
  const std::lock_guard lock(mutex_);
  loop_ = nullptr;
  dropped.swap(replies_);
}

}  // namespace tern::server
