#include "tools/input.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "formats/io/matrix_market.hpp"
#include "formats/io/sha256.hpp"
#include "formats/layout/bundle_layout.hpp"
#include "formats/layout/csr.hpp"
#include "tools/names.hpp"
#include "tools/raw_csr.hpp"

namespace sptile::tools {
namespace {
constexpr std::array<char, 8> kHdf5Magic = {'\x89', 'H', 'D', 'F', '\r', '\n', '\x1a', '\n'};

bool has_magic(std::istream& in, std::int64_t offset, const void* magic, std::size_t length = 8) {
  std::array<char, 8> bytes{};
  in.clear();
  return in.seekg(offset) && in.read(bytes.data(), static_cast<std::streamsize>(length)) &&
         std::memcmp(bytes.data(), magic, length) == 0;
}

// HDF5 looks for its superblock at 0, 512, 1024 and further doublings.
bool is_hdf5(std::istream& in) {
  if (has_magic(in, 0, kHdf5Magic.data())) return true;
  for (std::int64_t offset = 512; offset <= (std::int64_t{1} << 20); offset *= 2)
    if (has_magic(in, offset, kHdf5Magic.data())) return true;
  return false;
}

Result<std::string> hash_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  formats::Sha256 hash;
  std::vector<char> block(1 << 20);
  while (in) {
    in.read(block.data(), static_cast<std::streamsize>(block.size()));
    hash.update(block.data(), static_cast<std::size_t>(in.gcount()));
  }
  if (!in.eof()) return fail(Errc::io, std::strerror(errno), path);
  return hash.finish();
}

Result<LoadedMatrix> load_text(Work& work, const std::string& path, const LoadOptions& options) {
  auto read =
      formats::read_matrix_market(path, {.dtype = options.dtype == DType::none ? DType::f64 : options.dtype,
                                         .real_part = options.real_part,
                                         .hash_source = options.hash_source,
                                         .progress = &work.progress});
  if (!read) return tl::unexpected(std::move(read.error()));
  if (read->duplicates > 0)
    work.note(fmt::format("{}: entries summed into one at the same place: {}", path, read->duplicates));
  if (read->nonfinite > read->overflowed)
    work.note(fmt::format("{}: values that are infinite or not a number: {}", path,
                          read->nonfinite - read->overflowed));
  return LoadedMatrix{std::move(read->csr),
                      {},
                      std::move(read->source_sha256),
                      {},
                      read->duplicates,
                      {read->overflowed, std::move(read->overflow)}};
}

Result<LoadedMatrix> load_bundle(const std::string& path, const LoadOptions& options) {
  auto bundle = runtime::Bundle::open(path);
  if (!bundle) return tl::unexpected(std::move(bundle.error()));
  const formats::CsrView csr = (*bundle)->csr();
  if (const Status s = formats::check_csr(csr); !s) return fail(s.error().code, s.error().message, path);
  LoadedMatrix loaded;
  loaded.csr = formats::copy(csr);
  if (!csr.is_pattern() && options.dtype != DType::none && csr.values.dtype != options.dtype) {
    loaded.csr.values = formats::convert_values(csr.values, options.dtype);
    loaded.overflow = find_overflow(csr, loaded.csr.values.view(), path);
  }
  const auto order = (*bundle)->row_order();
  if (!order.empty())
    if (const Status s = formats::check_permutation(order, csr.rows); !s)
      return fail(s.error().code, "row_order: " + s.error().message, path);
  loaded.row_order.assign(order.begin(), order.end());
  return loaded;
}

Result<LoadedMatrix> load_raw(const std::string& path) {
  auto csr = read_raw_csr(path);
  if (!csr) return tl::unexpected(std::move(csr.error()));
  return LoadedMatrix{std::move(*csr), {}, {}, {}, 0, {}};
}

// Text is hashed as it is read: it may come from a pipe.
Status add_hash(const std::string& path, InputKind kind, LoadedMatrix& loaded) {
  if (kind == InputKind::matrix_market) return {};
  auto hash = hash_file(path);
  if (!hash) return tl::unexpected(std::move(hash.error()));
  loaded.sha256 = std::move(*hash);
  return {};
}
}  // namespace

