// Tests of everything that reads bytes from stores.
#include <gtest/gtest.h>

#include "server/store/aws_files.h"
#include "server/store/copy_list.h"
#include "server/store/google_list.h"
#include "server/store/listing.h"
#include "server/store/s3_list.h"
#include "server/store/store_url.h"
#include "server/store/sums.h"
#include "server/store/times.h"
#include "server/store/xml.h"

namespace tern::server {
namespace {

std::string Flat(std::string_view xml) {
  std::string out;
  const Status status = ReadXml(xml, [&](const std::string& path, const std::string& text) {
    out += StrCat(path, "=", text, ";");
    return Status();
  });
  return status.ok() ? out : status.message();
}

TEST(Xml, ReadsElements) {
  EXPECT_EQ(Flat("<?xml version=\"1.0\"?>\n<!-- x --><a n='>'><b>1 &lt;&amp;&#65;&#x42;</b><c/>t</a>\n"),
            "a/b=1 <&AB;a/c=;a=t;");
  EXPECT_EQ(Flat("<s:a xmlns:s=\"x\"></s:a >"), "s:a=;");
}

TEST(Xml, RefusesTheRest) {
  std::string deep;
  for (int i = 0; i < 40; ++i) deep += "<a>";
  for (const std::string& bad :
       {std::string(""), std::string("text"), std::string("<a>"), std::string("</a>"), std::string("<a></b>"),
        std::string("<a/><b/>"), std::string("<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>"),
        std::string("<a>&x;</a>"), std::string("<a>&#0;</a>"), std::string("<a>&#xD800;</a>"),
        std::string("<a>&#x110000;</a>"), std::string("<a>&lt</a>"), std::string("<a b='></a>"),
        std::string("<>"), deep})
    EXPECT_EQ(Flat(bad), "the answer is not well-formed XML") << bad;
}

constexpr const char* kPage =
    R"(<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
  <Name>b</Name><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated><NextContinuationToken>t+1</NextContinuationToken>
  <Contents><Key>a%2Fb+c%0A</Key><LastModified>2026-11-19T04:00:00.000Z</LastModified><ETag>&quot;e&quot;</ETag><Size>12</Size>
  <Owner><ID>x</ID></Owner></Contents><Contents><Key>d</Key><Size>0</Size><LastModified>2026-11-19T04:10:00Z</LastModified></Contents></ListBucketResult>)";

TEST(S3List, ReadsAPage) {
  const int64_t now = *ParseIsoTime("2026-11-19T04:10:00Z");
  const auto page = ParseListPage(kPage, now);
  ASSERT_TRUE(page.ok()) << page.status().ToString();
  ASSERT_EQ(page->objects.size(), 2u);
  EXPECT_EQ(page->objects[0].key, "a/b c\n");
  EXPECT_EQ(page->objects[0].version, "\"e\"");
  EXPECT_EQ(page->objects[0].size, 12u);
  EXPECT_EQ(page->objects[0].age, 600);
  EXPECT_EQ(page->objects[1].version, "2026-11-19T04:10:00Z|0");
  EXPECT_EQ(page->next, "t+1");
  EXPECT_EQ(ParseListPage(kPage, -1)->objects[0].age, -1);
}

TEST(S3List, RefusesWhatIsNoPage) {
  for (
      const char* bad :
      {"<html></html>", "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
       "<ListBucketResult><Contents><Key>a</Key></Contents></ListBucketResult>",
       "<ListBucketResult><Contents><Key>a</Key><Size>-1</Size></Contents></ListBucketResult>",
       "<ListBucketResult><Contents><Size>1</Size></Contents></ListBucketResult>",
       "<ListBucketResult><EncodingType>url</EncodingType><Contents><Key>%z</Key><Size>1</Size></Contents></ListBucketResult>"})
    EXPECT_EQ(ParseListPage(bad, 0).status().code(), Code::kIo) << bad;
}

TEST(GoogleList, ReadsAPage) {
  const auto page = ParseGooglePage(
      R"({"nextPageToken":"t","items":[{"name":"a/b","size":"3","generation":"17","md5Hash":"kAFQmDzST7DWlj99KOF/cg==","updated":"2026-11-19T04:00:00.123Z"}]})",
      *ParseIsoTime("2026-11-19T04:00:05Z"));
  ASSERT_TRUE(page.ok()) << page.status().ToString();
  EXPECT_EQ(page->objects[0].md5, "900150983cd24fb0d6963f7d28e17f72");
  EXPECT_EQ(page->objects[0].version, "17");
  EXPECT_EQ(page->objects[0].age, 5);
  EXPECT_EQ(page->next, "t");
  EXPECT_TRUE(ParseGooglePage("{}", 0)->objects.empty());
  for (const char* bad : {"", "[]", "{", R"({"items":[{"name":"a"}]})",
                          R"({"items":[{"name":"a","size":"x","generation":"1"}]})",
                          R"({"items":[{"name":"a","size":"1","generation":"1","md5Hash":"AAAA"}]})"})
    EXPECT_EQ(ParseGooglePage(bad, 0).status().code(), Code::kIo) << bad;
}

TEST(Sums, ReadsLinesOfSha256sum) {
  const std::string a(64, 'a'), b(64, 'B');
  const auto sums = ParseSums(StrCat(a, "  ./x/1/model.onnx\n\r\n", b, " *y z\r\n"), 10);
  ASSERT_TRUE(sums.ok()) << sums.status().ToString();
  EXPECT_EQ(sums->at("x/1/model.onnx"), a);
  EXPECT_EQ(sums->at("y z"), std::string(64, 'b'));
  for (const std::string& bad : {a, a + "  ", a + " -x", a.substr(1) + "   x", "\\" + a + "  x",
                                 a + "  x\n" + b + "  ./x", "x" + a + "  y"})
    EXPECT_FALSE(ParseSums(bad, 10).ok()) << bad;
  EXPECT_FALSE(ParseSums(a + "  x\n" + a + "  y\n", 1).ok());
}

TEST(Listing, ChecksKeys) {
  for (const char* good : {"a", "m/1/model.onnx", "m/1/a b+c=é", "m/..a/b..", "m/..."})
    EXPECT_TRUE(CheckKey(good).ok()) << good;
  for (const std::string& bad :
       {std::string(""), std::string("/a"), std::string("a/"), std::string("a//b"), std::string("a/../b"),
        std::string("./a"), std::string(".."), std::string("a\\b"), std::string("a\nb"),
        std::string("a\0b", 3), std::string(256, 'x'), std::string(1025, 'x'),
        std::string("a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q")})
    EXPECT_FALSE(CheckKey(bad).ok()) << bad;
}

ObjectInfo Object(std::string key, double age = 100) {
  ObjectInfo object;
  object.key = std::move(key);
  object.size = 1;
  object.version = "v";
  object.age = age;
  return object;
}

TEST(Listing, SortsByModelAndVersion) {
  ObjectInfo marker = Object("m/2/");
  marker.size = 0;
  const RemoteListing listing = SortListing(
      {Object("m/1/model.onnx", 5), Object("m/1/a/w.bin", 3), Object("m/config.pbtxt"), Object("m/01/x"),
       Object("m/.tmp"), Object("m/1/.part"), marker, Object("README"), Object("../x"), Object(".hid/1/x"),
       Object("bad/1/../x"), Object("two/1/x"), Object("two/1/x/y"), Object("e/1", -1)});
  EXPECT_EQ(listing.ignored, (std::vector<std::string>{"README", "../x", ".hid/1/x"}));
  ASSERT_EQ(listing.models.size(), 4u);
  const RemoteModel& m = listing.models.at("m");
  EXPECT_TRUE(m.status.ok());
  ASSERT_EQ(m.units.size(), 2u);
  EXPECT_EQ(m.units.at("1").files.size(), 2u);
  EXPECT_EQ(m.units.at("1").age, 3);
  EXPECT_NE(m.units.at("1").Find("1/a/w.bin"), nullptr);
  EXPECT_EQ(m.units.at("").files.size(), 2u);  // config.pbtxt, and a folder whose name is not a version
  EXPECT_FALSE(listing.models.at("bad").status.ok());
  EXPECT_FALSE(listing.models.at("two").status.ok());
  EXPECT_EQ(listing.models.at("e").units.at("").age, -1);  // a file is not a version
  EXPECT_NE(SortListing({Object("m/1/x")}).models.at("m").units.at("1").signature, m.units.at("1").signature);
}

TEST(CopyList, SurvivesARoundTrip) {
  CopiedFiles files;
  files["1/model.onnx"] = {7, std::string(32, 'a'), std::string(64, 'b')};
  files["a b"] = {0, std::string(32, '0'), std::string(64, 'c')};
  const std::string text = WriteCopyList(files);
  const auto again = ParseCopyList(text);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(WriteCopyList(*again), text);
  for (size_t size = 0; size < text.size(); ++size)
    EXPECT_FALSE(ParseCopyList(text.substr(0, size)).ok()) << size;
  std::string hostile = text;
  hostile.replace(hostile.find("1/model.onnx"), 12, "../../../etc");
  EXPECT_FALSE(ParseCopyList(hostile).ok());
}

TEST(StoreUrl, IsParsed) {
  const auto s3 = ParseStoreUrl("s3://bucket/a/b/");
  ASSERT_TRUE(s3.ok());
  EXPECT_EQ(s3->bucket + "|" + s3->prefix + "|" + s3->endpoint, "bucket|a/b|");
  const auto triton = ParseStoreUrl("s3://http://127.0.0.1:9000/bucket");
  ASSERT_TRUE(triton.ok());
  EXPECT_EQ(triton->bucket + "|" + triton->prefix + "|" + triton->endpoint, "bucket||http://127.0.0.1:9000");
  EXPECT_EQ(ParseStoreUrl("https://h/p//")->prefix, "https://h/p");
  EXPECT_EQ(ParseStoreUrl("file:///a")->prefix, "/a");
  EXPECT_TRUE(IsStoreUrl("gs://b") && !IsStoreUrl("/s3://b") && !IsStoreUrl("as://b"));
  for (const char* bad : {"s3://", "s3://ab", "s3://-ab", "s3://a..b", "s3://a b/c", "s3://http://h",
                          "gs://B*/", "https://h/?x", "file://a", "s3://abc/\n"})
    EXPECT_FALSE(ParseStoreUrl(bad).ok()) << bad;
}

TEST(Times, AreParsed) {
  EXPECT_EQ(ParseIsoTime("1970-01-02T00:00:01.500Z"), 86401);
  EXPECT_EQ(ParseHttpTime("Fri, 02 Jan 1970 00:00:01 GMT"), 86401);
  EXPECT_FALSE(ParseIsoTime("1970-01-02 00:00:01") || ParseIsoTime("x") ||
               ParseIsoTime("1970-01-02T00:00:01+02:00"));
  EXPECT_FALSE(ParseHttpTime("Fri, 02 Jan 1970 00:00:01"));
}

TEST(AwsFiles, AreParsed) {
  const char* text =
      "; comment\n[default]\naws_access_key_id = A=B\n#x\n[profile  dev]\nregion=eu-west-1\n[dev]\nregion = x\n";
  EXPECT_EQ(IniValue(text, "default", "aws_access_key_id"), "A=B");
  EXPECT_EQ(IniValue(text, "dev", "region"), "x");
  EXPECT_EQ(IniValue(text, "default", "region"), "");
  AwsCredentials credentials;
  int64_t expires = 7;
  EXPECT_TRUE(ParseAwsCredentials(R"({"AccessKeyId":"a","SecretAccessKey":"s"})", credentials, expires).ok());
  EXPECT_EQ(expires, 7);
  EXPECT_TRUE(
      ParseAwsCredentials(
          R"({"AccessKeyId":"a","SecretAccessKey":"s","Token":"t","Expiration":"1970-01-01T00:00:09Z"})",
          credentials, expires)
          .ok());
  EXPECT_EQ(credentials.session_token, "t");
  EXPECT_EQ(expires, 9);
  for (const char* bad :
       {"", "{}", R"({"AccessKeyId":"a"})", R"({"AccessKeyId":"a","SecretAccessKey":"s","Expiration":"x"})"})
    EXPECT_FALSE(ParseAwsCredentials(bad, credentials, expires).ok()) << bad;
}

}  // namespace
}  // namespace tern::server
