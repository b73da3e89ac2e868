#include "formats/io/hdf5/hdf5_matrix.hpp"

#include <utility>

#include "formats/core/quote.hpp"
#include "formats/io/hdf5/binsparse.hpp"
#include "formats/io/hdf5/cell_matrix.hpp"

namespace sptile::formats {
namespace {

struct KindRow {
  Result<bool> (*is)(const Hdf5Reader& file);
  Result<ReadMatrix> (*read)(Hdf5Reader file, const std::string& name, bool real_part);
};
constexpr KindRow kHdf5Kinds[] = {
    {is_binsparse, read_binsparse}, {is_anndata, read_anndata}, {is_10x, read_10x}};

tl::unexpected<Error> report_contents(const Hdf5Reader& file, const std::string& name) {
  const auto names = file.names();
  if (!names) return tl::unexpected(names.error());
  std::string held;
  for (const std::string& one : *names) held += (held.empty() ? "" : ", ") + quoted(one);
  return fail(Errc::bad_input,
              "an HDF5 file with " + (held.empty() ? "nothing" : held) +
                  ", but neither a bundle nor binsparse: the sptile header and the attribute 'binsparse' are "
                  "missing; HDF5 tools that copy a bundle may drop the header",
              name);
}

}  // namespace

Result<ReadMatrix> read_hdf5_matrix(Result<Hdf5Reader> file, const std::string& name, bool real_part) {
  if (!file) return tl::unexpected(std::move(file.error()));
  for (const KindRow& kind : kHdf5Kinds) {
    const auto is_it = kind.is(*file);
    if (!is_it) return tl::unexpected(is_it.error());
    if (*is_it) return kind.read(std::move(*file), name, real_part);
  }
  return report_contents(*file, name);
}

}  // namespace sptile::formats
