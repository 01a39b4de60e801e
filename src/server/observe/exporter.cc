#include "server/observe/exporter.h"

namespace tern::server {
namespace {

constexpr size_t kLimit = 8192;  // the largest number of spans that wait
// If this number of spans waits, they are sent at once; fewer are sent after kDelay.
constexpr size_t kBatch = 512;
constexpr std::chrono::milliseconds kDelay{500};
constexpr std::chrono::milliseconds kPostLimit{2000};

}  // namespace

Result<std::unique_ptr<TraceExporter>> TraceExporter::Create(const std::string& endpoint, std::string service,
                                                             std::string version) {
  TERN_ASSIGN(Url url, ParseUrl(endpoint, 4318));
  if (url.path == "/") url.path = "/v1/traces";
  return std::unique_ptr<TraceExporter>(
      new TraceExporter(std::move(url), std::move(service), std::move(version)));
}

TraceExporter::TraceExporter(Url url, std::string service, std::string version)
    : url_(std::move(url)),
      service_(std::move(service)),
      version_(std::move(version)),
      thread_([this] { Work(); }) {}

TraceExporter::~TraceExporter() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void TraceExporter::Add(std::vector<Span> spans) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (pending_.size() + spans.size() > kLimit) {
    dropped_.fetch_add(spans.size(), std::memory_order_relaxed);
    return;
  }
  for (Span& span : spans) pending_.push_back(std::move(span));
  if (pending_.size() >= kBatch) wake_.notify_one();
}

void TraceExporter::Work() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    wake_.wait_for(lock, kDelay, [this] { return stop_ || pending_.size() >= kBatch; });
    const bool last = stop_;
    if (!pending_.empty()) {
      std::vector<Span> spans;
      spans.swap(pending_);
      lock.unlock();
      Post(spans);
      lock.lock();
    }
    if (last) return;
  }
}

void TraceExporter::Post(const std::vector<Span>& spans) {
  const auto answer =
      Fetch(url_, "POST", "application/json", OtlpJson(spans, service_, version_), kPostLimit);
  if (!answer.ok() || answer->status / 100 != 2) dropped_.fetch_add(spans.size(), std::memory_order_relaxed);
}

}  // namespace tern::server
