#include "tools/pipeline/matrix_kinds.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "formats/core/value_types.hpp"
#include "formats/io/binary/mat.hpp"
#include "formats/io/binary/raw_csr.hpp"
#include "formats/io/graph/edge_list.hpp"
#include "formats/io/graph/metis_graph.hpp"
#include "formats/io/hdf5/binsparse.hpp"
#include "formats/io/hdf5/hdf5_matrix.hpp"
#include "formats/io/matrix_market/matrix_market.hpp"
#include "formats/io/matrix_market/matrix_market_reader.hpp"
#include "formats/io/matrix_market/mtx_header.hpp"
#include "formats/io/npz/npz.hpp"
#include "formats/io/stream/compress.hpp"
#include "formats/io/stream/decompress.hpp"
#include "formats/io/stream/text_stream.hpp"
#include "formats/io/text/harwell_boeing.hpp"
#include "formats/io/text/smtx.hpp"
#include "formats/io/text/tns.hpp"
#include "formats/layout/bundle_layout.hpp"
#include "formats/layout/csr.hpp"
#include "runtime/bundle/bundle_matrix.hpp"
#include "tools/pipeline/names.hpp"
#include "tools/pipeline/output_name.hpp"

namespace sptile::tools {
namespace {

using formats::CsrView;
using formats::Placing;

std::int64_t count_nonfinite(const CsrView& a) {
  if (a.is_pattern()) return 0;
  return formats::visit_value_type(a.values.dtype, [&](auto type) {
    const auto values = a.values.as<typename decltype(type)::type>();
    return std::count_if(values.begin(), values.end(),
                         [](auto x) { return !std::isfinite(formats::widen(x)); });
  });
}

void report_content(Work& work, const std::string& path, std::int64_t duplicates, std::int64_t nonfinite) {
  if (duplicates > 0) work.note(fmt::format("{}: summed {} duplicate entries", path, duplicates));
  if (nonfinite > 0) work.note(fmt::format("{}: {} values are infinite or NaN", path, nonfinite));
}

// Converts the result of a reader of external formats.
Result<LoadedMatrix> take_read(Work& work, const std::string& path, const LoadOptions& options,
                               Result<formats::ReadMatrix> read) {
  if (!read) return tl::unexpected(std::move(read.error()));
  for (const std::string& note : read->notes) work.note(fmt::format("{}: {}", path, note));
  report_content(work, path, read->duplicates, count_nonfinite(read->csr.view()) - read->loss.overflowed);
  LoadedMatrix loaded{
      std::move(read->csr), {}, std::move(read->source_sha256), {}, read->duplicates, std::move(read->loss),
      read->integers};
  take_type(loaded, path, options.dtype);
  loaded.nonempty = std::move(read->nonempty);
  return loaded;
}

Result<LoadedMatrix> read_market(Work& work, const std::string& path, formats::InputBytes input,
                                 const LoadOptions& options) {
  auto read = formats::read_matrix_market(std::move(input),
                                          {.dtype = options.dtype == DType::none ? DType::f64 : options.dtype,
                                           .real_part = options.real_part,
                                           .hash_source = options.hash_source,
                                           .compress_rows = options.compress_rows,
                                           .progress = &work.progress});
  if (!read) return tl::unexpected(std::move(read.error()));
  report_content(work, path, read->duplicates, read->nonfinite - read->loss.overflowed);
  return LoadedMatrix{std::move(read->csr),
                      {},
                      std::move(read->source_sha256),
                      {},
                      read->duplicates,
                      std::move(read->loss),
                      read->integers,
                      std::move(read->nonempty)};
}

Result<LoadedMatrix> read_bundle(Work& work, const std::string& path, formats::InputBytes input,
                                 const LoadOptions& options) {
  auto bundle = runtime::Bundle::from_descriptor(input.release(), path, {.copy = work.copy});
  if (!bundle) return tl::unexpected(std::move(bundle.error()));
  const formats::CsrView csr = (*bundle)->csr();
  if (const Status s = formats::check_csr(csr); !s) return fail(s.error().code, s.error().message, path);
  LoadedMatrix loaded;
  loaded.csr = formats::copy(csr);
  take_type(loaded, path, options.dtype);
  const auto order = (*bundle)->row_order();
  if (!order.empty())
    if (const Status s = formats::check_permutation(order, csr.rows); !s)
      return fail(s.error().code, "row_order: " + s.error().message, path);
  loaded.row_order.assign(order.begin(), order.end());
  return loaded;
}

bool is_market(const FileHead& head) { return formats::is_banner(head.text); }

Status probe_market(const std::string&, formats::InputBytes input, bool real_part) {
  return formats::read_matrix_market_header(std::move(input), real_part).map([](const auto&) {});
}

Status write_market(const CsrView& a, const std::string& path, Placing placing, Progress* progress) {
  return formats::write_matrix_market(
      a, path, {.force = placing.force, .group = placing.group, .comment = {}, .progress = progress});
}

bool is_bundle(const FileHead& head) {
  return head.stored.starts_with(
      std::string_view(reinterpret_cast<const char*>(formats::kBundleMagic), sizeof(formats::kBundleMagic)));
}

Status probe_bundle(const std::string& path, formats::InputBytes input, bool) {
  return runtime::Bundle::from_descriptor(input.release(), path).map([](const auto&) {});
}

bool is_zip(const FileHead& head) {
  return head.stored.starts_with(formats::kZipMagic) || head.stored.starts_with(formats::kEmptyZipMagic);
}

Result<formats::ZipReader> open_npz(const std::string& path, formats::InputBytes input) {
  auto zip = formats::ZipReader::open(input.release(), path);
  if (!zip || formats::is_npz(*zip)) return zip;
  const auto& names = zip->names();
  std::string held = names.empty() ? "nothing" : names.front();
  for (std::size_t i = 1; i < std::min<std::size_t>(names.size(), 4); ++i) held += ", " + names[i];
  return fail(
      Errc::bad_input,
      fmt::format(
          "a zip archive with {}{}, not a SciPy archive (.npz); unpack it with 'unzip {}' and name the "
          "matrix file",
          held, names.size() > 4 ? ", ..." : "", base_name(path)),
      path);
}

Result<LoadedMatrix> read_npz(Work& work, const std::string& path, formats::InputBytes input,
                              const LoadOptions& options) {
  auto zip = open_npz(path, std::move(input));
  if (!zip) return tl::unexpected(std::move(zip.error()));
  return take_read(work, path, options, formats::read_npz(std::move(*zip), options.real_part));
}

Status probe_npz(const std::string& path, formats::InputBytes input, bool) {
  return open_npz(path, std::move(input)).map([](const auto&) {});
}

Status write_npz(const CsrView& a, const std::string& path, Placing placing, Progress*) {
  return formats::write_npz(a, path, placing);
}

template <class Read>
Result<LoadedMatrix> read_text(Work& work, const std::string& path, formats::InputBytes input,
                               const LoadOptions& options, const Read& read) {
  return take_read(work, path, options, read(std::move(input)));
}

Result<LoadedMatrix> read_edges(Work& work, const std::string& path, formats::InputBytes input,
                                const LoadOptions& options) {
  return read_text(work, path, std::move(input), options, [&](formats::InputBytes bytes) {
    formats::EdgeListOptions edges = options.edges;
    edges.compress_rows = options.compress_rows;
    return formats::read_edge_list(std::move(bytes), edges);
  });
}

Status write_edges(const CsrView& a, const std::string& path, Placing placing, Progress*) {
  return formats::write_edge_list(a, path, placing);
}

Result<LoadedMatrix> read_metis(Work& work, const std::string& path, formats::InputBytes input,
                                const LoadOptions& options) {
  return read_text(work, path, std::move(input), options, formats::read_metis_graph);
}

Result<LoadedMatrix> read_dlmc(Work& work, const std::string& path, formats::InputBytes input,
                               const LoadOptions& options) {
  return read_text(work, path, std::move(input), options, formats::read_smtx);
}

Result<LoadedMatrix> read_frostt(Work& work, const std::string& path, formats::InputBytes input,
                                 const LoadOptions& options) {
  return read_text(work, path, std::move(input), options, formats::read_tns);
}

Result<LoadedMatrix> read_hb(Work& work, const std::string& path, formats::InputBytes input,
                             const LoadOptions& options) {
  return read_text(work, path, std::move(input), options, [&](formats::InputBytes bytes) {
    return formats::read_harwell_boeing(std::move(bytes), options.real_part);
  });
}

bool is_mat_file(const FileHead& head) { return formats::is_mat(head.stored); }

Result<LoadedMatrix> read_mat_file(Work& work, const std::string& path, formats::InputBytes input,
                                   const LoadOptions& options) {
  return read_text(work, path, std::move(input), options, [&](formats::InputBytes bytes) {
    return formats::read_mat(std::move(bytes), options.real_part);
  });
}

Status write_metis(const CsrView& a, const std::string& path, Placing placing, Progress*) {
  return formats::write_metis_graph(a, path, placing);
}

Result<LoadedMatrix> read_hdf5(Work& work, const std::string& path, formats::InputBytes input,
                               const LoadOptions& options) {
  auto file = formats::Hdf5Reader::open(input.fd(), path, &work.progress);
  return take_read(work, path, options, formats::read_hdf5_matrix(std::move(file), path, options.real_part));
}

Status write_bsp(const CsrView& a, const std::string& path, Placing placing, Progress*) {
  return formats::write_binsparse(a, path, placing);
}

bool is_raw_csr(const FileHead& head) {
  return head.stored.starts_with(formats::kRawCsrMagic) || head.stored.starts_with(formats::kRawCsrMagic2);
}

Result<LoadedMatrix> read_raw(Work& work, const std::string& path, formats::InputBytes input,
                              const LoadOptions& options) {
  auto csr = formats::read_raw_csr(std::move(input));
  if (!csr) return tl::unexpected(std::move(csr.error()));
  return take_read(work, path, options, formats::ReadMatrix{std::move(*csr), 0, {}, {}});
}

Status write_raw(const CsrView& a, const std::string& path, Placing placing, Progress*) {
  return formats::write_raw_csr(a, path, placing);
}

constexpr MatrixKind kKinds[] = {
    {"bundle", "a bundle", ".h5 .hdf5", false, true, is_bundle, read_bundle, probe_bundle, nullptr},
    {"binsparse", "binsparse", ".bsp.h5 .bsp.hdf5", false, false, nullptr, read_hdf5, nullptr, write_bsp},
    {"anndata", "AnnData", ".h5ad", false, false, nullptr, read_hdf5, nullptr, nullptr},
    {"10x", "10x Genomics", ".h5", false, false, nullptr, read_hdf5, nullptr, nullptr},
    {"mat", "a MAT-file", ".mat", false, false, is_mat_file, read_mat_file, nullptr, nullptr},
    {"raw-csr", "raw CSR", ".csr", false, true, is_raw_csr, read_raw, nullptr, write_raw},
    {"npz", "a SciPy archive", ".npz", false, true, is_zip, read_npz, probe_npz, write_npz},
    {"matrix-market", "Matrix Market", ".mtx", true, false, is_market, read_market, probe_market,
     write_market},
    {"metis", "a METIS graph", ".graph .metis", true, false, nullptr, read_metis, nullptr, write_metis},
    {"smtx", "DLMC", ".smtx", true, false, nullptr, read_dlmc, nullptr, nullptr},
    {"tns", "FROSTT", ".tns", true, false, nullptr, read_frostt, nullptr, nullptr},
    {"harwell-boeing", "Harwell-Boeing",
     ".rb .rua .rsa .rza .rra .rha .rue .rse .pua .psa .pza .pra .pse .cua .csa .cha .cza .cra .iua .isa "
     ".iza .ira .hb",
     true, false, nullptr, read_hb, nullptr, nullptr},
    {"edge-list", "an edge list", ".edges .el .txt .tsv .csv .edgelist .wel .ncol", true, false, nullptr,
     read_edges, nullptr, write_edges},
};

const MatrixKind& named(std::string_view name) {
  return *std::find_if(std::begin(kKinds), std::end(kKinds),
                       [=](const MatrixKind& kind) { return kind.name == name; });
}
const MatrixKind& market() { return named("matrix-market"); }

constexpr std::array<char, 8> kHdf5Magic = {'\x89', 'H', 'D', 'F', '\r', '\n', '\x1a', '\n'};

// HDF5 searches its superblock at 0, 512, 1024 and further doublings.
bool is_hdf5(int fd) {
  std::array<char, kHdf5Magic.size()> bytes{};
  const auto has_magic = [&](std::int64_t offset) {
    return ::pread(fd, bytes.data(), bytes.size(), offset) == std::ssize(bytes) && bytes == kHdf5Magic;
  };
  if (has_magic(0)) return true;
  for (std::int64_t offset = 512; offset <= (std::int64_t{1} << 20); offset *= 2)
    if (has_magic(offset)) return true;
  return false;
}

std::string lower(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return name;
}

// Returns the first suffix of the kind that the name ends with; empty if there is none.
std::string_view matching_suffix(const MatrixKind& kind, std::string_view name) {
  for (std::string_view left = kind.suffixes; !left.empty();) {
    const std::string_view suffix = left.substr(0, left.find(' '));
    if (name.ends_with(suffix)) return suffix;
    left.remove_prefix(std::min(left.size(), suffix.size() + 1));
  }
  return {};
}

const MatrixKind* longest_suffix(std::string_view name, bool compressed) {
  const MatrixKind* best = nullptr;
  std::size_t length = 0;
  for (const MatrixKind& kind : kKinds)
    if (const auto suffix = matching_suffix(kind, name);
        suffix.size() > length && (kind.compressible || !compressed)) {
      best = &kind;
      length = suffix.size();
    }
  return best;
}

// Returns the kind for a lower-case name, with or without a compression suffix.
const MatrixKind* kind_of_name(std::string_view name, std::string_view compression) {
  if (const MatrixKind* const kind = longest_suffix(name, false)) return kind;
  if (compression.empty()) return nullptr;
  return longest_suffix(name.substr(0, name.size() - compression.size()), true);
}

constexpr std::size_t kHeadBytes = 4096;

std::string read_text_head(formats::InputBytes input) {
  auto stream = formats::TextStream::open(std::move(input));
  if (!stream) return {};  // the reader reports the error
  std::string text(kHeadBytes, '\0');
  std::size_t filled = 0;
  while (filled < kHeadBytes) {
    const auto more = stream->read(std::span(text).subspan(filled));
    if (!more || *more == 0) break;
    filled += static_cast<std::size_t>(*more);
  }
  text.resize(filled);
  return text;
}

Result<FileHead> read_head(const formats::InputBytes& file) {
  auto input = file.again();
  if (!input) return tl::unexpected(input.error());
  const auto stored = input->look(kHeadBytes);
  if (!stored) return tl::unexpected(stored.error());
  FileHead head{std::string(*stored), {}};
  head.text = read_text_head(std::move(*input));
  return head;
}

const MatrixKind* kind_by_contents(const FileHead& head) {
  for (const MatrixKind& kind : kKinds)
    if (kind.starts != nullptr && kind.starts(head)) return &kind;
  return nullptr;
}

// Returns Matrix Market, the default kind.
const MatrixKind& fallback() {
  static const MatrixKind kind = market();
  return kind;
}

const MatrixKind& unnamed_text(const FileHead& head) {
  if (formats::starts_edge_list(head.text)) return named("edge-list");
  return head.text.empty() ? market() : fallback();
}

// Detects the kind of a stream that can be read once, without consuming bytes.
Result<const MatrixKind*> kind_of_bytes(formats::InputBytes& input) {
  constexpr std::size_t kBlock = 256 << 10;  // decompressors may return nothing before the end of a block
  FileHead head;
  for (const std::size_t bytes : {kHeadBytes, kBlock}) {
    const auto stored = input.look(bytes);
    if (!stored) return tl::unexpected(stored.error());
    head = {std::string(*stored), read_text_head(formats::InputBytes::from_memory(*stored, input.name()))};
    if (!head.text.empty()) break;
  }
  if (const MatrixKind* const kind = kind_by_contents(head)) return kind;
  if (head.stored.starts_with(std::string_view(kHdf5Magic.data(), kHdf5Magic.size())))
    return &named("binsparse");
  return &unnamed_text(head);
}

template <class Has>
std::string list_kinds(const Has& has) {
  std::string text;
  for (const MatrixKind& kind : kKinds)
    if (has(kind))
      text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", kind.what,
                          kind.suffixes.substr(0, kind.suffixes.find(' ')));
  return text;
}

}  // namespace

