// The server's log: lines on standard error. v2/logging changes its settings while the server runs.
#pragma once
#include <string_view>

namespace tern::server {

enum class LogLevel { kInfo, kWarning, kError, kVerbose };

struct LogSettings {
  bool info = true, warning = true, error = true;
  int verbose = 0;         // 1: also messages of LogLevel::kVerbose
  bool with_time = false;  // lines begin with the time, in ISO 8601
};

// The settings belong to the process. These functions are thread-safe.
void SetLogSettings(const LogSettings& settings);
LogSettings CurrentLogSettings();
bool LogEnabled(LogLevel level);
// Writes one line, with at most 8192 bytes of the message. Control characters become spaces, because messages
// quote names from clients, and such a name must not start a new line.
void Log(LogLevel level, std::string_view message);

}  // namespace tern::server
