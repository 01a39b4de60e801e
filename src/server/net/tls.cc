// TLS 1.2 or newer by OpenSSL, with ALPN and client certificates.
#include "server/net/tls.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <unistd.h>

#include <mutex>

#include "server/net/freed.h"
#include "server/net/sockets.h"
#include "server/net/tls_files.h"

namespace tern::server {
namespace {

using SystemTime = std::chrono::system_clock::time_point;

std::string LastError() {
  char text[256] = "unknown error";
  if (const unsigned long error = ERR_peek_last_error()) ERR_error_string_n(error, text, sizeof text);
  ERR_clear_error();
  return text;
}

struct FreeBio {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
using Bio = std::unique_ptr<BIO, FreeBio>;
using Certificate = std::unique_ptr<X509, Freed<X509, X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY, EVP_PKEY_free>>;

Bio Open(const std::string& text) { return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))); }

// Without this function, OpenSSL would ask the terminal for the password of an encrypted key.
int NoPassword(char*, int, int, void*) { return -1; }

Certificate NextCertificate(BIO* bio) {
  return Certificate(PEM_read_bio_X509_AUX(bio, nullptr, NoPassword, nullptr));
}

Result<std::string> EncodeProtocols(const std::string& list) {
  std::string out;
  for (size_t begin = 0; begin < list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    if (end == begin || end - begin > 255) return InvalidArgument("invalid list of protocols '", list, "'");
    out += static_cast<char>(end - begin);
    out += list.substr(begin, end - begin);
    begin = end + 1;
  }
  return out;
}

// The certificates of one moment. Each connection shares its ownership of SSL_CTX.
class Certificates {
 public:
  ~Certificates() { SSL_CTX_free(context_); }
  Status Load(const TlsOptions& options, const TlsMaterial& material);
  SSL_CTX* context() const { return context_; }
  SystemTime expires() const { return expires_; }

 private:
  Status Configure(const TlsOptions& options);
  Status UseChain(const TlsOptions& options, const std::string& text);
  Status UseKey(const TlsOptions& options, const std::string& text);
  Status UseAuthority(const TlsOptions& options, const std::string& text);

  SSL_CTX* context_ = nullptr;
  SystemTime expires_ = SystemTime::max();
};

Status Certificates::Load(const TlsOptions& options, const TlsMaterial& material) {
  ERR_clear_error();
  TERN_TRY(Configure(options));
  TERN_TRY(UseChain(options, material.certificate));
  TERN_TRY(UseKey(options, material.key));
  return options.client_ca.empty() ? Status() : UseAuthority(options, material.client_ca);
}

