// The base class of the load generator's HTTP and gRPC connections. It owns the socket.
#pragma once
#include <sys/uio.h>

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
  // Called when a new connection is opened. Drops all state of the previous connection.
  virtual void OnOpen() = 0;
  virtual void Start(const RequestBytes& request) = 0;
  // Points `parts` to the next bytes to send. Returns the number of parts, 0 if there are none.
  static constexpr int kMaxParts = 2;
  virtual int Output(iovec* parts) = 0;
  virtual void OnSent(size_t bytes) = 0;
  // Returns false if the bytes violate the protocol.
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
  uint64_t life_ = 0;  // the number of connections opened so far
};

}  // namespace tern::server::loadgen
