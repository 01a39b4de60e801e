#include "data/zip.h"

#include <zlib.h>

#include <algorithm>
#include <optional>

namespace tern::data {
namespace {

constexpr uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50, kEnd64 = 0x06064b50,
                   kLocator64 = 0x07064b50;
constexpr uint32_t kIn64 = 0xffffffff;      // means that the number is in the 64-bit extra field
constexpr uint64_t kMaxInflation = 1032;    // the best compression ratio of deflate
constexpr size_t kMaxWritten = 0xfffffffe;  // limit of written sizes and offsets, which have 32 bits
constexpr size_t kLocalHeader = 30;

// Reads `data` from its start, with bounds checks. After a read beyond the end, ok() is false, and all reads
// return 0.
class Reader {
 public:
  explicit Reader(std::string_view data) : data_(data) {}
  bool ok() const { return ok_; }
  uint64_t Take(int bytes) {
    if (data_.size() < static_cast<size_t>(bytes)) ok_ = false;
    if (!ok_) return 0;
    uint64_t v = 0;
    for (int i = 0; i < bytes; ++i)
      v |= static_cast<uint64_t>(static_cast<uint8_t>(data_[static_cast<size_t>(i)])) << (8 * i);
    data_.remove_prefix(static_cast<size_t>(bytes));
    return v;
  }
  std::string_view Bytes(uint64_t n) {
    if (data_.size() < n) ok_ = false;
    if (!ok_) return {};
    const std::string_view out = data_.substr(0, n);
    data_.remove_prefix(n);
    return out;
  }
  size_t remaining() const { return data_.size(); }

