#include "server/observe/payload_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "server/http/json_writer.h"
#include "server/observe/access_line.h"

namespace tern::server {
namespace {

constexpr size_t kMaxEntry = size_t{1} << 20, kMaxWaitingBytes = size_t{32} << 20, kMaxWaiting = 1024;

size_t BytesOf(const std::vector<WireTensor>& tensors) {
  size_t sum = 0;
  for (const WireTensor& tensor : tensors) sum += tensor.bytes.size();
  return sum;
}

Status AppendTensors(const std::vector<WireTensor>& tensors, std::string& out) {
  out += '[';
  for (const WireTensor& tensor : tensors) {
    if (out.back() != '[') out += ',';
    out += "{\"name\":";
    AppendJson(out, tensor.name);
    out += ",\"datatype\":\"";
    out += WireName(tensor.dtype);
    out += "\",\"shape\":";
    AppendJsonDims(out, tensor.dims);
    out += ",\"data\":[";
    TERN_TRY(AppendJsonElements(out, tensor, BadText::kRefuse));
    out += "]}";
  }
  out += ']';
  return {};
}

void AppendParameters(const Parameters& parameters, std::string& out) {
  if (parameters.empty()) return;
  AppendJsonKey(out, "parameters");
  out += '{';
  for (const auto& [name, value] : parameters) {
    AppendJsonKey(out, name);
    AppendJsonParameter(out, value);
  }
  out += '}';
}

void AppendId(const std::string& id, std::string& out) {
  if (id.empty()) return;
  AppendJsonKey(out, "id");
  AppendJson(out, id);
}

// The parameters that the server interprets are not in Request::parameters.
Parameters AllParameters(const Request& request) {
  Parameters all = request.parameters;
  if (!request.sequence.id.empty()) {
    int64_t number = 0;
    if (request.sequence.numeric && ParseInt(request.sequence.id, number))
      all.emplace_back("sequence_id", number);
    else
      all.emplace_back("sequence_id", request.sequence.id);
    all.emplace_back("sequence_start", request.sequence.start);
    all.emplace_back("sequence_end", request.sequence.end);
  }
  if (request.priority > 0) all.emplace_back("priority", static_cast<int64_t>(request.priority));
  return all;
}

void AppendRequestedOutputs(const Request& request, std::string& out) {
  if (request.outputs.empty()) return;
  out += ",\"outputs\":[";
  for (const RequestedOutput& output : request.outputs) {
    if (out.back() != '[') out += ',';
    out += "{\"name\":";
    AppendJson(out, output.name);
    if (output.classification > 0) {
      out += ",\"parameters\":{\"classification\":";
      AppendJsonNumber(out, int64_t{output.classification});
      out += '}';
    }
    out += '}';
  }
  out += ']';
}

}  // namespace

Status AppendPayload(const Request& request, const Response& response, std::string& out) {
  out += ",\"request\":{";
  AppendId(request.id, out);
  AppendParameters(AllParameters(request), out);
  AppendJsonKey(out, "inputs");
  TERN_TRY(AppendTensors(request.inputs, out));
  AppendRequestedOutputs(request, out);
  out += "},\"response\":";
  if (!response.status.ok()) {
    out += ErrorJson(response.status.message());
  } else if (!response.text.empty()) {
    out += response.text;
  } else {
    out += '{';
    AppendParameters(response.parameters, out);
    AppendJsonKey(out, "outputs");
    TERN_TRY(AppendTensors(response.outputs, out));
    out += '}';
  }
  return {};
}

Result<std::unique_ptr<PayloadLog>> PayloadLog::Open(const PayloadOptions& options) {
  std::unique_ptr<PayloadLog> log(new PayloadLog(options));
  TERN_TRY(log->OpenFile());
  log->thread_ = std::thread([log = log.get()] { log->Work(); });
  return log;
}

PayloadLog::~PayloadLog() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
  if (fd_ >= 0) close(fd_);
}

// Payloads may be confidential, so only the server's user may read the files.
Status PayloadLog::OpenFile() {
  fd_ = open(options_.file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  struct stat info {};
  if (fd_ < 0 || fstat(fd_, &info) != 0)
    return IoError("cannot open '", options_.file, "' for writing: ", std::strerror(errno));
  written_ = static_cast<uint64_t>(info.st_size);
  return {};
}

void PayloadLog::Watch(Call& call, const ModelVersion& version) {
  if (seen_.fetch_add(1, std::memory_order_relaxed) % options_.rate != 0) return;
  call.Tap([this, &call, name = version.config().name, number = version.version()](const Response& response) {
    if (!response.final) return;
    Entry entry{
        name,     number, std::chrono::system_clock::now(), Clock::now() - call.request.arrived, call.request,
        response, 0};
    entry.bytes = BytesOf(entry.request.inputs) + BytesOf(entry.response.outputs) + response.text.size();
    Add(std::move(entry));
  });
}

void PayloadLog::Add(Entry entry) {
  {
    const std::lock_guard lock(mutex_);
    if (entry.bytes > kMaxEntry || waiting_.size() >= kMaxWaiting ||
        waiting_bytes_ + entry.bytes > kMaxWaitingBytes) {
      dropped_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    waiting_bytes_ += entry.bytes;
    waiting_.push_back(std::move(entry));
  }
  wake_.notify_one();
}

void PayloadLog::Work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stop_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    {
      const Entry entry = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      if (!Guard([&] { return Write(entry); }).ok()) dropped_.fetch_add(1, std::memory_order_relaxed);
      lock.lock();
      waiting_bytes_ -= entry.bytes;
    }
  }
}

Status PayloadLog::Write(const Entry& entry) {
  std::string line = "{\"time\":\"";
  AppendTime(entry.time, line);
  line += "\",\"model\":";
  AppendJson(line, entry.model);
  line += ",\"version\":";
  AppendJson(line, entry.version);
  line += ",\"duration_us\":";
  AppendJsonNumber(line, static_cast<int64_t>(entry.duration.count() / 1000));
  TERN_TRY(AppendPayload(entry.request, entry.response, line));
  line += "}\n";
  if (written_ > 0 && written_ + line.size() > options_.max_bytes) Rotate();
  if (fd_ < 0) TERN_TRY(OpenFile());
  // Writes a line with one call. If the disk is full, the incomplete line is truncated away.
  const ssize_t count = write(fd_, line.data(), line.size());
  if (count == static_cast<ssize_t>(line.size())) {
    written_ += line.size();
    return {};
  }
  if (count > 0 && ftruncate(fd_, static_cast<off_t>(written_)) != 0)
    written_ += static_cast<uint64_t>(count);
  return IoError("cannot write '", options_.file, "'");
}

void PayloadLog::Rotate() {
  const auto name = [this](int i) { return i == 0 ? options_.file : StrCat(options_.file, ".", i); };
  close(fd_);
  fd_ = -1;
  if (options_.files < 2) std::remove(options_.file.c_str());
  for (int i = options_.files - 1; i > 0; --i) std::rename(name(i - 1).c_str(), name(i).c_str());
  written_ = 0;
}

}  // namespace tern::server
