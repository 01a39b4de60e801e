// The model in its own process, with its instances.
#pragma once
#include <map>
#include <thread>

#include "server/isolation/arena.h"
#include "server/isolation/channel.h"

namespace tern::server {

class ChildModel {
 public:
  // `server` must outlive the model.
  ChildModel(Channel& server, std::unique_ptr<BackendModel> model, ModelConfig config);
  ~ChildModel();
  // Serves messages until the server closes its socket or sends a wrong message. Returns why.
  Status Serve();

 private:
  class Instance;
  class ServerCall;

  Status Handle(Message message);
  Status OpenInstance(Message message);
  Status StartCall(const Message& message);
  void CancelCall(uint64_t id);
  void SendStatistics();

  Channel& server_;
  const std::unique_ptr<BackendModel> model_;
  const ModelConfig config_;
  std::map<uint64_t, std::unique_ptr<Instance>> instances_;
  std::mutex calls_mutex_;
  std::map<uint64_t, std::weak_ptr<Call>> calls_;
  std::chrono::steady_clock::time_point told_;  // when statistics were last compared with sent_
  std::string sent_;                            // the last statistics
};

}  // namespace tern::server
