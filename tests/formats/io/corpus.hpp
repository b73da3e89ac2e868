// Lists of files and what readers should say to them.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "formats/io/matrix_market/matrix_market_reader.hpp"

namespace sptile {

/// The fields of each line of a table, without its heading.
inline std::vector<std::vector<std::string>> read_tsv(const std::filesystem::path& path) {
  std::vector<std::vector<std::string>> rows;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    std::vector<std::string>& row = rows.emplace_back();
    std::istringstream fields(line);
    for (std::string field; std::getline(fields, field, '\t');) row.push_back(field);
  }
  if (!rows.empty()) rows.erase(rows.begin());  // the heading
  return rows;
}

/// "ok", or how a file was refused.
inline std::string verdict_of(const Result<formats::MtxMatrix>& result) {
  if (result) return "ok";
  if (result.error().code == Errc::bad_input) return "bad_input";
  return result.error().code == Errc::unsupported ? "unsupported" : "other";
}

}  // namespace sptile
