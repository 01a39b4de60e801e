#include "tools/args.h"

#include <CLI/CLI.hpp>

#include "base/strings.h"
#include "load/format.h"

namespace tern::tools {

void Args::Flag(const std::string& name, bool& out, const std::string& doc) {
  app_.add_flag(name, out, doc)->group(section_);
}

void Args::Option(const std::string& name, std::string& out, const std::string& value,
                  const std::string& doc) {
  app_.add_option(name, out, doc)->option_text(value)->group(section_);
}

void Args::Option(const std::string& name, int64_t& out, const std::string& value, const std::string& doc,
                  int64_t lowest, int64_t highest) {
  const auto check = [lowest, highest](const std::string& text) -> std::string {
    int64_t v = 0;
    if (!ParseInt(text, v)) return StrCat("'", text, "' is not an integer");
    if (v >= lowest && v <= highest) return "";
    return StrCat(text, " is not between ", lowest, " and ", highest);
  };
  app_.add_option(name, out, doc)->option_text(value)->group(section_)->check(check);
}

void Args::Option(const std::string& name, double& out, const std::string& value, const std::string& doc) {
  const auto check = [](const std::string& text) -> std::string {
    double v = 0;
    return ParseDouble(text, v) ? "" : StrCat("'", text, "' is not a number");
  };
  app_.add_option(name, out, doc)->option_text(value)->group(section_)->check(check);
}

void Args::Option(const std::string& name, std::vector<std::string>& out, const std::string& value,
                  const std::string& doc) {
  app_.add_option(name, out, doc)->option_text(value)->group(section_)->allow_extra_args(false);
}

void Args::Choice(const std::string& name, std::string& out, const std::vector<std::string>& choices,
                  const std::string& doc) {
  std::string text;
  for (const std::string& choice : choices) text += (text.empty() ? "" : "|") + choice;
  app_.add_option(name, out, doc)->option_text(text)->group(section_)->check(CLI::IsMember(choices));
}

void Args::Positional(const std::string& name, std::string& out, const std::string& doc) {
  app_.add_option(name, out, doc)->required()->option_text(" ");
}

void Args::OptionalPositional(const std::string& name, std::string& out, const std::string& doc) {
  app_.add_option(name, out, doc)->option_text(" ");
}

void Args::OptionalPositional(const std::string& name, std::vector<std::string>& out,
                              const std::string& doc) {
  app_.add_option(name, out, doc)->option_text(" ");
}

void Args::Positional(const std::string& name, std::vector<std::string>& out, const std::string& doc) {
  app_.add_option(name, out, doc)->required()->option_text(" ");
}

bool Args::Given(const std::string& name) const { return app_.get_option(name)->count() > 0; }

std::string ModelHelp() { return StrCat("the model; formats: ", load::Formats().Readable()); }

}  // namespace tern::tools
