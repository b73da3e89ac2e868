// File kinds identified by the suffix of an output name.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "formats/core/error.hpp"

namespace sptile::tools {

/// Kinds of output files.
enum class FileKind { bundle, matrix_market, permutation, csv, profile, png, svg, html };

/// Returns the kind of a file name's suffix; nullopt for other suffixes.
std::optional<FileKind> named_kind(const std::string& path);

/// Errc::usage, with a better name, if the suffix belongs to another file kind. Unknown suffixes and "-" are
/// accepted, and so are .gz, .xz and .zst for text.
Status check_output_name(const std::string& path, FileKind kind);

/// Returns an output name for an input: in the same directory with another suffix (".h5"), and different from
/// the input.
std::string proposed_output(const std::string& input, std::string_view ending);

}  // namespace sptile::tools
