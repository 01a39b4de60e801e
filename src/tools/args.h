// Declares the options of a sub-command. Wraps CLI11, so that the commands need not include its headers.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tern::tools {

class Args {
 public:
  explicit Args(CLI::App& app) : app_(app) {}

  // Options that are declared after this call are listed under `heading` in the help text.
  void Section(const std::string& heading) { section_ = heading; }

  // `name` is "--long" or "-s,--long". `value` is the name of the option's value in the help text, such
  // as "FILE".
  void Flag(const std::string& name, bool& out, const std::string& doc);
  void Option(const std::string& name, std::string& out, const std::string& value, const std::string& doc);
  void Option(const std::string& name, int64_t& out, const std::string& value, const std::string& doc,
              int64_t lowest = INT64_MIN, int64_t highest = INT64_MAX);
  void Option(const std::string& name, double& out, const std::string& value, const std::string& doc);
  // Declares an option that may be given several times, with one value each time.
  void Option(const std::string& name, std::vector<std::string>& out, const std::string& value,
              const std::string& doc);
  void Choice(const std::string& name, std::string& out, const std::vector<std::string>& choices,
              const std::string& doc);
  void Positional(const std::string& name, std::string& out, const std::string& doc);
  void OptionalPositional(const std::string& name, std::string& out, const std::string& doc);
  void OptionalPositional(const std::string& name, std::vector<std::string>& out, const std::string& doc);
  void Positional(const std::string& name, std::vector<std::string>& out, const std::string& doc);
  // Returns true if the option is on the command line.
  bool Given(const std::string& name) const;

 private:
  CLI::App& app_;
  std::string section_ = "Options";
};

// Returns the help text of a MODEL argument, with the formats that Tern reads.
std::string ModelHelp();

}  // namespace tern::tools
