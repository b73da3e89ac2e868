#include "formats/io/stream/decompress.hpp"

#include <bzlib.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <new>
#include <string>

#include "formats/io/files/available_memory.hpp"

namespace sptile::formats {
namespace {

using namespace std::string_view_literals;

tl::unexpected<Error> corrupt(const std::string& codec, const std::string& reason) {
  return fail(Errc::bad_input, "corrupt " + codec + " data (" + reason + "); copy the file again");
}

template <class Span>
auto clipped(const Span& span) {
  return static_cast<unsigned>(std::min<std::size_t>(span.size(), std::numeric_limits<unsigned>::max()));
}

// Skips zeros after a stream, which are padding of tapes and block devices; gzip ignores them too.
void skip_padding(std::span<const char>& in) {
  in = in.subspan(static_cast<std::size_t>(std::find_if(in.begin(), in.end(), [](char c) { return c != 0; }) -
                                           in.begin()));
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
    if (complete_) skip_padding(in);
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

class Bzip2Decoder final : public Decoder {
 public:
  Bzip2Decoder() { start(); }
  Bzip2Decoder(const Bzip2Decoder&) = delete;
  Bzip2Decoder& operator=(const Bzip2Decoder&) = delete;
  ~Bzip2Decoder() override { ::BZ2_bzDecompressEnd(&stream_); }

  Status decode(std::span<const char>& in, std::span<char>& out, bool) override {
    if (complete_) skip_padding(in);
    if (in.empty() && complete_) return {};
    if (complete_) {  // another stream follows
      ::BZ2_bzDecompressEnd(&stream_);
      start();
    }
    complete_ = false;
    const unsigned in_bytes = clipped(in), out_bytes = clipped(out);
    stream_.next_in = const_cast<char*>(in.data());  // bzip2 does not write to it
    stream_.avail_in = in_bytes;
    stream_.next_out = out.data();
    stream_.avail_out = out_bytes;
    const int code = ::BZ2_bzDecompress(&stream_);
    in = in.subspan(in_bytes - stream_.avail_in);
    out = out.subspan(out_bytes - stream_.avail_out);
    if (code == BZ_MEM_ERROR) throw std::bad_alloc();
    if (code != BZ_OK && code != BZ_STREAM_END)
      return corrupt("bzip2", code == BZ_DATA_ERROR_MAGIC ? "incorrect header"
                                                          : "the checksum or the structure is invalid");
    complete_ = code == BZ_STREAM_END;
    return {};
  }
  [[nodiscard]] bool complete() const override { return complete_; }

 private:
  void start() {
    stream_ = {};
    if (::BZ2_bzDecompressInit(&stream_, 0, 0) != BZ_OK) throw std::bad_alloc();
  }

  bz_stream stream_{};
  bool complete_ = false;
};

class XzDecoder final : public Decoder {
 public:
  XzDecoder() {
    const auto limit = static_cast<std::uint64_t>(available_memory());  // xz -9 needs 65 MiB
    if (::lzma_stream_decoder(&stream_, std::max<std::uint64_t>(limit, 1), LZMA_CONCATENATED) != LZMA_OK)
      throw std::bad_alloc();
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
    if (code == LZMA_MEMLIMIT_ERROR)
      return check_memory("xz: its dictionaries", static_cast<std::int64_t>(::lzma_memusage(&stream_)),
                          static_cast<std::int64_t>(::lzma_memlimit_get(&stream_)));
    if (code == LZMA_OPTIONS_ERROR)
      return fail(Errc::unsupported,
                  "xz data with filters that this liblzma does not support; decompress it with xz -d");
    if (code != LZMA_OK && code != LZMA_STREAM_END && code != LZMA_BUF_ERROR)
      return corrupt("xz", "the checksum or the structure is invalid");
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
    // The default window limit rejects files written with zstd --long=28 and above.
    ::ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, largest_window_log());
  }

  Status decode(std::span<const char>& in, std::span<char>& out, bool) override {
    if (complete_) skip_padding(in);
    ZSTD_inBuffer from{in.data(), in.size(), 0};
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    const std::size_t code = ::ZSTD_decompressStream(context_.get(), &to, &from);
    in = in.subspan(from.pos);
    out = out.subspan(to.pos);
    if (::ZSTD_isError(code) != 0) return refusal(code);
    if (from.pos > 0 || to.pos > 0) complete_ = code == 0;
    return {};
  }
  [[nodiscard]] bool complete() const override { return complete_; }

 private:
  // Returns the largest window that fits in memory.
  static int largest_window_log() {
    const ZSTD_bounds bounds = ::ZSTD_dParam_getBounds(ZSTD_d_windowLogMax);
    const auto available = static_cast<std::uint64_t>(std::max<std::int64_t>(available_memory(), 1));
    return std::clamp(static_cast<int>(std::bit_width(available)) - 1, bounds.lowerBound, bounds.upperBound);
  }

  static tl::unexpected<Error> refusal(std::size_t code) {
    const ZSTD_ErrorCode error = ::ZSTD_getErrorCode(code);
    if (error == ZSTD_error_memory_allocation) throw std::bad_alloc();
    if (error == ZSTD_error_frameParameter_windowTooLarge)
      return fail(Errc::io, "zstd: the window needs more than " +
                                std::to_string(std::int64_t{1} << largest_window_log()) +
                                " bytes of memory; compress with a smaller --long");
    if (error == ZSTD_error_dictionary_wrong)
      return fail(Errc::unsupported,
                  "zstd data that requires a dictionary; decompress it with zstd -d -D DICTIONARY");
    return corrupt("zstd", ::ZSTD_getErrorName(code));
  }

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
    {"gzip", ".gz", "\x1f\x8b"sv, make<GzipDecoder>},
    {"bzip2", ".bz2", "BZh?"sv, make<Bzip2Decoder>},
    {"xz", ".xz",
     "\xfd"
     "7zXZ\0"sv,
     make<XzDecoder>},
    {"zstd", ".zst", "\x28\xb5\x2f\xfd"sv, make<ZstdDecoder>},
    {"zstd", ".zst", "\x50\x2a\x4d\x18"sv, make<ZstdDecoder>},  // skippable frame, which pzstd writes first
};

struct ForeignCodec {
  std::string_view name, magic;
};
constexpr ForeignCodec kForeignCodecs[] = {
    {"compress (.Z)", "\x1f\x9d"sv},   {"pack (.z)", "\x1f\x1e"sv},
    {"lzma", "\x5d\x00\x00"sv},        {"lzip", "LZIP"sv},
    {"lz4", "\x04\x22\x4d\x18"sv},     {"lzop", "\x89LZO"sv},
    {"7-zip", "7z\xbc\xaf\x27\x1c"sv}, {"RAR", "Rar!\x1a\x07"sv},
};

}  // namespace

const Codec* find_codec(std::string_view head) {
  const auto matches = [](char magic, char byte) { return magic == '?' || magic == byte; };
  for (const Codec& codec : kCodecs)
    if (head.size() >= codec.magic.size() &&
        std::equal(codec.magic.begin(), codec.magic.end(), head.begin(), matches))
      return &codec;
  return nullptr;
}

std::string_view codec_ending(std::string_view name) {
  for (const Codec& codec : kCodecs)
    if (name.ends_with(codec.ending)) return codec.ending;
  return {};
}

Status check_codec(std::string_view head) {
  for (const ForeignCodec& codec : kForeignCodecs)
    if (head.starts_with(codec.magic))
      return fail(Errc::unsupported, "compressed by " + std::string(codec.name) +
                                         "; decompress it, or compress it with gzip, bzip2, xz or zstd");
  return {};
}

}  // namespace sptile::formats
