#include "server/store/google_account.h"

#include <simdjson.h>

#include "data/file.h"
#include "data/json_writer.h"
#include "server/store/digest.h"
#include "server/store/sigv4.h"
#include "server/store/times.h"

namespace tern::server {
namespace {

constexpr int64_t kRefreshTokenBefore = 300;  // seconds before the end of a token
constexpr const char* kScope = "https://www.googleapis.com/auth/devstorage.read_only";
constexpr const char* kTokenPlace = "https://oauth2.googleapis.com/token";

HttpRequest Form(const std::vector<std::pair<std::string, std::string>>& values) {
  HttpRequest request;
  request.method = "POST";
  request.fields = {{"Content-Type", "application/x-www-form-urlencoded"}};
  request.body = CanonicalQuery(values);
  return request;
}

std::string TextOf(const simdjson::dom::element& root, const char* key) {
  std::string_view text;
  return root[key].get(text) ? std::string() : std::string(text);
}

}  // namespace

Result<std::string> ServiceAccountAssertion(const std::string& email, const std::string& key_id,
                                            const std::string& key, const std::string& audience,
                                            int64_t now) {
  data::JsonWriter head, claims;
  head.BeginObject().Key("alg").Text("RS256").Key("typ").Text("JWT");
  if (!key_id.empty()) head.Key("kid").Text(key_id);
  claims.BeginObject().Key("iss").Text(email).Key("scope").Text(kScope).Key("aud").Text(audience);
  claims.Key("iat").Int(now).Key("exp").Int(now + 3600);
  const std::string text =
      StrCat(EncodeBase64Url(head.EndObject().text()), ".", EncodeBase64Url(claims.EndObject().text()));
  TERN_ASSIGN(const std::string signature, SignRs256(key, text));
  return StrCat(text, ".", EncodeBase64Url(signature));
}

Result<GoogleAccount::Token> GoogleAccount::Ask(const std::string& url, HttpRequest request,
                                                const Stop& stop) {
  TERN_ASSIGN(const Url place, ParseUrl(url, 0));
  request.max_body_bytes = 64 << 10;
  TERN_ASSIGN(const HttpAnswer answer, client_.Send(place, request, stop));
  if (answer.status != 200) return StoreError(answer, StrCat("cannot get a token from ", PlaceOf(place)));
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  int64_t seconds = 0;
  if (parser.parse(answer.body).get(root) || TextOf(root, "access_token").empty() ||
      root["expires_in"].get(seconds))
    return IoError("the answer of ", PlaceOf(place), " has no token");
  const std::string token = TextOf(root, "access_token");
  if (token.find_first_of(" \r\n") != std::string::npos)
    return IoError("the answer of ", PlaceOf(place), " has no valid token");
  return Token{token, UnixNow() + std::min<int64_t>(std::max<int64_t>(seconds, 0), 86400)};
}

Result<GoogleAccount::Token> GoogleAccount::FromFile(const std::string& path, const Stop& stop) {
  const auto text = data::ReadFile(path);
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (!text.ok() || parser.parse(*text).get(root))
    return InvalidArgument("GOOGLE_APPLICATION_CREDENTIALS names '", path, "', which is not a file of JSON");
  const std::string type = TextOf(root, "type");
  if (type == "authorized_user")
    return Ask(kTokenPlace,
               Form({{"grant_type", "refresh_token"},
                     {"client_id", TextOf(root, "client_id")},
                     {"client_secret", TextOf(root, "client_secret")},
                     {"refresh_token", TextOf(root, "refresh_token")}}),
               stop);
  if (type != "service_account")
    return Unsupported("'", path, "' has credentials of type '", type,
                       "'; Tern reads service_account and authorized_user");
  std::string place = TextOf(root, "token_uri");
  if (place.empty()) place = kTokenPlace;
  TERN_ASSIGN(const std::string assertion,
              ServiceAccountAssertion(TextOf(root, "client_email"), TextOf(root, "private_key_id"),
                                      TextOf(root, "private_key"), place, UnixNow()));
  return Ask(place,
             Form({{"grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"}, {"assertion", assertion}}),
             stop);
}

Result<GoogleAccount::Token> GoogleAccount::FromMachine(const Stop& stop) {
  std::string host = Variable(options_, "GCE_METADATA_HOST");
  if (host.empty()) host = "metadata.google.internal";
  HttpRequest request;
  request.fields = {{"Metadata-Flavor", "Google"}};
  Stop soon = stop;  // outside Google's cloud, this address does not answer at all
  soon.deadline = std::min(stop.deadline, Stop::Clock::now() + std::chrono::seconds(2));
  auto token = Ask(StrCat("http://", host, "/computeMetadata/v1/instance/service-accounts/default/token"),
                   std::move(request), soon);
  if (token.ok()) return token;
  TERN_TRY(stop.Check());
  return Token{"", UnixNow() + 600};  // anonymous; asks again later
}

Result<GoogleAccount::Token> GoogleAccount::Find(const Stop& stop) {
  if (const std::string token = Variable(options_, "GOOGLE_OAUTH_ACCESS_TOKEN"); !token.empty())
    return Token{token, INT64_MAX};
  if (const std::string path = Variable(options_, "GOOGLE_APPLICATION_CREDENTIALS"); !path.empty())
    return FromFile(path, stop);
  if (!Variable(options_, "STORAGE_EMULATOR_HOST").empty()) return Token{};
  return FromMachine(stop);
}

Result<std::string> GoogleAccount::Authorization(const Stop& stop) {
  if (options_.anonymous) return std::string();
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!known_ || UnixNow() >= token_.expires - kRefreshTokenBefore) {
    auto token = Find(stop);
    const bool usable = known_ && UnixNow() < token_.expires - 60;
    if (!token.ok() && !usable) return token.TakeStatus();
    if (token.ok()) token_ = std::move(*token);
    known_ = true;
  }
  return token_.text.empty() ? std::string() : "Bearer " + token_.text;
}

void GoogleAccount::Forget() {
  const std::lock_guard<std::mutex> lock(mutex_);
  known_ = false;
}

}  // namespace tern::server
