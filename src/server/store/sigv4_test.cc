// The requests and signatures are those of AWS's documentation and of its published test suite.
#include "server/store/sigv4.h"

#include <gtest/gtest.h>

#include "base/strings.h"
#include "server/store/digest.h"

namespace tern::server {
namespace {

const AwsCredentials kSuite{"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", ""};
const AwsCredentials kDocs{"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", ""};
const char* const kEmpty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

std::string SuiteSignature(SignedRequest request) {
  request.fields.emplace_back("Host", "example.amazonaws.com");
  request.fields.emplace_back("X-Amz-Date", "20150830T123600Z");
  request.payload_sha256 = kEmpty;
  const std::string value = SignV4(request, kSuite, "us-east-1", "service", "20150830T123600Z");
  return value.substr(value.rfind('=') + 1);
}

TEST(SigV4, MatchesThePublishedSuite) {
  EXPECT_EQ(SuiteSignature({"GET", "/", {}, {}, ""}),
            "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
  EXPECT_EQ(SuiteSignature({"POST", "/", {}, {}, ""}),
            "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b");
  EXPECT_EQ(SuiteSignature({"GET", "/", {{"Param2", "value2"}, {"Param1", "value1"}}, {}, ""}),
            "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500");
  const std::string unreserved = "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  EXPECT_EQ(SuiteSignature({"GET", "/", {{unreserved, unreserved}}, {}, ""}),
            "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197");
  EXPECT_EQ(
      SuiteSignature({"GET", "/", {}, {{"My-Header1", " value1"}, {"My-Header2", " \"a   b   c\""}}, ""}),
      "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736");
}

std::string DocsSignature(SignedRequest request) {
  request.fields.emplace_back("Host", "examplebucket.s3.amazonaws.com");
  request.fields.emplace_back("x-amz-content-sha256", request.payload_sha256);
  request.fields.emplace_back("x-amz-date", "20130524T000000Z");
  return SignV4(request, kDocs, "us-east-1", "s3", "20130524T000000Z");
}

TEST(SigV4, MatchesTheExamplesOfS3) {
  EXPECT_EQ(DocsSignature({"GET", "/test.txt", {}, {{"Range", "bytes=0-9"}}, kEmpty}),
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
            "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, "
            "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
  const auto ends = [](const std::string& value, const char* signature) {
    EXPECT_TRUE(EndsWith(value, StrCat("Signature=", signature))) << value;
  };
  ends(DocsSignature({"GET", "/", {{"lifecycle", ""}}, {}, kEmpty}),
       "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
  ends(DocsSignature({"GET", "/", {{"max-keys", "2"}, {"prefix", "J"}}, {}, kEmpty}),
       "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
  ends(DocsSignature(
           {"PUT",
            "/test%24file.text",
            {},
            {{"Date", "Fri, 24 May 2013 00:00:00 GMT"}, {"x-amz-storage-class", "REDUCED_REDUNDANCY"}},
            Hex(Sha256("Welcome to Amazon S3."))}),
       "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
}

TEST(SigV4, FormatsTimesAndQueries) {
  EXPECT_EQ(AmzDate(1440938160), "20150830T123600Z");
  EXPECT_EQ(CanonicalQuery({{"b", "x y"}, {"a", "1/2"}, {"a", "0"}}), "a=0&a=1%2F2&b=x%20y");
}

TEST(Digest, MatchesKnownValues) {
  EXPECT_EQ(Hex(Sha256("")), kEmpty);
  EXPECT_EQ(Hex(HmacSha256("key", "The quick brown fox jumps over the lazy dog")),
            "f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8");
  EXPECT_EQ(EncodeBase64Url("fo"), "Zm8");
  EXPECT_EQ(EncodeBase64Url("\xFB\xFF"), "-_8");
  Digests digests;
  digests.Add("wrong");
  digests.Restart();
  digests.Add("a");
  digests.Add("bc");
  EXPECT_EQ(digests.Sha256Hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(digests.Md5Hex(), "900150983cd24fb0d6963f7d28e17f72");
  std::string bytes;
  EXPECT_TRUE(FromHex("00fF", bytes) && bytes == std::string("\0\xFF", 2));
  EXPECT_FALSE(FromHex("0", bytes) || FromHex("0g", bytes));
  EXPECT_FALSE(SignRs256("no key", "text").ok());
}

}  // namespace
}  // namespace tern::server
