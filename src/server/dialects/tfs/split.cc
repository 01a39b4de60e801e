#include "server/dialects/tfs/split.h"

#include <algorithm>
#include <cstring>
#include <mutex>

namespace tern::server::tfs {
namespace {

class PartCall;

// The parts of one call. The parts own it until all have answered.
class Group : public std::enable_shared_from_this<Group> {
 public:
  Group(std::shared_ptr<Call> whole, JoinParts join, size_t parts)
      : whole_(std::move(whole)), join_(std::move(join)), responses_(parts), left_(parts) {}
  void Start(std::vector<Part> parts);
  void OnPart(size_t index, const CallTimes& times, Response response);

 private:
  void CancelAll();
  void Finish();

  const std::shared_ptr<Call> whole_;
  const JoinParts join_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<PartCall>> calls_;  // until all have answered
  std::vector<Response> responses_;
  size_t left_;
  bool failed_ = false;
};

class PartCall final : public Call {
 public:
  PartCall(std::shared_ptr<Group> group, size_t index) : group_(std::move(group)), index_(index) {}

 protected:
  // The outputs are in the final response or in the one before it.
  void OnResponse(Response response) override {
    const bool empty = response.status.ok() && response.outputs.empty();
    if (!response.final) {
      held_ = std::move(response);
      return;
    }
    if (empty && !held_.outputs.empty()) response.outputs = std::move(held_.outputs);
    const std::shared_ptr<Group> group = std::move(group_);
    group->OnPart(index_, times, std::move(response));
  }

