#include "tools/bench/cuda/matrix_file.hpp"

#include <tbb/parallel_for.h>

#include <cstdint>
#include <cstdio>
#include <memory>

#include "formats/io/matrix_market.hpp"
#include "formats/layout/csr.hpp"
#include "formats/random.hpp"

namespace sptile::bench {
namespace {

constexpr std::int32_t kMagic = 0x43535231;

struct Header {
  std::int32_t magic, rows, cols;
};

Result<formats::Csr> read_raw(std::FILE* file, const std::string& path) {
  Header header{};
  std::int64_t nnz = 0;
  if (std::fread(&header, sizeof(header), 1, file) != 1 || std::fread(&nnz, sizeof(nnz), 1, file) != 1 ||
      header.rows < 0 || header.cols < 0 || nnz < 0)
    return fail(Errc::bad_input, "not a raw CSR file", path);
  formats::Csr a;
  a.rows = header.rows;
  a.cols = header.cols;
  formats::Buffer<std::int32_t> row_ptr(a.rows + 1);
  a.col_idx = formats::Buffer<std::int32_t>(nnz);
  if (std::fread(row_ptr.data(), 4, static_cast<std::size_t>(a.rows) + 1, file) !=
          static_cast<std::size_t>(a.rows) + 1 ||
      std::fread(a.col_idx.data(), 4, static_cast<std::size_t>(nnz), file) != static_cast<std::size_t>(nnz))
    return fail(Errc::bad_input, "the file is too short", path);
  a.row_ptr = formats::Buffer<std::int64_t>(a.rows + 1);
  for (std::int64_t r = 0; r <= a.rows; ++r) a.row_ptr[r] = row_ptr[r];
  if (const Status s = formats::check_csr(a.view()); !s) return fail(s.error().code, s.error().message, path);
  return a;
}

Result<formats::Csr> read_structure(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (file == nullptr) return fail(Errc::io, "cannot be opened", path);
  std::int32_t magic = 0;
  if (std::fread(&magic, sizeof(magic), 1, file.get()) == 1 && magic == kMagic) {
    std::rewind(file.get());
    return read_raw(file.get(), path);
  }
  auto text = formats::read_matrix_market(path);
  if (!text) return tl::unexpected(text.error());
  return std::move(text->csr);
}

}  // namespace

Result<formats::Csr> read_matrix(const std::string& path, DType dtype) {
  auto a = read_structure(path);
  if (!a) return a;
  formats::Buffer<float> values(a->nnz());
  tbb::parallel_for(std::int64_t{0}, a->rows, [&](std::int64_t r) {
    RandomStream random(1, static_cast<std::uint64_t>(r));
    for (std::int64_t k = a->row_ptr[r]; k < a->row_ptr[r + 1]; ++k)
      values[k] = static_cast<float>(0.1 + 0.9 * random.uniform());
  });
  a->values = formats::Array(std::move(values));
  if (dtype != DType::f32) a->values = formats::convert_values(a->values.view(), dtype);
  return a;
}

std::string name_of_file(const std::string& path) {
  const std::string file = path.substr(path.rfind('/') + 1);
  return file.substr(0, file.find('.'));
}

}  // namespace sptile::bench
