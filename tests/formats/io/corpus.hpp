// Lists of files with the expected results of readers.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "formats/io/matrix_market/matrix_market_reader.hpp"

namespace sptile {

/// Returns the fields of each line of a table, without its header.
inline std::vector<std::vector<std::string>> read_tsv(const std::filesystem::path& path) {
  std::vector<std::vector<std::string>> rows;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    std::vector<std::string>& row = rows.emplace_back();
    std::istringstream fields(line);
    for (std::string field; std::getline(fields, field, '\t');) row.push_back(field);
  }
  if (!rows.empty()) rows.erase(rows.begin());  // the header
  return rows;
}

/// Returns "ok" or the error of a reader.
inline std::string verdict_of(const Result<formats::MtxMatrix>& result) {
  if (result) return "ok";
  if (result.error().code == Errc::bad_input) return "bad_input";
  return result.error().code == Errc::unsupported ? "unsupported" : "other";
}

}  // namespace sptile
