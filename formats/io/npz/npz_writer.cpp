#include <algorithm>
#include <limits>
#include <utility>

#include "formats/io/npz/npy_header.hpp"
#include "formats/io/npz/npz.hpp"

namespace sptile::formats {
namespace {

std::string_view bytes_of(const ArrayView& array) {
  return {static_cast<const char*>(array.data), static_cast<std::size_t>(array.bytes())};
}

std::string_view descr_of(DType dtype) {
  constexpr std::pair<DType, std::string_view> kDescr[] = {{DType::i32, "<i4"},
                                                           {DType::i64, "<i8"},
                                                           {DType::f16, "<f2"},
                                                           {DType::f32, "<f4"},
                                                           {DType::f64, "<f8"}};
  return std::find_if(std::begin(kDescr), std::end(kDescr),
                      [=](const auto& row) { return row.first == dtype; })
      ->second;
}

Status add(ZipWriter& zip, const std::string& name, std::string_view descr,
           const std::vector<std::int64_t>& shape, std::string_view bytes) {
  const std::string header = npy_header(descr, shape);
  Status s = zip.add(name + ".npy", static_cast<std::int64_t>(header.size() + bytes.size()));
  if (s) s = zip.write(header);
  return s ? zip.write(bytes) : s;
}

Status add_array(ZipWriter& zip, const std::string& name, const ArrayView& array) {
  return add(zip, name, descr_of(array.dtype), {array.size}, bytes_of(array));
}

// Uses the width of the columns if it suffices, because SciPy requires both to have the same type.
Status add_pointers(ZipWriter& zip, const CsrView& a) {
  if (a.nnz() > std::numeric_limits<std::int32_t>::max())
    return add_array(zip, "indptr", ArrayView(a.row_ptr));
  Buffer<std::int32_t> narrow(a.rows + 1);
  std::transform(a.row_ptr.begin(), a.row_ptr.end(), narrow.begin(),
                 [](std::int64_t x) { return static_cast<std::int32_t>(x); });
  return add_array(zip, "indptr", ArrayView(std::as_const(narrow).span()));
}

Status add_values(ZipWriter& zip, const CsrView& a) {
  if (a.is_pattern())
    return add(zip, "data", "|b1", {a.nnz()}, std::string(static_cast<std::size_t>(a.nnz()), '\1'));
  if (a.values.dtype != DType::bf16) return add_array(zip, "data", a.values);
  const Array wide = convert_values(a.values, DType::f32);
  return add_array(zip, "data", wide.view());
}

}  // namespace

Status write_npz(const CsrView& a, const std::string& path, Placing placing) {
  auto zip = ZipWriter::create(path, placing);
  if (!zip) return tl::unexpected(std::move(zip.error()));
  const std::int64_t shape[] = {a.rows, a.cols};
  Status s = add_array(*zip, "indices", ArrayView(a.col_idx));
  if (s) s = add_pointers(*zip, a);
  if (s) s = add(*zip, "format", "|S3", {}, "csr");
  if (s) s = add_array(*zip, "shape", ArrayView(std::span<const std::int64_t>(shape)));
  if (s) s = add_values(*zip, a);
  return s ? zip->commit() : s;
}

}  // namespace sptile::formats
