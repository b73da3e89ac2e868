// The kinds of files that matrices are read from and written to: one table for help, messages and docs.
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
  std::string stored;  ///< as they stand
  std::string text;    ///< decompressed, where they are compressed; else the same
};

/// One row of the table.
struct MatrixKind {
  std::string_view name;      ///< "npz"
  std::string_view what;      ///< "a SciPy archive", in messages and help
  std::string_view suffixes;  ///< with blanks; the first is the usual one
  bool compressible;          ///< text: may be .gz, .bz2, .xz or .zst, and come from a pipe
  bool keeps_f16;             ///< what is written says how wide its values are
  /// By contents; nullptr where only the suffix tells.
  bool (*starts)(const FileHead& head);
  /// Reads what is open; `path` is for messages.
  Result<LoadedMatrix> (*read)(Work& work, const std::string& path, formats::InputBytes input,
                               const LoadOptions& options);
  /// Looks at no more than the header; nullptr where that is no quicker than reading.
  Status (*probe)(const std::string& path, formats::InputBytes input, bool real_part);
  /// Writes a whole file or none; nullptr where nothing is written.
  Status (*write)(const formats::CsrView& a, const std::string& path, formats::Placing placing,
                  Progress* progress);
};

/// "Matrix Market (.mtx), a SciPy archive (.npz), ...": those that are read, or those that are written.
std::string readable_kinds();
std::string writable_kinds();

/// Lists the formats and compressions of input files, as the long help text of a matrix argument.
std::string matrix_details();

/// The kind with one of whose suffixes the name ends, with or without that of a compression where it may have
/// one; nullptr when there is none.
const MatrixKind* kind_by_suffix(const std::string& path);

/// Opens a file, or standard input for "-"; Errc::io for folders and missing files.
Result<formats::InputBytes> open_matrix_file(const std::string& path, const Progress* progress = nullptr);

/// Tells what an open file is: by its contents first, then by its name, then whether it starts as an edge
/// list; Matrix Market, which says what is wrong, for everything else. Of a pipe the first bytes alone tell.
/// With `from` it is the kind of that name. Takes no bytes.
Result<const MatrixKind*> find_kind(formats::InputBytes& input, const std::string& path,
                                    const std::string& from);

/// The same of a path, for advice only: a reader opens the file first. Matrix Market for pipes and "-".
Result<const MatrixKind*> find_kind(const std::string& path);

/// The kind of a name ("metis") or an ending without its point ("mtx"); Errc::usage for another word.
Result<const MatrixKind*> find_kind_named(const std::string& word);
/// The words that it takes.
std::vector<std::string> kind_words();

/// Returns true for the kind that is assumed when neither contents nor ending identify one.
bool is_fallback(const MatrixKind& kind);

/// Standard input, or anything else that can be read once.
bool is_pipe(const std::string& path);

/// The kind that is written under a name: Matrix Market for "-"; nullptr for endings of other things, and of
/// kinds that are only read.
const MatrixKind* written_kind(const std::string& path);

/// What to write under a name: Matrix Market for "-" and where the ending stands for nothing. Errc::usage
/// for endings of other things and of kinds that are only read.
Result<const MatrixKind*> kind_to_write(const std::string& path);

}  // namespace sptile::tools
