#include "tools/raw_csr.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "formats/layout/csr.hpp"

namespace sptile::tools {
namespace {
constexpr std::int64_t kHeaderBytes = 3 * 4 + 8;

template <class T>
bool read_into(std::istream& in, T* to, std::int64_t count) {
  return static_cast<bool>(in.read(reinterpret_cast<char*>(to), static_cast<std::streamsize>(count) *
                                                                    static_cast<std::streamsize>(sizeof(T))));
}
}  // namespace

Result<formats::Csr> read_raw_csr(const std::string& path) {
  std::error_code error;
  const auto size = static_cast<std::int64_t>(std::filesystem::file_size(path, error));
  std::ifstream in(path, std::ios::binary);
  if (error || !in) return fail(Errc::io, error ? error.message() : std::strerror(errno), path);
  std::int32_t head[3] = {};
  std::int64_t nnz = 0;
  if (!read_into(in, head, 3) || !read_into(in, &nnz, 1) || head[0] != kRawCsrMagic)
    return fail(Errc::bad_input, "not a raw CSR file", path);
  const std::int64_t rows = head[1];
  if (rows < 0 || head[2] < 0 || nnz < 0 || nnz > INT32_MAX || size != kHeaderBytes + 4 * (rows + 1 + nnz))
    return fail(Errc::bad_input,
                fmt::format("{} rows, {} columns and {} entries do not fit a raw CSR file of {} bytes", rows,
                            head[2], nnz, size),
                path);
  formats::Csr a;
  a.rows = rows;
  a.cols = head[2];
  formats::Buffer<std::int32_t> row_ptr(rows + 1);
  a.col_idx = formats::Buffer<std::int32_t>(nnz);
  if (!read_into(in, row_ptr.data(), rows + 1) || !read_into(in, a.col_idx.data(), nnz))
    return fail(Errc::io, std::strerror(errno), path);
  a.row_ptr = formats::Buffer<std::int64_t>(rows + 1);
  std::copy(row_ptr.begin(), row_ptr.end(), a.row_ptr.begin());
  if (const Status s = formats::check_csr(a.view()); !s) return fail(s.error().code, s.error().message, path);
  return a;
}

}  // namespace sptile::tools