std::string readable_kinds() {
  return list_kinds([](const MatrixKind&) { return true; });
}
std::string matrix_details() {
  return "Formats: " + readable_kinds() +
         ". Text files may be compressed (.gz, .bz2, .xz, .zst); Matrix Market files may be members of a tar "
         "archive.";
}
std::string writable_kinds() {
  return list_kinds([](const MatrixKind& kind) { return kind.write != nullptr; });
}

const MatrixKind* kind_by_suffix(const std::string& path) {
  const std::string name = lower(path);
  return kind_of_name(name, formats::codec_ending(name));
}

const MatrixKind* written_kind(const std::string& path) {
  if (path == "-") return &market();
  // Writers compress by lower-case suffixes only: a file named .XZ would be plain text.
  const formats::Compression* const compression = formats::find_compression(path);
  const MatrixKind* const kind = kind_of_name(lower(path), compression == nullptr ? "" : compression->ending);
  return kind != nullptr && kind->write != nullptr ? kind : nullptr;
}

bool is_pipe(const std::string& path) {
  struct stat status {};
  return path == "-" ||
         (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode));
}

bool is_fallback(const MatrixKind& kind) { return &kind == &fallback(); }

std::vector<std::string> kind_words() {
  std::vector<std::string> words;
  const auto add = [&](std::string_view word) {
    if (std::find(words.begin(), words.end(), word) == words.end()) words.emplace_back(word);
  };
  for (const MatrixKind& kind : kKinds) {
    add(kind.name);
    for (std::string_view left = kind.suffixes; !left.empty();) {
      const std::size_t length = std::min(left.find(' '), left.size());
      add(left.substr(1, length - 1));
      left.remove_prefix(std::min(left.size(), length + 1));
    }
  }
  return words;
}

