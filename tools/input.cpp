#include "tools/input.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <new>

#include "formats/io/sha256.hpp"
#include "formats/layout/registry.hpp"
#include "formats/narrow_values.hpp"
#include "tools/matrix_kinds.hpp"
#include "tools/names.hpp"
#include "tools/shell_words.hpp"

namespace sptile::tools {
namespace {
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

// Text is hashed as it is read: it may come from a pipe.
Status add_hash(const std::string& path, LoadedMatrix& loaded) {
  if (!loaded.sha256.empty()) return {};
  auto hash = hash_file(path);
  if (!hash) return tl::unexpected(std::move(hash.error()));
  loaded.sha256 = std::move(*hash);
  return {};
}

// Arrays that a file is too large for name it.
Result<LoadedMatrix> read_as(const MatrixKind& kind, Work& work, const std::string& path,
                             const LoadOptions& options) {
  try {
    return kind.read(work, path, options);
  } catch (const std::bad_alloc& error) {
    return fail(Errc::io, formats::out_of_memory(error), path);
  }
}

// The kind of a pipe, by the option or its first bytes; `options` then has what is read.
Result<const MatrixKind*> look_into_pipe(Work& work, const std::string& path, LoadOptions& options) {
  auto input = formats::InputBytes::open(path, &work.progress);
  if (!input) return tl::unexpected(std::move(input.error()));
  options.input = std::make_shared<formats::InputBytes>(std::move(*input));
  const auto kind = options.from.empty() ? kind_of_bytes(*options.input) : find_kind_named(options.from);
  if (!kind || (*kind)->compressible) return kind;
  return fail(
      Errc::unsupported,
      fmt::format("{} is read from a file, not from a pipe; save it and name the file", (*kind)->what),
      options.input->name());
}

// What is stored instead, and how the format is added: a bundle holds its matrix, so no source is needed.
std::string not_stored(const runtime::Bundle& bundle, const std::string& path, const std::string& name,
                       std::vector<std::string> held, formats::Side side) {
  std::string text =
      fmt::format("format {} is known, but not stored; stored: {}", name, fmt::join(held, ", "));
  std::erase(held, "csr");
  held.push_back(name);
  std::vector<std::string> words = {"sptile",   "convert",
                                    path,       path.substr(0, path.rfind('.')) + "-" + name + ".h5",
                                    "--format", fmt::format("{}", fmt::join(held, ","))};
  const DType values = bundle.formats(side).back().value_dtype();
  if (values != DType::none && values != DType::f32)
    words.insert(words.end(), {"--dtype", std::string(name_of(values))});
  if (side == formats::Side::transpose) words.emplace_back("--transpose");
  text += "; add it with: " + shell_line(words);
  return bundle.row_order(side).empty() ? text : text + " and the --reorder that was used";
}
}  // namespace

std::string base_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

Result<std::shared_ptr<const runtime::Bundle>> open_bundle(const Work& work, const std::string& path) {
  const auto kind = find_kind(path);
  if (!kind) return tl::unexpected(kind.error());
  if ((*kind)->name != "bundle")
    return fail(Errc::bad_input, "not a bundle; 'sptile convert' makes one from a matrix", path);
  return runtime::Bundle::open(path, {.copy = work.copy, .matrix = {}});
}

Result<const formats::FormatView*> held_format(const runtime::Bundle& bundle, const std::string& path,
                                               std::string_view name, formats::Side side) {
  if (const formats::FormatView* const view = bundle.format(name, side)) return view;
  std::vector<std::string> held;
  for (const formats::FormatView& view : bundle.formats(side)) held.emplace_back(view.layout->name);
  Error error = formats::find_layout(name) != nullptr
                    ? Error{Errc::usage, not_stored(bundle, path, std::string(name), held, side), {}}
                    : unknown_name("stored format", name, held);
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

Status probe_matrix(const std::string& path, const LoadOptions& options) {
  const auto kind = find_kind(path, options.from);
  if (!kind) return tl::unexpected(kind.error());
  return !is_pipe(path) && (*kind)->probe != nullptr ? (*kind)->probe(path, options.real_part) : Status();
}

void take_type(LoadedMatrix& loaded, const std::string& source, DType dtype) {
  const formats::CsrView a = loaded.csr.view();
  if (a.is_pattern() || dtype == DType::none || a.values.dtype == dtype) return;
  loaded.csr.values = formats::narrow_values(a, dtype, loaded.integers, source, loaded.loss);
}

std::vector<std::string> describe_losses(const formats::LossCounts& lost, DType dtype, std::string_view in) {
  const struct {
    std::int64_t count;
    const char *what, *now;
  } rows[] = {{lost.overflowed, "values too large for {}", "infinite"},
              {lost.underflowed, "values too small for {}", "0"},
              {lost.inexact, "integers that {} cannot hold exactly", "rounded values"}};
  std::vector<std::string> sentences;
  for (const auto& row : rows)
    if (row.count > 0)
      sentences.push_back(fmt::format("{}, {}: {}", fmt::format(fmt::runtime(row.what), name_of(dtype)),
                                      fmt::format(fmt::runtime(in), row.now), row.count));
  return sentences;
}

Result<LoadedMatrix> load_matrix(Work& work, const std::string& path, LoadOptions options) {
  const auto kind = is_pipe(path) ? look_into_pipe(work, path, options) : find_kind(path, options.from);
  if (!kind) return tl::unexpected(kind.error());
  auto loaded = read_as(**kind, work, path, options);
  if (!loaded && options.from.empty() && loaded.error().code == Errc::bad_input && is_fallback(**kind))
    loaded.error().message += "; --from names the kind of a file that is something else";
  if (!loaded) return loaded;
  loaded->name = base_name(path);
  if (options.hash_source)
    if (Status s = add_hash(path, *loaded); !s) return tl::unexpected(std::move(s.error()));
  for (const std::string& sentence : describe_losses(loaded->loss, loaded->csr.values.dtype(), "read as {}"))
    work.warn(fmt::format("{}: {}", path, sentence));
  return loaded;
}

}  // namespace sptile::tools
