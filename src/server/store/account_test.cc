// Credentials from all places, against servers in this process.
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "server/http/base64.h"
#include "server/net/fake_http_server.h"
#include "server/store/aws_account.h"
#include "server/store/google_account.h"

namespace tern::server {
namespace {

class AccountTest : public testing::Test {
 protected:
  AccountTest() {
    std::string path = (std::filesystem::temp_directory_path() / "tern-account-XXXXXX").string();
    folder_ = mkdtemp(path.data());
    options_.environment = [this](const char* name) {
      const auto found = variables_.find(name);
      return found == variables_.end() ? nullptr : found->second.c_str();
    };
    client_ = std::move(*HttpClient::Create({}));
  }
  ~AccountTest() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ + "/" + name) << text;
    return folder_ + "/" + name;
  }
  std::string Aws() {
    AwsAccount account(options_, *client_);
    const auto found = account.Credentials({});
    if (!found.ok()) return found.status().message();
    return StrCat(found->access_key, "|", found->secret_key, "|", found->session_token);
  }
  std::string Google() {
    GoogleAccount account(options_, *client_);
    const auto found = account.Authorization({});
    return found.ok() ? *found : found.status().message();
  }

  std::string folder_;
  std::map<std::string, std::string> variables_{{"AWS_EC2_METADATA_DISABLED", "true"}};
  StoreOptions options_;
  std::unique_ptr<HttpClient> client_;
};

TEST_F(AccountTest, AwsFromTheEnvironment) {
  variables_["AWS_ACCESS_KEY_ID"] = "a";
  EXPECT_NE(Aws().find("must be set together"), std::string::npos);
  variables_["AWS_SECRET_ACCESS_KEY"] = "s";
  EXPECT_EQ(Aws(), "a|s|");
  variables_["AWS_SESSION_TOKEN"] = "t";
  EXPECT_EQ(Aws(), "a|s|t");
}

TEST_F(AccountTest, AwsFromFiles) {
  EXPECT_NE(Aws().find("there are no credentials for AWS"), std::string::npos);
  std::filesystem::create_directories(folder_ + "/.aws");
  Write(
      ".aws/credentials",
      "[default]\naws_access_key_id=a\naws_secret_access_key=s\n[dev]\naws_access_key_id=d\naws_secret_access_key=e\n");
  Write(".aws/config", "[default]\nregion=eu-north-1\n[profile dev]\nregion=eu-west-3\n");
  variables_["HOME"] = folder_;
  EXPECT_EQ(Aws(), "a|s|");
  EXPECT_EQ(AwsAccount(options_, *client_).Region(), "eu-north-1");
  variables_["AWS_PROFILE"] = "dev";
  EXPECT_EQ(Aws(), "d|e|");
  EXPECT_EQ(AwsAccount(options_, *client_).Region(), "eu-west-3");
  variables_["AWS_SHARED_CREDENTIALS_FILE"] =
      Write("other", "[dev]\naws_access_key_id=x\naws_secret_access_key=y\naws_session_token=z\n");
  EXPECT_EQ(Aws(), "x|y|z");
  variables_["AWS_REGION"] = "r";
  EXPECT_EQ(AwsAccount(options_, *client_).Region(), "r");
}

TEST_F(AccountTest, AwsFromARole) {
  FakeHttpServer sts([](const std::string& request) {
    const bool right = request.find("Action=AssumeRoleWithWebIdentity") != std::string::npos &&
                       request.find("RoleArn=arn%3Aaws%3Arole") != std::string::npos &&
                       request.find("WebIdentityToken=jwt") != std::string::npos;
    if (!right)
      return Answer(
          403,
          "<ErrorResponse><Error><Code>AccessDenied</Code><Message>no</Message></Error></ErrorResponse>");
    return Answer(
        200,
        "<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>a</AccessKeyId>"
        "<SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>2999-01-01T00:00:00Z</Expiration>"
        "</Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>");
  });
  variables_["AWS_ROLE_ARN"] = "arn:aws:role";
  variables_["AWS_WEB_IDENTITY_TOKEN_FILE"] = Write("token", "jwt\n");
  variables_["AWS_ENDPOINT_URL_STS"] = sts.url();
  AwsAccount account(options_, *client_);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(account.Credentials({})->session_token, "t");
  EXPECT_EQ(sts.requests().size(), 1u);  // the second call finds them
  account.Forget();
  EXPECT_TRUE(account.Credentials({}).ok());
  EXPECT_EQ(sts.requests().size(), 2u);
  variables_["AWS_ROLE_ARN"] = "other";
  EXPECT_NE(Aws().find("AccessDenied: no"), std::string::npos) << Aws();
}

