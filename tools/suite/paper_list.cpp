#include "tools/suite/paper_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "tools/pipeline/input.hpp"
#include "tools/pipeline/matrix_kinds.hpp"

namespace sptile::tools {
namespace {

constexpr std::string_view kHead = "name\tcollection\turl\tfigures";

std::vector<std::string> split_tabs(const std::string& line) {
  std::vector<std::string> fields;
  for (std::size_t at = 0;;) {
    const std::size_t tab = std::min(line.find('\t', at), line.size());
    fields.push_back(line.substr(at, tab - at));
    if (tab == line.size()) return fields;
    at = tab + 1;
  }
}

// Returns whether a file name is that of a matrix: its name, then the suffix of a matrix file.
bool is_file_of(const std::string& file, const std::string& matrix) {
  return file.starts_with(matrix + ".") && kind_by_suffix(file) != nullptr;
}

}  // namespace

Result<std::vector<ListedMatrix>> read_paper_list(const std::string& path) {
  std::ifstream file(path);
  if (!file) return fail(Errc::io, std::strerror(errno), path);
  std::vector<ListedMatrix> list;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    const std::string where = fmt::format("{}:{}", path, number);
    if (number == 1) {
      if (line != kHead)
        return fail(Errc::bad_input,
                    "is not a list of matrices; expected the columns name, collection, url, figures", where);
      continue;
    }
    std::vector<std::string> fields = split_tabs(line);
    if (fields.size() != 4 || fields[0].empty())
      return fail(Errc::bad_input, fmt::format("{} fields, expected 4, the first not empty", fields.size()),
                  where);
    list.push_back({std::move(fields[0]), std::move(fields[1]), std::move(fields[2]), std::move(fields[3])});
  }
  if (list.empty()) return fail(Errc::bad_input, "lists no matrix", path);
  return list;
}

Result<FoundMatrices> find_matrices(const std::vector<ListedMatrix>& list, const std::string& folder) {
  std::error_code error;
  std::vector<std::string> files;
  for (auto entry = std::filesystem::directory_iterator(folder, error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error))
    files.push_back(entry->path().filename().string());
  if (error) return fail(Errc::io, error.message(), folder);
  std::ranges::sort(files);
  FoundMatrices found;
  for (const ListedMatrix& matrix : list) {
    const std::string name = base_name(matrix.name);
    const auto file = std::ranges::find_if(files, [&](const std::string& f) { return is_file_of(f, name); });
    if (file == files.end())
      found.missing.push_back(matrix);
    else
      found.paths.push_back((std::filesystem::path(folder) / *file).string());
  }
  return found;
}

Result<std::string> find_paper_list(const std::string& folder, const std::string& suite) {
  const std::string name = suite + ".tsv";
  const std::filesystem::path base(folder);
  for (const std::filesystem::path& path : {base / name, base / ".." / "papers" / name}) {
    std::error_code error;
    if (std::filesystem::is_regular_file(path, error)) return path.string();
  }
  return fail(
      Errc::usage,
      fmt::format("missing IN, and neither --matrices {0} nor {0}/../papers contains the list {1}; pass "
                  "matrices or the folder with the list",
                  folder, name));
}

}  // namespace sptile::tools
