// For tests: blocking clients with and without TLS, and certificates that are generated at run time.
#pragma once
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <string>

#include "server/core/eventually.h"

namespace tern::server {

constexpr std::chrono::milliseconds kReadLimit = kEventually / 4;

// A blocking client. Read returns "" at the end of the stream, on an error and after kReadLimit.
class TestClient {
 public:
  explicit TestClient(int port) {
    fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    const int one = 1;
    setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    LimitReads();
  }
  explicit TestClient(const std::string& path) {
    fd_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    connected_ = connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    LimitReads();
  }
  ~TestClient() { Close(); }
  TestClient(const TestClient&) = delete;

  bool connected() const { return connected_; }
  int fd() const { return fd_; }
  void Close() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }
  void CloseWrite() { shutdown(fd_, SHUT_WR); }
  bool Send(std::string_view text) {
    while (!text.empty()) {
      const ssize_t sent = send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      text.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }
  std::string Read(size_t most = 65536) {
    std::string text(most, '\0');
    const ssize_t got = recv(fd_, text.data(), text.size(), 0);
    text.resize(got > 0 ? static_cast<size_t>(got) : 0);
    return text;
  }
  std::string ReadExactly(size_t size) {
    std::string text;
    while (text.size() < size) {
      const std::string more = Read(size - text.size());
      if (more.empty()) break;
      text += more;
    }
    return text;
  }
  void LimitReads(int ms = static_cast<int>(kReadLimit.count())) {
    const timeval limit{ms / 1000, ms % 1000 * 1000};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  }
  std::string ReadAll() {
    std::string text;
    for (std::string more = Read(); !more.empty(); more = Read()) text += more;
    return text;
  }

 private:
  int fd_ = -1;
  bool connected_ = false;
};

// A temporary folder with ca.pem, server.pem, server.key, client.pem and client.key. The authority of ca.pem
// signs both certificates. That of the server is for localhost and 127.0.0.1.
class TestCertificates {
 public:
  TestCertificates() {
    folder_ = std::filesystem::temp_directory_path() / ("tern_tls_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    authority_ = Make("authority", authority_key_, nullptr, authority_key_);
    Write("ca", authority_, authority_key_);
    for (const char* name : {"server", "client"}) {
      EVP_PKEY* key = EVP_EC_gen("P-256");
      X509* certificate = Make(name, key, authority_, authority_key_);
      Write(name, certificate, key);
      X509_free(certificate);
      EVP_PKEY_free(key);
    }
  }
  ~TestCertificates() {
    std::filesystem::remove_all(folder_);
    X509_free(authority_);
    EVP_PKEY_free(authority_key_);
    EVP_PKEY_free(pending_);
  }
  std::string Path(const std::string& file) const { return (folder_ / file).string(); }
  // Replaces server.pem by a certificate that is valid for so long. FinishRenewal replaces server.key.
  void RenewCertificate(long seconds) {
    EVP_PKEY_free(pending_);
    pending_ = EVP_EC_gen("P-256");
    X509* certificate = Make("server", pending_, authority_, authority_key_, seconds);
    WriteCertificate("server", certificate);
    X509_free(certificate);
  }
  void FinishRenewal() { WriteKey("server", pending_); }

 private:
  // The alternative names of a certificate's subject; null: none.
  static const char* NamesOf(std::string_view name) {
    if (name == "server") return "DNS:localhost,IP:127.0.0.1";
    return name == "client" ? "DNS:client.example,IP:10.0.0.7,URI:spiffe://example/client" : nullptr;
  }
  X509* Make(const char* name, EVP_PKEY* key, X509* issuer, EVP_PKEY* issuer_key, long seconds = 3600) {
    X509* x = X509_new();
    X509_set_version(x, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(x), ++serial_);
    X509_gmtime_adj(X509_getm_notBefore(x), -3600);
    X509_gmtime_adj(X509_getm_notAfter(x), seconds);
    X509_set_pubkey(x, key);
    X509_NAME* subject = X509_get_subject_name(x);
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>(name), -1,
                               -1, 0);
    X509_set_issuer_name(x, issuer ? X509_get_subject_name(issuer) : subject);
    if (!issuer) {
      X509_EXTENSION* e = X509V3_EXT_conf_nid(nullptr, nullptr, NID_basic_constraints, "critical,CA:TRUE");
      X509_add_ext(x, e, -1);
      X509_EXTENSION_free(e);
    }
    if (const char* names = NamesOf(name)) {
      X509_EXTENSION* e = X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, names);
      X509_add_ext(x, e, -1);
      X509_EXTENSION_free(e);
    }
    X509_sign(x, issuer_key, EVP_sha256());
    return x;
  }
  void Write(const std::string& name, X509* certificate, EVP_PKEY* key) {
    WriteCertificate(name, certificate);
    WriteKey(name, key);
  }
  void WriteCertificate(const std::string& name, X509* certificate) {
    FILE* file = fopen(Path(name + ".pem").c_str(), "w");
    PEM_write_X509(file, certificate);
    fclose(file);
  }
  void WriteKey(const std::string& name, EVP_PKEY* key) {
    FILE* file = fopen(Path(name + ".key").c_str(), "w");
    PEM_write_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr);
    fclose(file);
  }
  std::filesystem::path folder_;
  long serial_ = 0;
  EVP_PKEY* authority_key_ = EVP_EC_gen("P-256");
  EVP_PKEY* pending_ = nullptr;
  X509* authority_ = nullptr;
};