 private:
  std::string_view data_;
  bool ok_ = true;
};

void Put(std::string& out, uint64_t v, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(v >> (8 * i));
}

std::string_view From(std::string_view file, uint64_t offset) {
  return offset <= file.size() ? file.substr(offset) : std::string_view();
}

struct Directory {
  uint64_t offset = 0, entries = 0;
};

Result<Directory> FindDirectory(std::string_view file) {
  constexpr size_t kEndSize = 22;
  const auto broken = [] { return InvalidArgument("not a zip archive: its directory is missing"); };
  if (file.size() < kEndSize) return broken();
  const size_t lowest = file.size() > kEndSize + 65535 ? file.size() - kEndSize - 65535 : 0;
  for (size_t at = file.size() - kEndSize + 1; at-- > lowest;) {
    Reader r(file.substr(at));
    if (r.Take(4) != kEnd) continue;
    r.Take(6);
    Directory d;
    d.entries = r.Take(2);
    r.Take(4);
    d.offset = r.Take(4);
    if (at >= 20) {
      Reader locator(file.substr(at - 20));
      if (locator.Take(4) == kLocator64) {
        locator.Take(4);
        Reader end64(From(file, locator.Take(8)));
        if (end64.Take(4) != kEnd64) return broken();
        end64.Bytes(28);
        d.entries = end64.Take(8);
        end64.Take(8);
        d.offset = end64.Take(8);
        if (!end64.ok()) return broken();
      }
    }
    return d;
  }
  return broken();
}

// Replaces each size or offset that is kIn64 by the 64-bit number in the entry's extra field. The extra field
// contains only the numbers that are kIn64 in the entry, in the order size, packed size, offset.
void ReadExtra64(Reader extra, ZipEntry& e) {
  while (extra.ok() && extra.remaining() >= 4) {
    const uint64_t id = extra.Take(2);
    Reader field(extra.Bytes(extra.Take(2)));
    if (id != 1) continue;
    for (uint64_t* v : {&e.size, &e.packed, &e.offset})
      if (*v == kIn64 && field.remaining() >= 8) *v = field.Take(8);
  }
}

Result<ZipEntry> ReadCentral(Reader& r) {
  ZipEntry e;
  if (r.Take(4) != kCentral) return InvalidArgument("the zip directory is broken");
  r.Take(4);
  const uint64_t flags = r.Take(2);
  e.method = static_cast<int>(r.Take(2));
  r.Take(4);
  e.crc = static_cast<uint32_t>(r.Take(4));
  e.packed = r.Take(4);
  e.size = r.Take(4);
  const uint64_t name = r.Take(2), extra = r.Take(2), comment = r.Take(2);
  r.Take(8);
  e.offset = r.Take(4);
  e.name = std::string(r.Bytes(name));
  ReadExtra64(Reader(r.Bytes(extra)), e);
  r.Bytes(comment);
  if (!r.ok()) return InvalidArgument("the zip directory ends inside an entry");
  if (flags & 1) return Unsupported("zip entry '", e.name, "' is encrypted");
  if (e.method != 0 && e.method != 8)
    return Unsupported("zip entry '", e.name, "' uses compression method ", e.method);
  return e;
}

Status CheckSizes(const ZipEntry& e, size_t file_size) {
  const uint64_t bound = e.method == 0                           ? e.packed
                         : e.packed > UINT64_MAX / kMaxInflation ? UINT64_MAX
                                                                 : e.packed * kMaxInflation;
  if (e.packed > file_size || e.offset > file_size || e.size > bound || (e.method == 0 && e.size != e.packed))
    return InvalidArgument("zip entry '", e.name, "' claims ", e.size, " bytes, packed into ", e.packed,
                           " bytes at offset ", e.offset, ", in a file of ", file_size, " bytes");
  return {};
}

Result<std::string> Inflate(std::string_view packed, uint64_t size, const std::string& name) {
  std::string out(size, '\0');
  z_stream z{};
  if (inflateInit2(&z, -MAX_WBITS) != Z_OK) return ResourceExhausted("out of memory");
  size_t done = 0;
  int state = Z_OK;
  while (state == Z_OK) {  // in chunks, because zlib counts in 32 bits
    constexpr size_t kChunk = size_t{1} << 30;
    if (z.avail_in == 0) {
      const size_t n = std::min(packed.size(), kChunk);
      z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
      z.avail_in = static_cast<uInt>(n);
      packed.remove_prefix(n);
    }
    const size_t space = std::min(out.size() - done, kChunk);
    char spare = 0;  // zlib needs an output buffer even when no output is left
    z.next_out = reinterpret_cast<Bytef*>(space ? out.data() + done : &spare);
    z.avail_out = static_cast<uInt>(space ? space : 1);
    state = inflate(&z, Z_NO_FLUSH);
    done += (space ? space : 1) - z.avail_out;
    if (done > out.size()) break;
  }
  inflateEnd(&z);
  if (state != Z_STREAM_END || done != size)
    return InvalidArgument("zip entry '", name, "' does not unpack to ", size, " bytes");
  return out;
}

// Returns nullopt if the result may be larger than kMaxWritten.
std::optional<std::string> Deflate(std::string_view bytes) {
  z_stream z{};
  if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  const size_t bound = deflateBound(&z, bytes.size());
  if (bound > kMaxWritten) {
    deflateEnd(&z);
    return std::nullopt;
  }
  std::string out(bound, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  z.avail_in = static_cast<uInt>(bytes.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  const int state = deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  TERN_CHECK(state == Z_STREAM_END, "deflate");
  return out;
}

// Returns the bytes of an entry as they are in the file.
Result<std::string_view> PackedBytes(std::string_view file, const ZipEntry& e) {
  Reader r(From(file, e.offset));
  const bool local = r.Take(4) == kLocal;
  r.Bytes(22);
  const uint64_t name = r.Take(2), extra = r.Take(2);
  r.Bytes(name);
  r.Bytes(extra);
  const std::string_view packed = r.Bytes(e.packed);
  if (!local || !r.ok()) return InvalidArgument("zip entry '", e.name, "' does not match the directory");
  return packed;
}

uint32_t Crc(std::string_view bytes) {
  return static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace

Result<std::vector<ZipEntry>> ListZip(std::string_view file) {
  TERN_ASSIGN(const Directory directory, FindDirectory(file));
  Reader r(From(file, directory.offset));
  std::vector<ZipEntry> entries;
  // The sum of the packed sizes. If it exceeds the file's size, entries overlap. Such a file could be a zip
  // bomb, which expands the same bytes many times.
  uint64_t packed = 0;
  for (uint64_t i = 0; i < directory.entries; ++i) {
    TERN_ASSIGN(ZipEntry e, ReadCentral(r));
    TERN_TRY(CheckSizes(e, file.size()));
    if ((packed += e.packed) > file.size())
      return InvalidArgument("zip entry '", e.name, "' overlaps another entry");
    entries.push_back(std::move(e));
  }
  return entries;
}

Result<std::string_view> StoredZipEntry(std::string_view file, const ZipEntry& e) {
  if (e.method != 0) return InvalidArgument("zip entry '", e.name, "' is compressed");
  return PackedBytes(file, e);
}

Result<std::string> ReadZipEntry(std::string_view file, const ZipEntry& e) {
  return Guard([&]() -> Result<std::string> {
    TERN_ASSIGN(const std::string_view packed, PackedBytes(file, e));
    TERN_ASSIGN(std::string out,
                e.method == 8 ? Inflate(packed, e.size, e.name) : Result<std::string>(std::string(packed)));
    if (Crc(out) != e.crc)
      return InvalidArgument("zip entry '", e.name, "' is damaged: its checksum differs");
    return out;
  });
}

Status ZipWriter::Add(const std::string& name, std::string_view bytes) {
  const size_t used = body_.size() + kLocalHeader + name.size();
  const auto fits = [&](size_t size) { return size <= kMaxWritten && used <= kMaxWritten - size; };
  std::optional<std::string> packed;
  if (fits(bytes.size()) && name.size() <= 65535 && count_ < 65535)
    packed = compress_ ? Deflate(bytes) : std::string(bytes);
  if (!packed || !fits(packed->size()))
    return Unsupported("a zip archive with more than 4 GB or 65,535 entries, at entry '", name,
                       "'; write .npy files instead");
  std::string common;  // the fields that the local header and the directory entry share
  Put(common, 20, 2);
  Put(common, 0x800, 2);  // the name is UTF-8
  Put(common, compress_ ? 8 : 0, 2);
  Put(common, 0x00210000, 4);  // the date is always 1 January 1980, so that equal input gives equal files
  Put(common, Crc(bytes), 4);
  Put(common, packed->size(), 4);
  Put(common, bytes.size(), 4);
  Put(common, name.size(), 2);
  Put(common, 0, 2);
  Put(directory_, kCentral, 4);
  Put(directory_, 20, 2);
  directory_ += common;
  directory_.append(10, '\0');  // comment length, disk, attributes
  Put(directory_, body_.size(), 4);
  directory_ += name;
  Put(body_, kLocal, 4);
  body_ += common + name + *packed;
  ++count_;
  return {};
}

std::string ZipWriter::Finish() {
  std::string out = std::move(body_);
  const size_t start = out.size();
  out += directory_;
  Put(out, kEnd, 4);
  Put(out, 0, 4);
  Put(out, static_cast<uint64_t>(count_), 2);
  Put(out, static_cast<uint64_t>(count_), 2);
  Put(out, directory_.size(), 4);
  Put(out, start, 4);
  Put(out, 0, 2);
  return out;
}

}  // namespace tern::data
