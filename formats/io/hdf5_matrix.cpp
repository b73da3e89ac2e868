#include "formats/io/hdf5_matrix.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "formats/io/binsparse.hpp"
#include "formats/io/cell_matrix.hpp"
#include "formats/io/child_trial.hpp"
#include "formats/io/quote.hpp"
#include "formats/io/system_error.hpp"

namespace sptile::formats {
namespace {

struct KindRow {
  bool (*is)(const Hdf5Reader& file);
  Result<ReadMatrix> (*read)(Hdf5Reader file, const std::string& name, bool real_part);
};
constexpr KindRow kHdf5Kinds[] = {
    {is_binsparse, read_binsparse}, {is_anndata, read_anndata}, {is_10x, read_10x}};

tl::unexpected<Error> tell_contents(const Hdf5Reader& file, const std::string& name) {
  std::string held;
  for (const std::string& one : file.names()) held += (held.empty() ? "" : ", ") + quoted(one);
  return fail(Errc::bad_input,
              "HDF5 of " + (held.empty() ? "nothing" : held) +
                  ", but neither a bundle nor binsparse: sptile's header is missing, and so is the attribute "
                  "'binsparse' of the root; 'sptile convert' writes bundles, and HDF5 tools that copy a file "
                  "may drop it",
              name);
}

// All that HDF5 is asked when the file is read, but for arrays in one piece: of these it only tells the
// place.
void ask_hdf5(int fd) {
  const auto file = Hdf5Reader::open(fd, "");
  if (!file) return;
  static_cast<void>(file->text(kBinsparseAttribute));
  static_cast<void>(file->names());
  static_cast<void>(is_anndata(*file));
  const auto ask_array = [&](const std::string& name) {
    const auto array = file->array(name);
    if (!array || !array->in_chunks) return;
    Buffer<double> elements(array->size);
    static_cast<void>(file->read(*array, elements.data()));
  };
  for (const char* name : kBinsparseArrays) ask_array(name);
  for (const std::string& group : cell_groups(*file)) {
    for (const char* attribute : kCellTexts) static_cast<void>(file->text(attribute, group));
    for (const char* attribute : kCellShapes) static_cast<void>(file->integers(attribute, group));
    for (const char* name : kCellArrays) ask_array(group + "/" + name);
  }
}

}  // namespace

Result<ReadMatrix> read_hdf5_matrix(int fd, const std::string& name, bool real_part) {
  auto file = Hdf5Reader::open(fd, name);
  if (!file) return tl::unexpected(std::move(file.error()));
  for (const KindRow& kind : kHdf5Kinds)
    if (kind.is(*file)) return kind.read(std::move(*file), name, real_part);
  return tell_contents(*file, name);
}

Result<ReadMatrix> read_hdf5_matrix(const std::string& path, bool real_part) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return system_failure(errno, "cannot open", path);
  auto matrix = survives([=] { ask_hdf5(fd); })
                    ? read_hdf5_matrix(fd, path, real_part)
                    : fail(Errc::bad_input, "HDF5 crashes on this file: it is damaged; get it again", path);
  ::close(fd);
  return matrix;
}

}  // namespace sptile::formats