 private:
  std::shared_ptr<Group> group_;
  const size_t index_;
  Response held_;
};

void Group::Start(std::vector<Part> parts) {
  std::vector<std::shared_ptr<PartCall>> calls;
  for (size_t i = 0; i < parts.size(); ++i) {
    calls.push_back(std::make_shared<PartCall>(shared_from_this(), i));
    calls.back()->request = std::move(parts[i].request);
  }
  {
    const std::lock_guard lock(mutex_);
    calls_ = calls;
  }
  whole_->OnCancel([weak = weak_from_this()] {
    if (const auto group = weak.lock()) group->CancelAll();
  });
  for (size_t i = 0; i < parts.size(); ++i) parts[i].model->Submit(calls[i]);
}

void Group::CancelAll() {
  std::vector<std::shared_ptr<PartCall>> calls;
  {
    const std::lock_guard lock(mutex_);
    calls = calls_;
  }
  for (const auto& call : calls) call->Cancel();
}

void Group::OnPart(size_t index, const CallTimes& times, Response response) {
  bool first_failure = false, last = false;
  {
    const std::lock_guard lock(mutex_);
    first_failure = !response.status.ok() && !std::exchange(failed_, true);
    responses_[index] = std::move(response);
    last = --left_ == 0;
    if (last) whole_->times = times;
  }
  if (first_failure && !last) CancelAll();
  if (last) Finish();
}

// Returns the error that caused the others, which were cancelled for it.
Response FirstError(std::vector<Response>& responses) {
  Response* found = nullptr;
  for (Response& response : responses) {
    if (response.status.ok()) continue;
    if (!found || (found->status.code() == Code::kCancelled && response.status.code() != Code::kCancelled))
      found = &response;
  }
  return std::move(*found);
}

void Group::Finish() {
  std::vector<std::shared_ptr<PartCall>> calls;
  std::vector<Response> responses;
  {
    const std::lock_guard lock(mutex_);
    calls.swap(calls_);
    responses.swap(responses_);
  }
  if (failed_) return whole_->Respond(FirstError(responses));
  Response joined;
  joined.status = Guard([&] {
    joined = join_(std::move(responses));
    return joined.status;
  });
  whole_->Respond(std::move(joined));
}

// Returns the first position behind `items` texts that begin at `at`. Fails if there are fewer.
Result<size_t> SkipTexts(const WireTensor& tensor, size_t at, int64_t items) {
  for (int64_t i = 0; i < items; ++i) {
    uint32_t length = 0;
    if (tensor.bytes.size() - at < sizeof length)
      return InvalidArgument("input '", tensor.name, "' has fewer texts than its shape");
    std::memcpy(&length, tensor.bytes.data() + at, sizeof length);
    at += sizeof length;
    if (tensor.bytes.size() - at < length)
      return InvalidArgument("input '", tensor.name, "' ends inside a text");
    at += length;
  }
  return at;
}

// Cuts one input. `parts` has an element per part.
Status CutTensor(const WireTensor& tensor, int64_t items, std::vector<Request>& parts) {
  const int64_t total = tensor.dims[0];
  const auto elements = CheckedCount(tensor.dims, tensor.dtype);
  if (!elements) return InvalidArgument("input '", tensor.name, "' has too many elements");
  const int64_t per_item = total ? *elements / total : 0;
  size_t at = 0;
  int64_t first = 0;
  for (Request& part : parts) {
    const int64_t count = std::min(items, total - first);
    size_t end = 0;
    if (tensor.dtype == DType::kString) {
      TERN_ASSIGN(end, SkipTexts(tensor, at, count * per_item));
    } else {
      end = at + BytesOf(tensor.dtype, static_cast<size_t>(count * per_item));
    }
    if (end > tensor.bytes.size())
      return InvalidArgument("input '", tensor.name, "' has ", tensor.bytes.size(),
                             " bytes, which are fewer than its shape [", Join(tensor.dims, ","), "] needs");
    WireTensor& cut = part.inputs.emplace_back(WireTensor{tensor.name, tensor.dtype, tensor.dims, {}});
    cut.dims[0] = count;
    cut.bytes = tensor.bytes.Slice(at, end - at);
    at = end;
    first += count;
  }
  if (at == tensor.bytes.size()) return {};
  return InvalidArgument("input '", tensor.name, "' has ", tensor.bytes.size(), " bytes, but its shape [",
                         Join(tensor.dims, ","), "] needs ", at);
}

bool BeginsWithOne(const std::vector<TensorConfig>& tensors) {
  for (const TensorConfig& tensor : tensors)
    if (tensor.reshape || tensor.dims.empty() || tensor.dims[0] != 1) return false;
  return !tensors.empty();
}

}  // namespace

void SubmitParts(std::shared_ptr<Call> whole, std::vector<Part> parts, JoinParts join) {
  std::make_shared<Group>(std::move(whole), std::move(join), parts.size())->Start(std::move(parts));
}

int64_t ItemsPerPart(const ModelConfig& config, const Request& request) {
  if (config.sequence || config.decoupled || request.inputs.empty() || request.inputs[0].dims.empty())
    return 0;
  const int64_t items = request.inputs[0].dims[0];
  for (const WireTensor& input : request.inputs)
    if (input.dims.empty() || input.dims[0] != items) return 0;
  if (config.max_batch_size > 0) return items > config.max_batch_size ? config.max_batch_size : 0;
  return items > 1 && BeginsWithOne(config.inputs) && BeginsWithOne(config.outputs) ? 1 : 0;
}

Result<std::vector<Request>> CutRequest(const Request& request, int64_t items) {
  constexpr int64_t kMostParts = 1024;
  const int64_t total = request.inputs[0].dims[0];
  const int64_t count = total / items + (total % items != 0);
  if (count > kMostParts)
    return InvalidArgument("the request has ", total, " items, which are ", count, " executions of ", items,
                           "; a request may have ", kMostParts);
  Request common = request;
  common.inputs.clear();
  std::vector<Request> parts(static_cast<size_t>(count), common);
  for (const WireTensor& input : request.inputs) TERN_TRY(CutTensor(input, items, parts));
  return parts;
}

Response ConcatenateOutputs(std::vector<Response> responses) {
  Response out = std::move(responses[0]);
  for (size_t i = 0; i < out.outputs.size(); ++i) {
    WireTensor& joined = out.outputs[i];
    size_t bytes = joined.bytes.size();
    for (size_t k = 1; k < responses.size(); ++k) {
      const bool present = i < responses[k].outputs.size() && !joined.dims.empty();
      const WireTensor* part = present ? &responses[k].outputs[i] : nullptr;
      const bool same = part && part->name == joined.name && part->dtype == joined.dtype &&
                        part->dims.size() == joined.dims.size() &&
                        std::equal(part->dims.begin() + 1, part->dims.end(), joined.dims.begin() + 1);
      if (!same) {
        Response failed;
        failed.status = InvalidArgument("output '", joined.name,
                                        "' has different shapes for the items of the request, which were "
                                        "executed in ",
                                        responses.size(), " parts");
        return failed;
      }
      joined.dims[0] += part->dims[0];
      bytes += part->bytes.size();
    }
    Buffer all = Buffer::Allocate(bytes);
    size_t at = 0;
    for (size_t k = 0; k < responses.size(); ++k) {
      const Buffer& part = k ? responses[k].outputs[i].bytes : joined.bytes;
      if (part.size()) std::memcpy(all.data() + at, part.data(), part.size());
      at += part.size();
    }
    joined.bytes = std::move(all);
  }
  return out;
}

}  // namespace tern::server::tfs
