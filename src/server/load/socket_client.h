// What HTTP and gRPC connections of the load generator share: the socket and its buffers.
#pragma once
#include <string>
#include <string_view>

#include "server/load/client.h"

namespace tern::server::loadgen {

class SocketClient : public ClientConnection, public Watcher {
 public:
  SocketClient(Loop& loop, const Url& url, AnswerSink& sink) : loop_(loop), url_(url), sink_(sink) {}
  ~SocketClient() override { Close(); }
  bool busy() const override { return busy_; }
  void Send(const RequestBytes& request, bool keep_body) override;
  void Abort(const std::string& message) override;
  void OnEvents(bool readable, bool writable, bool hang_up) override;

 protected:
  // A new connection is being made; forget the old one.
  virtual void OnOpen() = 0;
  virtual void Start(const RequestBytes& request) = 0;
  // The next bytes to send; empty: none.
  virtual std::string_view Output() = 0;
  virtual void OnSent(size_t bytes) = 0;
  // Returns false if the bytes are not the protocol.
  virtual bool OnReceived(std::string_view bytes) = 0;
  virtual bool CloseAfterAnswer() const { return false; }

  void Finish(Answer answer);  // reports the answer
  const Url& url() const { return url_; }
  bool keep_body_ = false;

 private:
  Status Open();
  void Close();
  void Flush();
  void Receive();
  void Fail(const std::string& message);

  Loop& loop_;
  const Url url_;
  AnswerSink& sink_;
  int fd_ = -1;
  bool busy_ = false, watching_write_ = false, connected_ = false;
  uint64_t life_ = 0;  // counts connections
};

}  // namespace tern::server::loadgen
