#include "tools/pipeline/output_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "formats/io/stream/compress.hpp"
#include "formats/io/stream/decompress.hpp"

namespace sptile::tools {
namespace {

struct KindRow {
  FileKind kind;
  std::string_view what, ending;
  bool compressible;
};
constexpr KindRow kKinds[] = {{FileKind::bundle, "a bundle", ".h5", false},
                              {FileKind::matrix_market, "Matrix Market text", ".mtx", true},
                              {FileKind::permutation, "a permutation", ".txt", true},
                              {FileKind::csv, "CSV", ".csv", false},
                              {FileKind::profile, "a profile", ".tsv", false},
                              {FileKind::png, "a PNG image", ".png", false},
                              {FileKind::svg, "an SVG drawing", ".svg", false},
                              {FileKind::html, "an HTML page", ".html", false}};

// File suffix and its meaning. `kind` is set if a verb writes it.
struct EndingRow {
  std::string_view ending, what;
  std::optional<FileKind> kind = std::nullopt;
};
constexpr EndingRow kEndings[] = {{".bsp.h5", "binsparse"},
                                  {".bsp.hdf5", "binsparse"},
                                  {".h5", "HDF5", FileKind::bundle},
                                  {".hdf5", "HDF5", FileKind::bundle},
                                  {".mtx", "Matrix Market", FileKind::matrix_market},
                                  {".csv", "CSV", FileKind::csv},
                                  {".tsv", "tab-separated text", FileKind::profile},
                                  {".png", "PNG", FileKind::png},
                                  {".svg", "SVG", FileKind::svg},
                                  {".gz", "gzip"},
                                  {".xz", "xz"},
                                  {".zst", "zstd"},
                                  {".bz2", "bzip2"},
                                  {".zip", "zip"},
                                  {".tar", "tar"},
                                  {".tgz", "tar"},
                                  {".jpg", "JPEG"},
                                  {".jpeg", "JPEG"},
                                  {".gif", "GIF"},
                                  {".webp", "WebP"},
                                  {".pdf", "PDF"},
                                  {".eps", "PostScript"},
                                  {".json", "JSON"},
                                  {".html", "HTML", FileKind::html},
                                  {".htm", "HTML", FileKind::html},
                                  {".csr", "raw CSR"},
                                  {".npz", "NumPy"},
                                  {".npy", "NumPy"}};

const EndingRow* find_ending(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  const auto* const row = std::find_if(std::begin(kEndings), std::end(kEndings),
                                       [&](const EndingRow& r) { return name.ends_with(r.ending); });
  return row == std::end(kEndings) ? nullptr : row;
}

std::string without(std::string name, std::string_view ending) {
  name.resize(name.size() - ending.size());
  return name;
}

// Returns the name with the suffix of the output.
std::string better_name(std::string name, std::string_view ending) {
  while (const EndingRow* const row = find_ending(name)) name = without(name, row->ending);
  return name.append(ending);
}

const KindRow& row_of(FileKind kind) {
  return *std::find_if(std::begin(kKinds), std::end(kKinds),
                       [=](const KindRow& r) { return r.kind == kind; });
}

}  // namespace

std::optional<FileKind> named_kind(const std::string& path) {
  const formats::Compression* const compression = formats::find_compression(path);
  const EndingRow* const found =
      find_ending(compression != nullptr ? without(path, compression->ending) : path);
  if (found == nullptr || !found->kind) return std::nullopt;
  return compression == nullptr || row_of(*found->kind).compressible ? found->kind : std::nullopt;
}

Status check_output_name(const std::string& path, FileKind kind) {
  const KindRow& requested = row_of(kind);
  const formats::Compression* const compression = formats::find_compression(path);
  const bool compressed = requested.compressible && compression != nullptr;
  const EndingRow* const found = find_ending(compressed ? without(path, compression->ending) : path);
  if (found == nullptr || found->kind == kind) return {};
  return fail(Errc::usage,
              fmt::format("the output is {}, not {}; name it {}", requested.what, found->what,
                          better_name(path, requested.ending)),
              path);
}

std::string proposed_output(const std::string& input, std::string_view ending) {
  if (input == "-" || input.starts_with("/dev/")) return std::string("matrix").append(ending);
  std::string stem = input;
  stem.resize(stem.size() - formats::codec_ending(stem).size());
  const std::size_t name = stem.find_last_of('/') + 1;
  if (const std::size_t dot = stem.find_last_of('.'); dot != std::string::npos && dot > name)
    stem.resize(dot);
  const std::string output = stem + std::string(ending);
  return output == input ? stem + "-new" + std::string(ending) : output;
}

}  // namespace sptile::tools
