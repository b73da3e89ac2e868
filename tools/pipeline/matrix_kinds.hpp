// File kinds of matrices that are read and written: one table for help, messages and docs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/core/csr_view.hpp"
#include "formats/io/files/output_group.hpp"
#include "tools/pipeline/input.hpp"

namespace sptile::tools {

/// The first bytes of a file.
struct FileHead {
  std::string stored;  ///< as stored
  std::string text;    ///< decompressed, if the file is compressed; otherwise the same
};

/// One file kind.
struct MatrixKind {
  std::string_view name;      ///< for example "npz"
  std::string_view what;      ///< in messages and help, for example "a SciPy archive"
  std::string_view suffixes;  ///< separated by blanks, the usual one first
  bool compressible;          ///< text, optionally compressed (.gz, .bz2, .xz, .zst) or from a pipe
  bool keeps_f16;             ///< the file stores the width of its values
  /// Detects the kind by contents; nullptr if only the suffix identifies it.
  bool (*starts)(const FileHead& head);
  /// Reads an open file; messages use `path`.
  Result<LoadedMatrix> (*read)(Work& work, const std::string& path, formats::InputBytes input,
                               const LoadOptions& options);
  /// Checks the header only; nullptr if that is as slow as reading.
  Status (*probe)(const std::string& path, formats::InputBytes input, bool real_part);
  /// Writes a complete file or none; nullptr if the kind is read only.
  Status (*write)(const formats::CsrView& a, const std::string& path, formats::Placing placing,
                  Progress* progress);
};

/// Returns lists such as "Matrix Market (.mtx), a SciPy archive (.npz), ..." of the kinds that can be read or
/// written.
std::string readable_kinds();
std::string writable_kinds();

/// Lists the formats and compressions of input files, as the long help text of a matrix argument.
std::string matrix_details();

/// Returns the kind with a suffix of the name, which may be followed by a compression suffix if the kind
/// supports it; nullptr if there is none.
const MatrixKind* kind_by_suffix(const std::string& path);

/// Opens a file, or standard input for "-". Errc::io for directories and missing files.
Result<formats::InputBytes> open_matrix_file(const std::string& path, const Progress* progress = nullptr);

/// Returns the kind of an open file: by its contents, then by its name, then as an edge list; otherwise
/// Matrix Market, whose reader reports the error. For a pipe, only the first bytes count. With `from`,
/// returns the kind of that name. Consumes no bytes.
Result<const MatrixKind*> find_kind(formats::InputBytes& input, const std::string& path,
                                    const std::string& from);

/// Detects the kind of a path, for advice only, because a reader must open the file first. Matrix Market for
/// pipes and "-".
Result<const MatrixKind*> find_kind(const std::string& path);

/// Returns the kind of a name ("metis") or a suffix without its dot ("mtx"). Errc::usage for other words.
Result<const MatrixKind*> find_kind_named(const std::string& word);
/// Returns the words that find_kind_named accepts.
std::vector<std::string> kind_words();

/// Returns true for the kind that is assumed when neither contents nor ending identify one.
bool is_fallback(const MatrixKind& kind);

/// Returns whether a path is standard input or another file that can be read only once.
bool is_pipe(const std::string& path);

/// Returns the kind written for a file name: Matrix Market for "-"; nullptr for unknown suffixes and
/// read-only kinds.
const MatrixKind* written_kind(const std::string& path);

/// Returns the kind to write for a file name: Matrix Market for "-" and names without a known suffix.
/// Errc::usage for suffixes of other files and of read-only kinds.
Result<const MatrixKind*> kind_to_write(const std::string& path);

}  // namespace sptile::tools
