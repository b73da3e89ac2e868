// What the ending of a file's name says about what is in it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "formats/core/error.hpp"

namespace sptile::tools {

/// What verbs write.
enum class FileKind { bundle, matrix_market, permutation, csv, profile, png, svg, html };

/// The kind that a name stands for; nothing when it stands for none of them.
std::optional<FileKind> named_kind(const std::string& path);

/// Refuses a name whose ending stands for something else than what is going to be written (Errc::usage, with
/// a better name). Endings that stand for nothing known are fine, and so is "-". Text may be compressed: .gz,
/// .xz, .zst.
Status check_output_name(const std::string& path, FileKind kind);

/// A name for what is made from an input: beside it, with another ending (".h5"); never that of the input
/// itself.
std::string proposed_output(const std::string& input, std::string_view ending);

}  // namespace sptile::tools
