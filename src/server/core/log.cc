#include "server/core/log.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <string>

namespace tern::server {
namespace {

constexpr size_t kMaxMessage = 8192;  // of a message

// One number, so that a line sees all settings of one change. Bits 0 to 2: info, warning, error; bit 3: with
// time; the rest: the verbose level.
constexpr uint64_t kStart = 7;
std::atomic<uint64_t> current{kStart};

// "2026-11-16T19:05:56.123456Z "
void AppendTime(std::string& out) {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(since).count();
  const auto seconds = static_cast<time_t>(micros / 1'000'000);
  tm parts{};
  gmtime_r(&seconds, &parts);
  char text[48];
  const size_t size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  out.append(text, size);
  std::snprintf(text, sizeof text, ".%06dZ ", static_cast<int>(micros % 1'000'000));
  out += text;
}

const char* Prefix(LogLevel level) {
  switch (level) {
    case LogLevel::kError:
      return "error: ";
    case LogLevel::kWarning:
      return "warning: ";
    case LogLevel::kVerbose:
      return "verbose: ";
    default:
      return "info: ";
  }
}

}  // namespace

void SetLogSettings(const LogSettings& s) {
  const auto bit = [](bool set, int place) { return static_cast<uint64_t>(set) << place; };
  current.store(bit(s.info, 0) | bit(s.warning, 1) | bit(s.error, 2) | bit(s.with_time, 3) |
                static_cast<uint64_t>(s.verbose) << 4);
}

LogSettings CurrentLogSettings() {
  const uint64_t s = current.load(std::memory_order_relaxed);
  return {(s & 1) != 0, (s & 2) != 0, (s & 4) != 0, static_cast<int>(s >> 4), (s & 8) != 0};
}

bool LogEnabled(LogLevel level) {
  const LogSettings settings = CurrentLogSettings();
  switch (level) {
    case LogLevel::kError:
      return settings.error;
    case LogLevel::kWarning:
      return settings.warning;
    case LogLevel::kVerbose:
      return settings.verbose > 0;
    default:
      return settings.info;
  }
}

void Log(LogLevel level, std::string_view message) {
  if (!LogEnabled(level)) return;
  std::string line;
  if (CurrentLogSettings().with_time) AppendTime(line);
  line += Prefix(level);
  const size_t begin = line.size();
  line += message.substr(0, kMaxMessage);
  for (size_t i = begin; i < line.size(); ++i)
    if (static_cast<unsigned char>(line[i]) < 0x20 || line[i] == 0x7F) line[i] = ' ';
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace tern::server
