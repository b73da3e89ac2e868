#include "formats/io/decompress.hpp"

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <new>
#include <string>

namespace sptile::formats {
namespace {

using namespace std::string_view_literals;

tl::unexpected<Error> corrupt(const std::string& codec, const std::string& reason) {
  return fail(Errc::bad_input, "corrupt " + codec + " data (" + reason + "); get the file again");
}

template <class Span>
auto clipped(const Span& span) {
  return static_cast<unsigned>(std::min<std::size_t>(span.size(), std::numeric_limits<unsigned>::max()));
}

class GzipDecoder final : public Decoder {
 public:
  GzipDecoder() {
    constexpr int kGzipOnly = 16 + MAX_WBITS;
    if (::inflateInit2(&stream_, kGzipOnly) != Z_OK) throw std::bad_alloc();
  }
  GzipDecoder(const GzipDecoder&) = delete;
  GzipDecoder& operator=(const GzipDecoder&) = delete;
  ~GzipDecoder() override { ::inflateEnd(&stream_); }

  Status decode(std::span<const char>& in, std::span<char>& out, bool) override {
    if (in.empty() && complete_) return {};
    if (complete_) ::inflateReset(&stream_);  // another member follows
    complete_ = false;
    const unsigned in_bytes = clipped(in), out_bytes = clipped(out);
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));  // zlib does not write to it
    stream_.avail_in = in_bytes;
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = out_bytes;
    const int code = ::inflate(&stream_, Z_NO_FLUSH);
    in = in.subspan(in_bytes - stream_.avail_in);
    out = out.subspan(out_bytes - stream_.avail_out);
    if (code == Z_MEM_ERROR) throw std::bad_alloc();
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
      return corrupt("gzip", stream_.msg != nullptr ? stream_.msg : "unknown reason");
    complete_ = code == Z_STREAM_END;
    return {};
  }
  [[nodiscard]] bool complete() const override { return complete_; }

 private:
  z_stream stream_{};
  bool complete_ = false;
};

class XzDecoder final : public Decoder {
 public:
  XzDecoder() {
    constexpr std::uint64_t kMemoryLimit = std::uint64_t{1} << 30;  // xz -9 needs 65 MiB
    if (::lzma_stream_decoder(&stream_, kMemoryLimit, LZMA_CONCATENATED) != LZMA_OK) throw std::bad_alloc();
  }
  XzDecoder(const XzDecoder&) = delete;
  XzDecoder& operator=(const XzDecoder&) = delete;
  ~XzDecoder() override { ::lzma_end(&stream_); }

  Status decode(std::span<const char>& in, std::span<char>& out, bool last) override {
    if (complete_) return {};
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(in.data());
    stream_.avail_in = in.size();
    stream_.next_out = reinterpret_cast<std::uint8_t*>(out.data());
    stream_.avail_out = out.size();
    const lzma_ret code = ::lzma_code(&stream_, last ? LZMA_FINISH : LZMA_RUN);
    in = in.last(stream_.avail_in);
    out = out.last(stream_.avail_out);
    if (code == LZMA_MEM_ERROR) throw std::bad_alloc();
    if (code == LZMA_MEMLIMIT_ERROR) return corrupt("xz", "it asks for more than 1 GiB of memory");
    if (code == LZMA_OPTIONS_ERROR) return corrupt("xz", "unknown compression options");
    if (code != LZMA_OK && code != LZMA_STREAM_END && code != LZMA_BUF_ERROR)
      return corrupt("xz", "checksum or structure is wrong");
    complete_ = code == LZMA_STREAM_END;
    return {};
  }
  [[nodiscard]] bool complete() const override { return complete_; }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool complete_ = false;
};

class ZstdDecoder final : public Decoder {
 public:
  ZstdDecoder() : context_(::ZSTD_createDCtx()) {
    if (!context_) throw std::bad_alloc();
  }

  Status decode(std::span<const char>& in, std::span<char>& out, bool) override {
    ZSTD_inBuffer from{in.data(), in.size(), 0};
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    const std::size_t code = ::ZSTD_decompressStream(context_.get(), &to, &from);
    in = in.subspan(from.pos);
    out = out.subspan(to.pos);
    if (::ZSTD_isError(code) != 0) return corrupt("zstd", ::ZSTD_getErrorName(code));
    if (from.pos > 0 || to.pos > 0) complete_ = code == 0;
    return {};
  }
  [[nodiscard]] bool complete() const override { return complete_; }

 private:
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ::ZSTD_freeDCtx(context); }
  };
  std::unique_ptr<ZSTD_DCtx, Free> context_;
  bool complete_ = false;
};

template <class T>
std::unique_ptr<Decoder> make() {
  return std::make_unique<T>();
}

constexpr Codec kCodecs[] = {
    {"gzip", "\x1f\x8b"sv, make<GzipDecoder>},
    {"xz",
     "\xfd"
     "7zXZ\0"sv,
     make<XzDecoder>},
    {"zstd", "\x28\xb5\x2f\xfd"sv, make<ZstdDecoder>},
};

}  // namespace

const Codec* find_codec(std::string_view head) {
  for (const Codec& codec : kCodecs)
    if (head.starts_with(codec.magic)) return &codec;
  return nullptr;
}

}  // namespace sptile::formats
