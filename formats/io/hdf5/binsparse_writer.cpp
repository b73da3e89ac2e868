#include <fmt/format.h>

#include <utility>

#include "formats/io/files/atomic_file.hpp"
#include "formats/io/hdf5/binsparse.hpp"
#include "formats/io/hdf5/hdf5_file.hpp"

namespace sptile::formats {
namespace {

constexpr float kOne = 1;  // the iso value of patterns

Status add_array(Hdf5File& file, const std::string& name, const ArrayView& array) {
  Status s = file.add_array(name, array.dtype, array.size);
  return s ? file.write(0, array) : s;
}

Status write_container(const CsrView& a, int fd) {
  constexpr std::uint64_t kNoUserBlock = 0;
  auto file = Hdf5File::create(fd, kNoUserBlock);
  if (!file) return tl::unexpected(std::move(file.error()));
  const ArrayView values = a.is_pattern() ? ArrayView(std::span<const float>(&kOne, 1)) : a.values;
  Status s = add_array(*file, "/pointers_to_1", ArrayView(a.row_ptr));
  if (s) s = add_array(*file, "/indices_1", ArrayView(a.col_idx));
  if (s) s = add_array(*file, "/values", values);
  if (s) s = file->add_attribute("/", kBinsparseAttribute, binsparse_descriptor(a));
  return s ? file->close() : s;
}

}  // namespace

// Readers compare versions by semantic versioning, which requires three numbers.
std::string binsparse_descriptor(const CsrView& a) {
  const std::string_view type = a.values.dtype == DType::f64 ? "float64" : "float32";
  return fmt::format(
      R"({{"binsparse":{{"version":"0.1.0","format":"CSR","shape":[{},{}],"number_of_stored_values":{},)"
      R"("data_types":{{"pointers_to_1":"int64","indices_1":"int32","values":"{}"}}}}}})",
      a.rows, a.cols, a.nnz(), a.is_pattern() ? fmt::format("iso[{}]", type) : std::string(type));
}

Status write_binsparse(const CsrView& a, const std::string& path, Placing placing) {
  CsrView stored = a;
  Array wide;
  if (!a.is_pattern() && a.values.dtype != DType::f64) {
    wide = convert_values(a.values, DType::f32);
    stored.values = wide.view();
  }
  auto file = AtomicFile::create(path, placing);
  if (!file) return tl::unexpected(std::move(file.error()));
  if (Status s = write_container(stored, file->fd()); !s) {
    if (s.error().where.empty()) s.error().where = path;
    return s;
  }
  return file->commit();
}

}  // namespace sptile::formats