Result<const MatrixKind*> find_kind_named(const std::string& word) {
  for (const MatrixKind& kind : kKinds)
    if (kind.name == word) return &kind;
  const MatrixKind* const kind = longest_suffix("." + word, false);
  if (kind != nullptr && matching_suffix(*kind, "." + word).size() == word.size() + 1) return kind;
  return tl::unexpected(unknown_name("input format", word, kind_words()));
}

Result<formats::InputBytes> open_matrix_file(const std::string& path, const Progress* progress) {
  auto input = formats::InputBytes::open(path, progress);
  if (input || path == "-") return input;
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return fail(Errc::io, std::strerror(errno), path);
  if (S_ISDIR(status.st_mode)) return fail(Errc::io, "is a directory; expected a matrix file", path);
  return input;
}

Result<const MatrixKind*> find_kind(formats::InputBytes& input, const std::string& path,
                                    const std::string& from) {
  if (!from.empty()) return find_kind_named(from);
  if (!input.is_file()) return kind_of_bytes(input);
  const auto head = read_head(input);
  if (!head) return tl::unexpected(head.error());
  if (const MatrixKind* const kind = kind_by_contents(*head)) return kind;
  if (is_hdf5(input.fd())) return &named("binsparse");  // its reader reports the missing part
  const MatrixKind* const kind = kind_by_suffix(path);
  if (kind == nullptr) return &unnamed_text(*head);
  return kind->starts == nullptr ? kind : &market();
}

Result<const MatrixKind*> find_kind(const std::string& path) {
  if (is_pipe(path)) return &market();  // the start of a pipe can be read only once
  auto input = open_matrix_file(path);
  if (!input) return tl::unexpected(std::move(input.error()));
  return find_kind(*input, path, {});
}

Result<const MatrixKind*> kind_to_write(const std::string& path) {
  if (const MatrixKind* const kind = written_kind(path)) return kind;
  if (Status s = check_output_name(path, FileKind::matrix_market); !s)
    return tl::unexpected(std::move(s.error()));
  return &market();
}

}  // namespace sptile::tools
