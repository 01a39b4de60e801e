// A request for embeddings of texts or tokens.
#pragma once
#include <mutex>

#include "data/tokenizer/tokenizer.h"
#include "server/dialects/openai/openai_reply.h"
#include "server/dialects/openai/request_reader.h"
#include "server/http/connection.h"
#include "server/pipeline/pipeline_model.h"

namespace tern::server {

// Returns the model if its pipeline makes one vector of one text, else null.
std::shared_ptr<PipelineModel> EmbedderOf(const std::shared_ptr<ModelVersion>& version);

// Tokenizes the inputs on a worker thread and runs the model, batch by batch.
class EmbeddingCall : public Exchange, public std::enable_shared_from_this<EmbeddingCall> {
 public:
  explicit EmbeddingCall(HttpConnection& connection);
  void Start(HttpConnection& connection, IncomingBody body);
  // Keeps the place of the request in its tenant's quota until it is answered.
  void Hold(Permit permit) { permit_ = std::move(permit); }
  void Abandon() override;
  void Describe(AccessRecord& record) const override;

 private:
  class ModelCall;
  class QueuedRun;
  struct Row {
    std::vector<int64_t> ids, mask, types;
  };
  using Values = std::vector<int64_t> Row::*;

  void Prepare(IncomingBody body);
  RequestFault Begin(std::string_view body);
  Status FindModel();
  Status Tokenize();
  Result<WireTensor> MakeInput(const std::string& name, size_t count, Values values) const;
  Status Submit();
  void OnResponse(Response response);
  Status Take(const Response& response);
  void Answer(HttpReply reply);
  std::string Json() const;

  const std::shared_ptr<LoopLink> loop_;
  ServerContext& context_;
  const std::weak_ptr<HttpConnection> connection_;
  const Visitor visitor_;
  Permit permit_;

  EmbeddingRequest request_;
  std::shared_ptr<PipelineModel> model_;  // set under mutex_, because Describe may come earlier
  std::shared_ptr<const data::Tokenizer> tokenizer_;
  std::vector<Row> rows_;
  size_t next_ = 0, running_rows_ = 0;  // rows that were submitted, and those of the last run
  std::vector<float> vectors_;          // of all rows, in their order
  int64_t size_ = 0, tokens_ = 0;       // elements of a vector; tokens without padding
  ByteReservation reservation_;

  mutable std::mutex mutex_;
  std::shared_ptr<Call> running_;  // under mutex_
  bool abandoned_ = false;         // under mutex_
};

}  // namespace tern::server
