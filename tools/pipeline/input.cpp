#include "tools/pipeline/input.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <new>

#include "formats/core/narrow_values.hpp"
#include "formats/io/stream/spool.hpp"
#include "formats/layout/registry.hpp"
#include "tools/pipeline/matrix_kinds.hpp"
#include "tools/pipeline/names.hpp"
#include "tools/pipeline/shell_words.hpp"

namespace sptile::tools {
namespace {
Result<std::string> hash_of(formats::InputBytes input) {
  std::vector<char> block(1 << 20);
  input.start_hash();
  for (;;) {
    const auto count = input.read(block);
    if (!count) return tl::unexpected(count.error());
    if (*count < std::ssize(block)) return input.finish_hash();
  }
}

// Adds the file name to out-of-memory errors.
Result<LoadedMatrix> read_as(const MatrixKind& kind, Work& work, const std::string& path,
                             formats::InputBytes input, const LoadOptions& options) {
  try {
    return kind.read(work, path, std::move(input), options);
  } catch (const std::bad_alloc& error) {
    return fail(Errc::io, formats::out_of_memory(error), path);
  }
}

// Text is hashed while it is read, because it may come from a pipe. Other files are read a second time,
// through the same descriptor.
Result<LoadedMatrix> read_and_hash(Work& work, const std::string& path, formats::InputBytes input,
                                   const MatrixKind& kind, const LoadOptions& options) {
  if (!options.hash_source || !input.is_file()) return read_as(kind, work, path, std::move(input), options);
  auto second = input.again();
  if (!second) return tl::unexpected(std::move(second.error()));
  auto loaded = read_as(kind, work, path, std::move(input), options);
  if (!loaded || !loaded->sha256.empty()) return loaded;
  auto hash = hash_of(std::move(*second));
  if (!hash) return tl::unexpected(std::move(hash.error()));
  loaded->sha256 = std::move(*hash);
  return loaded;
}

Status known_kind(const std::string& word) {
  return find_kind_named(word).map([](const auto&) {});
}

// Returns the error for a missing format, with the stored ones and the command that adds it: a bundle
// contains its matrix, so no source is needed.
std::string not_stored(const runtime::Bundle& bundle, const std::string& path, const std::string& name,
                       std::vector<std::string> held, formats::Side side) {
  std::string text = fmt::format("format {} is not stored; stored formats: {}", name, fmt::join(held, ", "));
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
  return bundle.row_order(side).empty() ? text : text + " and the original --reorder";
}
}  // namespace

std::string base_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

Result<std::shared_ptr<const runtime::Bundle>> open_bundle(const Work& work, const std::string& path,
                                                           KeepOpen keep_open) {
  const auto refused = [&] {
    return fail(Errc::bad_input, "not a bundle; 'sptile convert' writes one from a matrix", path);
  };
  if (is_pipe(path)) return refused();
  auto input = open_matrix_file(path);
  if (!input) return tl::unexpected(std::move(input.error()));
  const auto kind = find_kind(*input, path, {});
  if (!kind) return tl::unexpected(kind.error());
  if ((*kind)->name != "bundle") return refused();
  return runtime::Bundle::from_descriptor(input->release(), path,
                                          {.copy = work.copy, .keep_open = keep_open == KeepOpen::yes});
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
  if (is_pipe(path)) return options.from.empty() ? Status() : known_kind(options.from);
  auto input = open_matrix_file(path);
  if (!input) return tl::unexpected(std::move(input.error()));
  const auto kind = find_kind(*input, path, options.from);
  if (!kind) return tl::unexpected(kind.error());
  if ((*kind)->probe == nullptr) return {};
  return (*kind)->probe(path, std::move(*input), options.real_part);
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
  } rows[] = {{lost.overflowed, "values that overflow {}", "infinite"},
              {lost.underflowed, "nonzeros that underflow {}", "0"},
              {lost.inexact, "integers that {} cannot represent exactly", "rounded values"}};
  std::vector<std::string> sentences;
  for (const auto& row : rows)
    if (row.count > 0)
      sentences.push_back(fmt::format("{}, {}: {}", fmt::format(fmt::runtime(row.what), name_of(dtype)),
                                      fmt::format(fmt::runtime(in), row.now), row.count));
  return sentences;
}

Result<LoadedMatrix> load_matrix(Work& work, const std::string& path, const LoadOptions& options) {
  auto input = open_matrix_file(path, &work.progress);
  if (!input) return tl::unexpected(std::move(input.error()));
  return load_matrix(work, path, std::move(*input), options);
}

Result<LoadedMatrix> load_matrix(Work& work, const std::string& path, formats::InputBytes input,
                                 const LoadOptions& options) {
  const auto kind = find_kind(input, path, options.from);
  if (!kind) return tl::unexpected(kind.error());
  if (!input.is_file() && !(*kind)->compressible) {
    auto spooled = formats::spool(std::move(input));
    if (!spooled) return tl::unexpected(std::move(spooled.error()));
    return load_matrix(work, path, std::move(*spooled), options);
  }
  auto loaded = read_and_hash(work, path, std::move(input), **kind, options);
  if (!loaded && options.from.empty() && loaded.error().code == Errc::bad_input && is_fallback(**kind))
    loaded.error().message += "; for other formats, name the format with --from";
  if (!loaded) return loaded;
  loaded->name = base_name(path);
  for (const std::string& sentence : describe_losses(loaded->loss, loaded->csr.values.dtype(), "read as {}"))
    work.warn(fmt::format("{}: {}", path, sentence));
  return loaded;
}

}  // namespace sptile::tools
