#include "formats/io/stream/tar_matrix.hpp"

#include <utility>

#include "formats/core/quote.hpp"

namespace sptile::formats {
namespace {

std::string_view base_of(std::string_view path) { return path.substr(path.find_last_of('/') + 1); }

// Returns whether a file is a Matrix Market file that does not belong to another matrix.
bool is_matrix(std::string_view path) {
  const std::string_view base = base_of(path);
  if (!base.ends_with(".mtx") || base.starts_with('.')) return false;
  if (base.size() == path.size()) return true;
  const std::string_view folder = base_of(path.substr(0, path.size() - base.size() - 1));
  return folder.empty() || !(base.starts_with(folder) && base.substr(folder.size()).starts_with('_'));
}

}  // namespace

Result<TarMatrix> TarMatrix::open(DecodedStream& archive, std::string_view head) {
  TarMatrix matrix(archive, head);
  if (Status s = matrix.find(); !s) return tl::unexpected(std::move(s.error()));
  return matrix;
}

tl::unexpected<Error> TarMatrix::refuse(Errc code, const std::string& what) const {
  return fail(
      code,
      what + "; unpack it with 'tar xf " + std::string(base_of(archive_name_)) + "' and name the matrix file",
      archive_name_);
}

void TarMatrix::note(const std::string& name) {
  constexpr std::size_t kMaxHeld = 4;
  more_held_ = held_.size() == kMaxHeld;
  if (!more_held_) held_.push_back(quoted(name));
}

Status TarMatrix::find() {
  for (;;) {
    const auto entry = reader_.next();
    if (!entry) return tl::unexpected(entry.error());
    if (!*entry) break;
    const TarEntry& found = **entry;
    if (is_matrix(found.name) && (!found.is_file || found.is_sparse))
      return refuse(Errc::unsupported,
                    quoted(found.name) + " in the tar archive is " +
                        (found.is_file ? "a sparse tar member" : "a link or a special file"));
    member_ = found.name;
    if (is_matrix(member_)) return {};
    if (found.is_file) note(member_);
  }
  std::string held = held_.empty() ? "no files" : "";
  for (const std::string& name : held_) held += (held.empty() ? "" : ", ") + name;
  return refuse(Errc::bad_input, "a tar archive with " + held + (more_held_ ? ", ..." : "") +
                                     ", but without a matrix NAME/NAME.mtx");
}

Status TarMatrix::check_end() {
  for (;;) {
    const auto entry = reader_.next();
    if (!entry) return tl::unexpected(entry.error());
    if (!*entry) return {};
    if (is_matrix((*entry)->name))
      return refuse(Errc::bad_input, "the tar archive has several matrices: " + quoted(member_) + ", " +
                                         quoted((*entry)->name));
  }
}

Result<std::int64_t> TarMatrix::read(std::span<char> out) {
  if (!end_) {
    const auto count = reader_.read(out);
    if (!count || *count > 0) return count;
    end_ = check_end();
  }
  if (!*end_) return tl::unexpected(end_->error());
  return 0;
}

}  // namespace sptile::formats
