#include "formats/io/stream/compress.hpp"

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <new>

namespace sptile::formats {
namespace {

constexpr std::size_t kStep = 64 << 10;

// Splits long texts, because zlib's sizes are unsigned ints.
class GzipEncoder final : public Encoder {
 public:
  GzipEncoder() {
    constexpr int kGzip = 16 + MAX_WBITS, kMemoryLevel = 8;
    if (::deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, kMemoryLevel,
                       Z_DEFAULT_STRATEGY) != Z_OK)
      throw std::bad_alloc();
  }
  GzipEncoder(const GzipEncoder&) = delete;
  GzipEncoder& operator=(const GzipEncoder&) = delete;
  ~GzipEncoder() override { ::deflateEnd(&stream_); }

  void encode(std::string_view in, bool last, std::string& out) override {
    do {
      const std::string_view piece = in.substr(0, std::numeric_limits<unsigned>::max());
      in.remove_prefix(piece.size());
      stream_.next_in =
          reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));  // zlib does not write to it
      stream_.avail_in = static_cast<unsigned>(piece.size());
      deflate_piece(last && in.empty() ? Z_FINISH : Z_NO_FLUSH, out);
    } while (!in.empty());
  }

 private:
  void deflate_piece(int flush, std::string& out) {
    std::array<char, kStep> step;
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(step.data());
      stream_.avail_out = kStep;
      ::deflate(&stream_, flush);
      out.append(step.data(), kStep - stream_.avail_out);
    } while (stream_.avail_out == 0);
  }

  z_stream stream_{};
};

class XzEncoder final : public Encoder {
 public:
  XzEncoder() {
    if (::lzma_easy_encoder(&stream_, LZMA_PRESET_DEFAULT, LZMA_CHECK_CRC64) != LZMA_OK)
      throw std::bad_alloc();
  }
  XzEncoder(const XzEncoder&) = delete;
  XzEncoder& operator=(const XzEncoder&) = delete;
  ~XzEncoder() override { ::lzma_end(&stream_); }

  void encode(std::string_view in, bool last, std::string& out) override {
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(in.data());
    stream_.avail_in = in.size();
    std::array<char, kStep> step;
    do {
      stream_.next_out = reinterpret_cast<std::uint8_t*>(step.data());
      stream_.avail_out = kStep;
      if (::lzma_code(&stream_, last ? LZMA_FINISH : LZMA_RUN) == LZMA_MEM_ERROR) throw std::bad_alloc();
      out.append(step.data(), kStep - stream_.avail_out);
    } while (stream_.avail_out == 0);
  }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
};

class ZstdEncoder final : public Encoder {
 public:
  ZstdEncoder() : context_(::ZSTD_createCCtx()) {
    if (!context_) throw std::bad_alloc();
    ::ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1);
  }

  void encode(std::string_view in, bool last, std::string& out) override {
    ZSTD_inBuffer from{in.data(), in.size(), 0};
    std::array<char, kStep> step;
    std::size_t left = 0;
    do {
      ZSTD_outBuffer to{step.data(), kStep, 0};
      left = ::ZSTD_compressStream2(context_.get(), &to, &from, last ? ZSTD_e_end : ZSTD_e_continue);
      if (::ZSTD_isError(left) != 0) throw std::bad_alloc();  // the only possible error here
      out.append(step.data(), to.pos);
    } while (from.pos < from.size || (last && left > 0));
  }

 private:
  struct Free {
    void operator()(ZSTD_CCtx* context) const { ::ZSTD_freeCCtx(context); }
  };
  std::unique_ptr<ZSTD_CCtx, Free> context_;
};

template <class T>
std::unique_ptr<Encoder> make() {
  return std::make_unique<T>();
}

constexpr Compression kCompressions[] = {
    {".gz", make<GzipEncoder>}, {".xz", make<XzEncoder>}, {".zst", make<ZstdEncoder>}};

}  // namespace

const Compression* find_compression(std::string_view path) {
  for (const Compression& compression : kCompressions)
    if (path.ends_with(compression.ending)) return &compression;
  return nullptr;
}

}  // namespace sptile::formats