TEST_F(AccountTest, AwsFromAContainer) {
  FakeHttpServer agent([](const std::string& request) {
    if (request.find("Authorization: secret\r\n") == std::string::npos) return Answer(401, "");
    return Answer(
        200, R"({"AccessKeyId":"a","SecretAccessKey":"s","Token":"t","Expiration":"2999-01-01T00:00:00Z"})");
  });
  variables_["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = agent.url();
  variables_["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"] = Write("token", "secret");
  EXPECT_EQ(Aws(), "a|s|t");
  variables_["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = "http://10.0.0.1/x";
  EXPECT_NE(Aws().find("neither https nor an address of this machine"), std::string::npos);
}

TEST_F(AccountTest, AwsFromAnInstance) {
  FakeHttpServer metadata([](const std::string& request) {
    if (StartsWith(request, "PUT /latest/api/token")) return Answer(200, "session");
    if (request.find("X-aws-ec2-metadata-token: session\r\n") == std::string::npos) return Answer(401, "");
    if (StartsWith(request, "GET /latest/meta-data/iam/security-credentials/ "))
      return Answer(200, "my-role\n");
    if (!StartsWith(request, "GET /latest/meta-data/iam/security-credentials/my-role "))
      return Answer(404, "");
    return Answer(
        200, R"({"AccessKeyId":"i","SecretAccessKey":"s","Token":"t","Expiration":"2999-01-01T00:00:00Z"})");
  });
  variables_.erase("AWS_EC2_METADATA_DISABLED");
  variables_["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = metadata.url();
  EXPECT_EQ(Aws(), "i|s|t");
  variables_["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = "http://127.0.0.1:1";
  EXPECT_NE(Aws().find("there are no credentials for AWS"), std::string::npos);
}

TEST_F(AccountTest, GoogleFromTheEnvironmentAndTheMachine) {
  FakeHttpServer metadata([](const std::string& request) {
    const bool right = request.find("Metadata-Flavor: Google\r\n") != std::string::npos;
    return right ? Answer(200, R"({"access_token":"machine","expires_in":3600,"token_type":"Bearer"})")
                 : Answer(403, "");
  });
  variables_["GCE_METADATA_HOST"] = StrCat("127.0.0.1:", metadata.port());
  EXPECT_EQ(Google(), "Bearer machine");
  variables_["GOOGLE_OAUTH_ACCESS_TOKEN"] = "token";
  EXPECT_EQ(Google(), "Bearer token");
  options_.anonymous = true;
  EXPECT_EQ(Google(), "");
  options_.anonymous = false;
  variables_ = {{"GCE_METADATA_HOST", "127.0.0.1:1"}};
  EXPECT_EQ(Google(), "");  // no credentials anywhere: anonymous
}

std::string PemOf(EVP_PKEY* key) {
  BIO* memory = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey(memory, key, nullptr, nullptr, 0, nullptr, nullptr);
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory, &data);
  std::string text(data, static_cast<size_t>(size));
  BIO_free(memory);
  return text;
}

std::string FromUrlBase64(std::string text) {
  for (char& c : text) c = c == '-' ? '+' : c == '_' ? '/' : c;
  std::string out;
  EXPECT_TRUE(DecodeBase64(text, out));
  return out;
}

TEST_F(AccountTest, GoogleServiceAccountSignsAnAssertion) {
  EVP_PKEY* key = EVP_RSA_gen(2048);
  const auto assertion = ServiceAccountAssertion("me@project", "kid1", PemOf(key), "https://place", 1000);
  ASSERT_TRUE(assertion.ok()) << assertion.status().ToString();
  const std::vector<std::string> parts = SplitText(*assertion, '.');
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(FromUrlBase64(parts[0]), R"({"alg":"RS256","typ":"JWT","kid":"kid1"})");
  EXPECT_EQ(
      FromUrlBase64(parts[1]),
      R"({"iss":"me@project","scope":"https://www.googleapis.com/auth/devstorage.read_only","aud":"https://place","iat":1000,"exp":4600})");
  const std::string text = parts[0] + "." + parts[1], signature = FromUrlBase64(parts[2]);
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  EVP_DigestVerifyInit(context, nullptr, EVP_sha256(), nullptr, key);
  EXPECT_EQ(
      EVP_DigestVerify(context, reinterpret_cast<const unsigned char*>(signature.data()), signature.size(),
                       reinterpret_cast<const unsigned char*>(text.data()), text.size()),
      1);
  EVP_MD_CTX_free(context);

  FakeHttpServer tokens([](const std::string& request) {
    const bool right =
        request.find("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer") != std::string::npos;
    return right ? Answer(200, R"({"access_token":"sa","expires_in":3600})") : Answer(400, "{}");
  });
  std::string pem = PemOf(key), escaped;
  for (const char c : pem) escaped += c == '\n' ? std::string("\\n") : std::string(1, c);
  variables_["GOOGLE_APPLICATION_CREDENTIALS"] =
      Write("sa.json", StrCat(R"({"type":"service_account","client_email":"e","token_uri":")", tokens.url(),
                              R"(","private_key":")", escaped, "\"}"));
  EXPECT_EQ(Google(), "Bearer sa");
  variables_["GOOGLE_APPLICATION_CREDENTIALS"] = Write("other.json", R"({"type":"external_account"})");
  EXPECT_NE(Google().find("credentials of type 'external_account'"), std::string::npos);
  variables_["GOOGLE_APPLICATION_CREDENTIALS"] = folder_ + "/missing";
  EXPECT_NE(Google().find("is not a file of JSON"), std::string::npos);
  EVP_PKEY_free(key);
}

}  // namespace
}  // namespace tern::server
