// tern token: adds a token to the access file of a server.
#include "tools/token.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>

#include "data/json_writer.h"
#include "tools/server_library.h"
#include "tools/tool.h"

namespace tern::tools {
namespace {

class TokenTool : public Tool {
 public:
  const char* name() const override { return "token"; }
  const char* summary() const override { return "make a token for a server with access control"; }
  const char* examples() const override {
    return "  tern token access.yml --name alice --role infer --model 'bert-*' --expires 90d\n"
           "  tern token access.yml --name prometheus --role observe\n"
           "  tern token access.yml --name batch --role infer --requests 100 --concurrency 8\n"
           "  tern serve --repository models --access-file access.yml\n"
           "\n"
           "Prints the token. It is stored nowhere: the file gets its hash. A running server reads the file again\n"
           "within seconds. To revoke a token, remove its entry.\n";
  }
  void Declare(Args& args) override;
  Result<int> Run(const Args& args) override;

 private:
  server::TokenCommand command_;
  bool json_ = false;
};

void TokenTool::Declare(Args& args) {
  args.Positional("FILE", command_.file, "the access file; made if there is none");
  args.Option("--name", command_.name, "NAME", "who uses the token, for logs and metrics");
  args.Option("--role", command_.roles, "ROLE", "infer, observe, shared-memory or admin (repeatable)");
  args.Option("--model", command_.models, "PATTERN",
              "a model that the token may use, with * (all; repeatable)");
  args.Option("--expires", command_.expires, "TIME", "90d, 12h or 2027-01-31T12:00:00Z (never)");
  args.Flag("--json", json_, "print one JSON object");
  args.Section("Quota");
  args.Option("--tenant", command_.tenant, "NAME",
              "tokens of one tenant share one quota (NAME of the token)");
  args.Option("--requests", command_.requests_per_s, "N", "requests per second (no limit)");
  args.Option("--burst", command_.burst, "N", "requests that may come at once (those of one second)");
  args.Option("--concurrency", command_.concurrency, "N", "inferences at the same time (no limit)", 1,
              1'000'000);
  args.Option("--bytes", command_.bytes_per_s, "N", "bytes of inferences per second (no limit)");
  args.Option("--queued-bytes", command_.queued_bytes, "N", "bytes of inferences that wait or run (no limit)",
              1, int64_t{1} << 50);
  args.Option("--weight", command_.weight, "N", "share of the queues of models (1)", 1, 1000);
}

Result<int> TokenTool::Run(const Args&) {
  if (command_.name.empty()) return InvalidArgument("--name is missing");
  if (command_.roles.empty())
    return InvalidArgument("--role is missing: infer, observe, shared-memory or admin");
  TERN_ASSIGN(const server::ServerLibrary* library, OpenServerLibrary());
  TERN_ASSIGN(const std::string token, library->add_token(command_));
  data::JsonWriter json;
  json.BeginObject().Key("file").Text(command_.file).Key("name").Text(command_.name).Key("token").Text(token);
  fmt::print("{}\n", json_ ? json.EndObject().text() : token);
  return 0;
}

}  // namespace

Result<std::string> TokenOr(const std::string& given) {
  const char* variable = std::getenv("TERN_TOKEN");
  std::string token = given.empty() && variable ? variable : given;
  if (std::any_of(token.begin(), token.end(), [](char c) { return c <= 0x20 || c >= 0x7F; }))
    return InvalidArgument("the token must have only printable characters of ASCII and no spaces");
  return token;
}

TERN_TOOL(Token) { return std::make_unique<TokenTool>(); }

}  // namespace tern::tools