// TLS over a TestClient.
class TestTls {
 public:
  TestTls(TestClient& client, const TestCertificates& files, bool certificate = false,
          const std::string& alpn = "", int highest = 0, const char* ciphers = nullptr) {
    signal(SIGPIPE, SIG_IGN);  // OpenSSL writes to sockets that the server has closed
    context_ = SSL_CTX_new(TLS_client_method());
    SSL_CTX_load_verify_locations(context_, files.Path("ca.pem").c_str(), nullptr);
    SSL_CTX_set_verify(context_, SSL_VERIFY_PEER, nullptr);
    if (highest) {
      SSL_CTX_set_security_level(context_, 0);
      SSL_CTX_set_max_proto_version(context_, highest);
    }
    if (ciphers) SSL_CTX_set_cipher_list(context_, ciphers);
    if (certificate) {
      SSL_CTX_use_certificate_file(context_, files.Path("client.pem").c_str(), SSL_FILETYPE_PEM);
      SSL_CTX_use_PrivateKey_file(context_, files.Path("client.key").c_str(), SSL_FILETYPE_PEM);
    }
    ssl_ = SSL_new(context_);
    const std::string offer = std::string(1, static_cast<char>(alpn.size())) + alpn;
    if (!alpn.empty())
      SSL_set_alpn_protos(ssl_, reinterpret_cast<const unsigned char*>(offer.data()),
                          static_cast<unsigned>(offer.size()));
    SSL_set_fd(ssl_, client.fd());
    connected_ = SSL_connect(ssl_) == 1;
  }
  ~TestTls() {
    SSL_free(ssl_);
    SSL_CTX_free(context_);
  }
  bool connected() const { return connected_; }
  bool Send(std::string_view text) {
    return SSL_write(ssl_, text.data(), static_cast<int>(text.size())) == static_cast<int>(text.size());
  }
  std::string Read(size_t most = 65536) {
    std::string text(most, '\0');
    const int got = SSL_read(ssl_, text.data(), static_cast<int>(most));
    text.resize(got > 0 ? static_cast<size_t>(got) : 0);
    return text;
  }
  std::string ReadExactly(size_t size) {
    std::string text;
    for (std::string more = "."; text.size() < size && !more.empty(); text += more)
      more = Read(size - text.size());
    return text;
  }
  long PeerSerial() {
    X509* certificate = SSL_get1_peer_certificate(ssl_);
    const long serial = certificate ? ASN1_INTEGER_get(X509_get0_serialNumber(certificate)) : -1;
    X509_free(certificate);
    return serial;
  }
  std::string Protocol() {
    const unsigned char* name = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(ssl_, &name, &size);
    return {reinterpret_cast<const char*>(name), size};
  }

 private:
  SSL_CTX* context_ = nullptr;
  SSL* ssl_ = nullptr;
  bool connected_ = false;
};

}  // namespace tern::server