std::string base_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

Result<InputKind> sniff_input(const std::string& path) {
  if (path == "-") return InputKind::matrix_market;
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return fail(Errc::io, std::strerror(errno), path);
  if (S_ISDIR(status.st_mode)) return fail(Errc::io, "is a folder; a matrix file is wanted", path);
  if (!S_ISREG(status.st_mode)) return InputKind::matrix_market;  // pipes cannot be looked into twice
  std::ifstream in(path, std::ios::binary);
  if (!in) return fail(Errc::io, std::strerror(errno), path);
  if (has_magic(in, 0, formats::kBundleMagic)) return InputKind::bundle;
  if (has_magic(in, 0, &kRawCsrMagic, sizeof(kRawCsrMagic))) return InputKind::raw_csr;
  if (is_hdf5(in))
    return fail(
        Errc::bad_input,
        "HDF5, but not a bundle: sptile's header is missing; 'sptile convert' writes bundles, and HDF5 tools "
        "that copy a file may drop it",
        path);
  return InputKind::matrix_market;
}

Result<std::shared_ptr<const runtime::Bundle>> open_bundle(const std::string& path) {
  const auto kind = sniff_input(path);
  if (!kind) return tl::unexpected(kind.error());
  if (*kind != InputKind::bundle)
    return fail(Errc::bad_input, "not a bundle; 'sptile convert' makes one from a matrix", path);
  return runtime::Bundle::open(path);
}

Result<const formats::FormatView*> held_format(const runtime::Bundle& bundle, const std::string& path,
                                               std::string_view name, formats::Side side) {
  if (const formats::FormatView* const view = bundle.format(name, side)) return view;
  std::vector<std::string> held;
  for (const formats::FormatView& view : bundle.formats(side)) held.emplace_back(view.layout->name);
  Error error = unknown_name("stored format", name, held);
  error.where = path;
  return tl::unexpected(std::move(error));
}

Result<std::vector<runtime::PlanMatrix>> held_matrices(const std::shared_ptr<const runtime::Bundle>& bundle,
                                                       const std::string& path, const std::string& names,
                                                       formats::Side side) {
  if (Status s = runtime::check_side(*bundle, side); !s) return fail(s.error().code, s.error().message, path);
  if (names == "auto") return runtime::matrices_of(bundle, {}, side);
  std::vector<runtime::PlanMatrix> matrices;
  for (const std::string& name : split_list(names)) {
    const auto view = held_format(*bundle, path, name, side);
    if (!view) return tl::unexpected(view.error());
    const auto matrix = runtime::matrix_of(bundle, name, side);
    if (!matrix) return tl::unexpected(matrix.error());
    matrices.push_back(*matrix);
  }
  return matrices;
}

std::string_view dtype_label(DType dtype) { return dtype == DType::none ? "pattern" : name_of(dtype); }

Status probe_matrix(const std::string& path, bool real_part) {
  const auto kind = sniff_input(path);
  if (!kind) return tl::unexpected(kind.error());
  if (*kind == InputKind::bundle) return runtime::Bundle::open(path).map([](const auto&) {});
  struct stat status {};
  const bool is_file = ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
  if (*kind == InputKind::raw_csr || !is_file) return {};
  return formats::read_matrix_market_header(path, real_part).map([](const auto&) {});
}

Result<LoadedMatrix> load_matrix(Work& work, const std::string& path, const LoadOptions& options) {
  const auto kind = sniff_input(path);
  if (!kind) return tl::unexpected(kind.error());
  auto loaded = *kind == InputKind::matrix_market ? load_text(work, path, options)
                : *kind == InputKind::raw_csr     ? load_raw(path)
                                                  : load_bundle(path, options);
  if (!loaded) return loaded;
  loaded->name = base_name(path);
  if (options.hash_source)
    if (Status s = add_hash(path, *kind, *loaded); !s) return tl::unexpected(std::move(s.error()));
  if (loaded->overflow.count > 0)
    work.warn(fmt::format("{}: values too large for {}, read as infinite: {}", path,
                          name_of(loaded->csr.values.dtype()), loaded->overflow.count));
  return loaded;
}

}  // namespace sptile::tools