Status Certificates::Configure(const TlsOptions& options) {
  context_ = SSL_CTX_new(TLS_server_method());
  if (!context_) return Status(Code::kInternal, StrCat("cannot create a TLS context: ", LastError()));
  SSL_CTX_set_min_proto_version(context_, options.only_tls13 ? TLS1_3_VERSION : TLS1_2_VERSION);
  // Selects the TLS 1.2 ciphers that HTTP/2 allows: ephemeral key exchange and authenticated encryption.
  if (SSL_CTX_set_cipher_list(context_, "ECDHE+AESGCM:ECDHE+CHACHA20:DHE+AESGCM:!aNULL:!PSK") != 1)
    return Status(Code::kInternal, StrCat("cannot choose the ciphers of TLS: ", LastError()));
  SSL_CTX_set_options(context_,
                      SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_mode(context_, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                 SSL_MODE_RELEASE_BUFFERS);
  return {};
}

Status Certificates::UseChain(const TlsOptions& options, const std::string& text) {
  const Bio bio = Open(text);
  const auto failed = [&] {
    return InvalidArgument("cannot read the TLS certificate '", options.certificate, "': ", LastError());
  };
  Certificate first = bio ? NextCertificate(bio.get()) : nullptr;
  if (!first || SSL_CTX_use_certificate(context_, first.get()) != 1) return failed();
  expires_ = ExpiryOf(*first);
  while (Certificate next = NextCertificate(bio.get())) {
    expires_ = std::min(expires_, ExpiryOf(*next));
    if (SSL_CTX_add0_chain_cert(context_, next.get()) != 1) return failed();
    static_cast<void>(next.release());  // the context owns it
  }
  const unsigned long error = ERR_peek_last_error();
  if (ERR_GET_LIB(error) != ERR_LIB_PEM || ERR_GET_REASON(error) != PEM_R_NO_START_LINE) return failed();
  ERR_clear_error();  // the end of the file
  return {};
}

Status Certificates::UseKey(const TlsOptions& options, const std::string& text) {
  const Bio bio = Open(text);
  const Key key(bio ? PEM_read_bio_PrivateKey(bio.get(), nullptr, NoPassword, nullptr) : nullptr);
  if (!key) return InvalidArgument("cannot read the TLS key '", options.key, "': ", LastError());
  if (SSL_CTX_use_PrivateKey(context_, key.get()) != 1 || SSL_CTX_check_private_key(context_) != 1)
    return InvalidArgument("the TLS key '", options.key, "' does not belong to the certificate '",
                           options.certificate, "': ", LastError());
  return {};
}

Status Certificates::UseAuthority(const TlsOptions& options, const std::string& text) {
  const Bio bio = Open(text);
  X509_STORE* store = SSL_CTX_get_cert_store(context_);
  int count = 0;
  while (const Certificate next = bio ? NextCertificate(bio.get()) : nullptr) {
    if (X509_STORE_add_cert(store, next.get()) != 1 || SSL_CTX_add_client_CA(context_, next.get()) != 1)
      break;
    ++count;
  }
  const unsigned long error = ERR_peek_last_error();
  if (count == 0 || ERR_GET_LIB(error) != ERR_LIB_PEM || ERR_GET_REASON(error) != PEM_R_NO_START_LINE)
    return InvalidArgument("cannot read the certificate authority '", options.client_ca, "': ", LastError());
  ERR_clear_error();
  const int required = options.client_optional ? 0 : SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
  SSL_CTX_set_verify(context_, SSL_VERIFY_PEER | required, nullptr);
  // A resumed session would not check the client's certificate again.
  SSL_CTX_set_options(context_, SSL_OP_NO_TICKET);
  SSL_CTX_set_num_tickets(context_, 0);
  SSL_CTX_set_session_cache_mode(context_, SSL_SESS_CACHE_OFF);
  return {};
}

class OpenSslContext final : public TlsContext {
 public:
  explicit OpenSslContext(const TlsOptions& options) : options_(options) {}
  Status SetProtocols(const std::string& alpn) {
    TERN_ASSIGN(protocols_, EncodeProtocols(alpn));
    return {};
  }
  std::unique_ptr<Stream> MakeStream(int fd) override;
  Status Replace(const TlsMaterial& material) override;
  SystemTime expires() const override {
    const std::lock_guard lock(mutex_);
    return current_ ? current_->expires() : SystemTime();
  }

 private:
  static int SelectProtocol(SSL*, const unsigned char** out, unsigned char* size,
                            const unsigned char* offered, unsigned offered_size, void* self);

  const TlsOptions options_;
  std::string protocols_;  // each name is preceded by its length
  mutable std::mutex mutex_;
  std::shared_ptr<const Certificates> current_;
};

Status OpenSslContext::Replace(const TlsMaterial& material) {
  auto next = std::make_shared<Certificates>();
  TERN_TRY(next->Load(options_, material));
  if (!protocols_.empty()) SSL_CTX_set_alpn_select_cb(next->context(), SelectProtocol, this);
  const std::lock_guard lock(mutex_);
  current_ = std::move(next);
  return {};
}

int OpenSslContext::SelectProtocol(SSL*, const unsigned char** out, unsigned char* size,
                                   const unsigned char* offered, unsigned offered_size, void* self) {
  const std::string& own = static_cast<OpenSslContext*>(self)->protocols_;
  unsigned char* selected = nullptr;
  const int found = SSL_select_next_proto(&selected, size, reinterpret_cast<const unsigned char*>(own.data()),
                                          static_cast<unsigned>(own.size()), offered, offered_size);
  *out = selected;
  return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

std::unique_ptr<Stream> OpenSslContext::MakeStream(int fd) {
  std::shared_ptr<const Certificates> current;
  {
    const std::lock_guard lock(mutex_);
    current = current_;
  }
  SSL* ssl = current ? SSL_new(current->context()) : nullptr;
  if (!ssl || SSL_set_fd(ssl, fd) != 1) {
    SSL_free(ssl);
    close(fd);
    return nullptr;
  }
  SSL_set_accept_state(ssl);
  return MakeTlsStream(fd, ssl);
}

}  // namespace

Result<std::shared_ptr<TlsContext>> TlsContext::CreateEmpty(const TlsOptions& options,
                                                            const std::string& alpn) {
  auto context = std::make_shared<OpenSslContext>(options);
  TERN_TRY(context->SetProtocols(alpn));
  return std::shared_ptr<TlsContext>(std::move(context));
}

Result<std::shared_ptr<TlsContext>> TlsContext::Create(const TlsOptions& options, const std::string& alpn) {
  TERN_ASSIGN(std::shared_ptr<TlsContext> context, CreateEmpty(options, alpn));
  std::shared_ptr<TlsFiles> files = options.files;
  if (!files) {
    TERN_ASSIGN(files, TlsFiles::Open(options));
  }
  TERN_TRY(files->Attach(context));
  return context;
}

}  // namespace tern::server
