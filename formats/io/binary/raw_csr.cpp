#include "formats/io/binary/raw_csr.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "formats/io/files/atomic_file.hpp"
#include "formats/io/files/claim.hpp"
#include "formats/layout/csr.hpp"

namespace sptile::formats {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::int64_t kHeader1Bytes = 3 * 4 + 8, kHeader2Bytes = 4 * 4 + 8;
constexpr std::int64_t kValueAlignment = 8;

/// Contents of the header.
struct RawCsrHeader {
  bool wide = false;  ///< layout 2: 64-bit row pointers
  std::int32_t rows = 0, cols = 0;
  DType dtype = DType::none;
  std::int64_t entries = 0;

  /// Sizes cannot overflow: rows are below 2^31 and nonzeros at most `limit`.
  [[nodiscard]] std::int64_t pointer_bytes() const { return (std::int64_t{rows} + 1) * (wide ? 8 : 4); }
  [[nodiscard]] std::int64_t padding() const {
    return wide ? (kValueAlignment - 4 * entries % kValueAlignment) % kValueAlignment : 0;
  }
  [[nodiscard]] std::int64_t file_bytes() const {
    return (wide ? kHeader2Bytes : kHeader1Bytes) + pointer_bytes() + 4 * entries + padding() +
           entries * static_cast<std::int64_t>(size_of(dtype));
  }
};

class RawCsrReader {
 public:
  explicit RawCsrReader(InputBytes input) : input_(std::move(input)) {}

  Result<Csr> read() {
    for (const auto step : {&RawCsrReader::read_header, &RawCsrReader::check_sizes, &RawCsrReader::read_rows,
                            &RawCsrReader::read_entries})
      if (Status s = (this->*step)(); !s) return tl::unexpected(std::move(s.error()));
    if (const Status s = check_csr(csr_.view()); !s)
      return fail(s.error().code, s.error().message, input_.name());
    return std::move(csr_);
  }

 private:
  [[nodiscard]] tl::unexpected<Error> bad(std::string message) const {
    return fail(Errc::bad_input, std::move(message), input_.name());
  }

  // Reads exactly `bytes` bytes; Errc::bad_input if fewer are left.
  Status take(void* to, std::int64_t bytes) {
    const auto count = input_.read({static_cast<char*>(to), static_cast<std::size_t>(bytes)});
    if (!count) return tl::unexpected(count.error());
    return *count == bytes ? Status() : bad("a truncated raw CSR file; copy it again");
  }

  Status read_header() {
    std::array<char, 4> magic{};
    Status s = take(magic.data(), 4);
    const std::string_view found(magic.data(), magic.size());
    header_.wide = found == kRawCsrMagic2;
    if (!s || (!header_.wide && found != kRawCsrMagic)) return bad("not a raw CSR file");
    if (s) s = take(&header_.rows, 4);
    if (s) s = take(&header_.cols, 4);
    if (s && header_.wide) s = take(&header_.dtype, 4);
    return s ? take(&header_.entries, 8) : s;
  }

  Status check_sizes() {
    constexpr std::int64_t kMaxEntries = std::int64_t{1} << 56;
    const DType type = header_.dtype;
    if (type != DType::none && (!is_known(type) || !info(type).is_value))
      return bad(
          fmt::format("{} is not a value type; expected 0 (none), 6 (f16), 7 (bf16), 8 (f32) or 9 (f64)",
                      static_cast<std::uint32_t>(type)));
    if (!input_.size())
      return fail(Errc::unsupported, "raw CSR is read from files, not from pipes", input_.name());
    const bool sane =
        header_.rows >= 0 && header_.cols >= 0 && header_.entries >= 0 && header_.entries < kMaxEntries;
    if (!sane || *input_.size() != header_.file_bytes())
      return bad(fmt::format("{} rows, {} columns and {} entries do not fit a raw CSR file of {} bytes",
                             header_.rows, header_.cols, header_.entries, *input_.size()));
    return {};
  }

  Status read_rows() {
    const std::int64_t count = std::int64_t{header_.rows} + 1;
    csr_.rows = header_.rows;
    csr_.cols = header_.cols;
    csr_.row_ptr = claim<std::int64_t>(count);
    if (header_.wide) return take(csr_.row_ptr.data(), header_.pointer_bytes());
    Buffer<std::int32_t> narrow = claim<std::int32_t>(count);
    Status s = take(narrow.data(), header_.pointer_bytes());
    std::copy(narrow.begin(), narrow.end(), csr_.row_ptr.begin());
    return s;
  }

  Status read_entries() {
    csr_.col_idx = claim<std::int32_t>(header_.entries);
    std::array<char, kValueAlignment> padding{};
    Status s = take(csr_.col_idx.data(), 4 * header_.entries);
    if (s) s = take(padding.data(), header_.padding());
    if (!s || header_.dtype == DType::none) return s;
    csr_.values = claim(header_.dtype, header_.entries);
    return take(csr_.values.data(), csr_.values.view().bytes());
  }

  InputBytes input_;
  RawCsrHeader header_;
  Csr csr_;
};

std::string_view bytes_of(const void* data, std::int64_t bytes) {
  return {static_cast<const char*>(data), static_cast<std::size_t>(bytes)};
}

}  // namespace

Result<Csr> read_raw_csr(InputBytes input) { return RawCsrReader(std::move(input)).read(); }

Result<Csr> read_raw_csr(const std::string& path) {
  auto input = InputBytes::open(path);
  if (!input) return tl::unexpected(std::move(input.error()));
  return read_raw_csr(std::move(*input));
}

Status write_raw_csr(const CsrView& a, const std::string& path, Placing placing) {
  const RawCsrHeader header{true, static_cast<std::int32_t>(a.rows), static_cast<std::int32_t>(a.cols),
                            a.is_pattern() ? DType::none : a.values.dtype, a.nnz()};
  auto file = AtomicFile::create(path, placing);
  if (!file) return tl::unexpected(std::move(file.error()));
  const std::array<char, kValueAlignment> zeros{};
  const auto pieces = {
      kRawCsrMagic2,
      bytes_of(&header.rows, 4),
      bytes_of(&header.cols, 4),
      bytes_of(&header.dtype, 4),
      bytes_of(&header.entries, 8),
      bytes_of(a.row_ptr.data(), header.pointer_bytes()),
      bytes_of(a.col_idx.data(), 4 * header.entries),
      bytes_of(zeros.data(), header.padding()),
      bytes_of(a.values.data, a.is_pattern() ? 0 : a.values.bytes()),
  };
  for (const std::string_view piece : pieces)
    if (Status s = file->write(piece); !s) return s;
  return file->commit();
}

}  // namespace sptile::formats
