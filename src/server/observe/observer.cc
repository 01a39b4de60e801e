#include "server/observe/observer.h"

#include "server/core/log.h"
#include "server/observe/access_line.h"
#include "server/observe/background_writer.h"
#include "server/observe/exporter.h"
#include "server/observe/machine.h"
#include "server/observe/metrics_text.h"

namespace tern::server {
namespace {

class ObserverImpl final : public Observer {
 public:
  explicit ObserverImpl(const Registry& models) : models_(models), ticks_(MachineTicks()) {}
  ~ObserverImpl() override;
  Status Open(const ObserveOptions& options);

  SettingsControl& settings() override { return *settings_; }
  void AddConnections(std::string protocol, std::function<size_t()> count) override {
    connections_.emplace_back(std::move(protocol), std::move(count));
  }
  void AddMetrics(std::function<void(MetricsText&)> append) override { more_.push_back(std::move(append)); }
  void Reopen() override {
    if (log_) log_->Reopen();
  }
  bool wants_access_log() const override {
    return log_ || (tracing_ && settings_->tracing()) || LogEnabled(LogLevel::kVerbose);
  }
  void OnRequest(const AccessRecord& record) override;
  std::string PrometheusText() override;

 private:
  void Trace(const AccessRecord& record, std::chrono::system_clock::time_point wall, Clock::time_point now);
  void AppendMachine(MetricsText& text);
  void AppendProcess(MetricsText& text);
  double CpuUtilization();

  const Registry& models_;
  std::unique_ptr<SettingsStore> settings_;
  std::unique_ptr<BackgroundWriter> log_, trace_file_;
  std::unique_ptr<TraceExporter> exporter_;
  bool tracing_ = false;  // traces have a destination
  std::atomic<uint64_t> traces_{0};
  std::vector<std::pair<std::string, std::function<size_t()>>> connections_;
  std::vector<std::function<void(MetricsText&)>> more_;
  std::mutex mutex_;
  CpuTicks ticks_;
  double utilization_ = 0;
  Clock::time_point sampled_;
};

ObserverImpl::~ObserverImpl() {
  if (trace_file_ && traces_.load()) trace_file_->Add("]");
}

Status ObserverImpl::Open(const ObserveOptions& options) {
  TERN_ASSIGN(settings_, SettingsStore::Create(options.trace, options.log, &models_));
  if (!options.access_log.empty()) {
    TERN_ASSIGN(log_, BackgroundWriter::Open(options.access_log));
  }
  if (!options.trace.file.empty()) {
    TERN_ASSIGN(trace_file_, BackgroundWriter::Open(options.trace.file));
  }
  if (!options.trace_endpoint.empty()) {
    TERN_ASSIGN(exporter_, TraceExporter::Create(options.trace_endpoint, options.service, options.version));
  }
  tracing_ = trace_file_ || exporter_;
  return {};
}

void ObserverImpl::OnRequest(const AccessRecord& record) {
  if (!wants_access_log()) return;
  const auto wall = std::chrono::system_clock::now();
  const Clock::time_point now = Clock::now();
  const bool verbose = LogEnabled(LogLevel::kVerbose);
  if (log_ || verbose) {
    thread_local std::string line;
    line.clear();
    AppendAccessLine(record, wall, now, line);
    if (log_) log_->Add(line);
    if (verbose) Log(LogLevel::kVerbose, std::string_view(line).substr(0, line.find('\n')));
  }
  // Only inferences start new traces. Other requests are traced only if the caller's trace context is
  // sampled.
  const bool asked = record.trace && record.trace->sampled;
  if (tracing_ && (record.times || asked) && settings_->Sample(record.model, asked)) Trace(record, wall, now);
}

void ObserverImpl::Trace(const AccessRecord& record, std::chrono::system_clock::time_point wall,
                         Clock::time_point now) {
  const uint64_t id = traces_.fetch_add(1) + 1;
  if (trace_file_) trace_file_->Add((id == 1 ? "[" : ",") + TritonTraceJson(record, id, now));
  if (exporter_) exporter_->Add(SpansOf(record, wall, now));
}

double ObserverImpl::CpuUtilization() {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Clock::time_point now = Clock::now();
  if (now - sampled_ < std::chrono::milliseconds(100)) return utilization_;
  const CpuTicks ticks = MachineTicks();
  utilization_ = Utilization(ticks_, ticks);
  ticks_ = ticks;
  sampled_ = now;
  return utilization_;
}

void ObserverImpl::AppendMachine(MetricsText& text) {
  const MemoryBytes memory = MachineMemory();
  text.Family("nv_cpu_utilization", "gauge", "CPU utilization rate [0.0 - 1.0]");
  text.Sample("nv_cpu_utilization", {}, CpuUtilization());
  text.Family("nv_cpu_memory_total_bytes", "gauge", "CPU total memory (RAM), in bytes");
  text.Sample("nv_cpu_memory_total_bytes", {}, memory.total);
  text.Family("nv_cpu_memory_used_bytes", "gauge", "CPU used memory (RAM), in bytes");
  text.Sample("nv_cpu_memory_used_bytes", {}, memory.total - std::min(memory.total, memory.available));
}

void ObserverImpl::AppendProcess(MetricsText& text) {
  const ProcessFacts facts = ThisProcess();
  text.Family("process_cpu_seconds_total", "counter", "Processor time of the server");
  text.Sample("process_cpu_seconds_total", {}, facts.cpu_seconds);
  text.Family("process_resident_memory_bytes", "gauge", "Resident memory of the server");
  text.Sample("process_resident_memory_bytes", {}, facts.resident_bytes);
  text.Family("process_virtual_memory_bytes", "gauge", "Virtual memory of the server");
  text.Sample("process_virtual_memory_bytes", {}, facts.virtual_bytes);
  text.Family("process_open_fds", "gauge", "Open file descriptors of the server");
  text.Sample("process_open_fds", {}, facts.open_files);
  text.Family("tern_connections", "gauge", "Open connections of clients");
  for (const auto& [protocol, count] : connections_)
    text.Sample("tern_connections", {{"protocol", protocol}}, uint64_t{count()});
  text.Family("tern_access_log_dropped_total", "counter", "Lines of the access log that were not written");
  text.Sample("tern_access_log_dropped_total", {}, log_ ? log_->dropped() : uint64_t{0});
  text.Family("tern_trace_spans_dropped_total", "counter", "Spans that were not sent to the collector");
  text.Sample("tern_trace_spans_dropped_total", {}, exporter_ ? exporter_->dropped() : uint64_t{0});
}

std::string ObserverImpl::PrometheusText() {
  MetricsText text;
  const Versions versions = models_.All();
  AppendModelMetrics(versions, text);
  AppendGenerationMetrics(versions, text);
  for (const auto& append : more_) append(text);
  AppendMachine(text);
  AppendProcess(text);
  return text.Take();
}

}  // namespace

Result<std::unique_ptr<Observer>> Observer::Create(const ObserveOptions& options, const Registry& models) {
  auto observer = std::make_unique<ObserverImpl>(models);
  TERN_TRY(observer->Open(options));
  return std::unique_ptr<Observer>(std::move(observer));
}

}  // namespace tern::server
