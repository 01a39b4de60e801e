#include "server/store/aws_account.h"

#include "data/file.h"
#include "server/store/aws_files.h"
#include "server/store/times.h"
#include "server/store/xml.h"

namespace tern::server {
namespace {

constexpr int64_t kRefreshCredentialsBefore = 300;  // seconds before the end of temporary credentials
constexpr size_t kMaxAnswer = 64 << 10;

Result<std::string> ReadSecret(const std::string& path) {
  auto text = data::ReadFile(path);
  if (!text.ok()) return InvalidArgument("cannot read '", path, "', which the environment names");
  return TrimText(*text);
}

Result<std::string> Ask(HttpClient& client, const std::string& url, HttpRequest request, const Stop& stop) {
  TERN_ASSIGN(const Url place, ParseUrl(url, 0));
  request.max_body_bytes = kMaxAnswer;
  TERN_ASSIGN(HttpAnswer answer, client.Send(place, request, stop));
  if (answer.status != 200) return StoreError(answer, StrCat("cannot get credentials from ", PlaceOf(place)));
  return std::move(answer.body);
}

// Credentials of containers must not travel over a network in clear text.
bool SafePlace(const std::string& url) {
  const auto place = ParseUrl(url, 0);
  if (!place.ok()) return false;
  if (place->tls) return true;
  for (const char* host : {"169.254.170.2", "169.254.170.23", "fd00:ec2::23", "localhost", "::1"})
    if (place->host == host) return true;
  return StartsWith(place->host, "127.");
}

}  // namespace

std::string AwsAccount::FileSetting(const std::string& variable, const std::string& file, bool config,
                                    const std::string& key) const {
  std::string path = Var(variable.c_str());
  if (path.empty() && !Var("HOME").empty()) path = StrCat(Var("HOME"), "/.aws/", file);
  std::string profile = Var("AWS_PROFILE");
  if (profile.empty()) profile = "default";
  const auto text = path.empty() ? Result<std::string>(NotFound("")) : data::ReadFile(path);
  if (!text.ok()) return {};
  return IniValue(*text, config && profile != "default" ? StrCat("profile ", profile) : profile, key);
}

std::string AwsAccount::Region() const {
  if (!options_.s3_region.empty()) return options_.s3_region;
  for (const char* name : {"AWS_REGION", "AWS_DEFAULT_REGION"})
    if (std::string region = Var(name); !region.empty()) return region;
  std::string region = FileSetting("AWS_CONFIG_FILE", "config", true, "region");
  return region.empty() ? "us-east-1" : region;
}

Result<AwsAccount::Found> AwsAccount::FromRole(const Stop& stop) {
  TERN_ASSIGN(const std::string token, ReadSecret(Var("AWS_WEB_IDENTITY_TOKEN_FILE")));
  std::string name = Var("AWS_ROLE_SESSION_NAME"), url = Var("AWS_ENDPOINT_URL_STS");
  if (name.empty()) name = "tern";
  if (url.empty()) url = Var("AWS_ENDPOINT_URL");
  if (url.empty()) url = StrCat("https://sts.", Region(), ".amazonaws.com");
  HttpRequest request;
  request.method = "POST";
  request.fields = {{"Content-Type", "application/x-www-form-urlencoded"}};
  request.body = CanonicalQuery({{"Action", "AssumeRoleWithWebIdentity"},
                                 {"Version", "2011-06-15"},
                                 {"RoleArn", Var("AWS_ROLE_ARN")},
                                 {"RoleSessionName", name},
                                 {"WebIdentityToken", token}});
  TERN_ASSIGN(const std::string xml, Ask(client_, url, std::move(request), stop));
  Found found;
  std::string expiration;
  TERN_TRY(ReadXml(xml, [&](const std::string& path, const std::string& text) {
    if (EndsWith(path, "/Credentials/AccessKeyId")) found.credentials.access_key = text;
    if (EndsWith(path, "/Credentials/SecretAccessKey")) found.credentials.secret_key = text;
    if (EndsWith(path, "/Credentials/SessionToken")) found.credentials.session_token = text;
    if (EndsWith(path, "/Credentials/Expiration")) expiration = text;
    return Status();
  }));
  const auto time = ParseIsoTime(expiration);
  if (found.credentials.access_key.empty() || found.credentials.secret_key.empty() || !time)
    return IoError("the answer of AssumeRoleWithWebIdentity lacks credentials");
  found.expires = *time;
  return found;
}

Result<AwsAccount::Found> AwsAccount::FromFile() const {
  const auto setting = [&](const char* key) {
    std::string value = FileSetting("AWS_SHARED_CREDENTIALS_FILE", "credentials", false, key);
    return value.empty() ? FileSetting("AWS_CONFIG_FILE", "config", true, key) : value;
  };
  Found found;
  found.credentials = {setting("aws_access_key_id"), setting("aws_secret_access_key"),
                       setting("aws_session_token")};
  return found;
}

Result<AwsAccount::Found> AwsAccount::FromContainer(const Stop& stop) {
  std::string url = Var("AWS_CONTAINER_CREDENTIALS_FULL_URI");
  if (url.empty()) url = StrCat("http://169.254.170.2", Var("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"));
  if (!SafePlace(url))
    return InvalidArgument(
        "AWS_CONTAINER_CREDENTIALS_FULL_URI is neither https nor an address of this machine");
  HttpRequest request;
  std::string token = Var("AWS_CONTAINER_AUTHORIZATION_TOKEN");
  if (const std::string file = Var("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); !file.empty()) {
    TERN_ASSIGN(token, ReadSecret(file));
  }
  if (!token.empty()) request.fields = {{"Authorization", token}};
  TERN_ASSIGN(const std::string json, Ask(client_, url, std::move(request), stop));
  Found found;
  TERN_TRY(ParseAwsCredentials(json, found.credentials, found.expires));
  return found;
}

// Version 2 of the instance's metadata: a token first, then the role's name, then its credentials.
Result<AwsAccount::Found> AwsAccount::FromInstance(const Stop& stop) {
  std::string base = Var("AWS_EC2_METADATA_SERVICE_ENDPOINT");
  if (base.empty()) base = "http://169.254.169.254";
  while (base.back() == '/') base.pop_back();
  HttpRequest put;
  put.method = "PUT";
  put.fields = {{"X-aws-ec2-metadata-token-ttl-seconds", "21600"}};
  Stop soon = stop;  // outside EC2, this address does not answer at all
  soon.deadline = std::min(stop.deadline, Stop::Clock::now() + std::chrono::seconds(2));
  auto token = Ask(client_, base + "/latest/api/token", std::move(put), soon);
  if (!token.ok()) {
    TERN_TRY(stop.Check());
    return InvalidArgument(
        "there are no credentials for AWS: not in the environment, in no file of shared credentials, "
        "and this is no EC2 instance with a role; --store-anonymous sends requests without any");
  }
  HttpRequest get;
  get.fields = {{"X-aws-ec2-metadata-token", *token}};
  const std::string path = base + "/latest/meta-data/iam/security-credentials/";
  TERN_ASSIGN(const std::string role, Ask(client_, path, get, stop));
  TERN_ASSIGN(const std::string json, Ask(client_, path + PercentEncode(TrimText(role)), get, stop));
  Found found;
  TERN_TRY(ParseAwsCredentials(json, found.credentials, found.expires));
  return found;
}

Result<AwsAccount::Found> AwsAccount::Find(const Stop& stop) {
  Found found;
  found.credentials = {Var("AWS_ACCESS_KEY_ID"), Var("AWS_SECRET_ACCESS_KEY"), Var("AWS_SESSION_TOKEN")};
  if (found.credentials.access_key.empty() != found.credentials.secret_key.empty())
    return InvalidArgument("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must be set together");
  if (!found.credentials.access_key.empty()) return found;
  if (!Var("AWS_WEB_IDENTITY_TOKEN_FILE").empty() && !Var("AWS_ROLE_ARN").empty()) return FromRole(stop);
  TERN_ASSIGN(found, FromFile());
  if (!found.credentials.access_key.empty() && !found.credentials.secret_key.empty()) return found;
  if (!Var("AWS_CONTAINER_CREDENTIALS_FULL_URI").empty() ||
      !Var("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI").empty())
    return FromContainer(stop);
  if (Var("AWS_EC2_METADATA_DISABLED") == "true")
    return InvalidArgument(
        "there are no credentials for AWS: not in the environment and in no file of shared "
        "credentials; --store-anonymous sends requests without any");
  return FromInstance(stop);
}

Result<AwsCredentials> AwsAccount::Credentials(const Stop& stop) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (known_ && UnixNow() < found_.expires - kRefreshCredentialsBefore) return found_.credentials;
  Result<Found> found = Find(stop);
  if (!found.ok()) {
    // Credentials that expire soon are used until one minute before their end.
    if (known_ && UnixNow() < found_.expires - 60) return found_.credentials;
    return found.TakeStatus();
  }
  found_ = std::move(*found);
  known_ = true;
  return found_.credentials;
}

void AwsAccount::Forget() {
  const std::lock_guard<std::mutex> lock(mutex_);
  known_ = false;
}

}  // namespace tern::server
