// Lists of the matrices that the papers measure, and their files in a folder.
#pragma once

#include <string>
#include <vector>

#include "formats/core/error.hpp"

namespace sptile::tools {

/// A row of a list: a TSV file with the columns name, collection, url and figures.
struct ListedMatrix {
  std::string name;        ///< as in the collection: "SNAP/web-BerkStan"
  std::string collection;  ///< "SuiteSparse"
  std::string url;
  std::string figures;  ///< figures of the paper that show it
};

/// Reads a list. Errc::bad_input with file:line for other files, Errc::io if it cannot be read.
Result<std::vector<ListedMatrix>> read_paper_list(const std::string& path);

/// The files of listed matrices in a folder.
struct FoundMatrices {
  std::vector<std::string> paths;
  std::vector<ListedMatrix> missing;
};

/// Finds the listed matrices among the files of a folder: the last part of the name, followed by the suffix
/// of a matrix file. Errc::io if the folder cannot be read.
Result<FoundMatrices> find_matrices(const std::vector<ListedMatrix>& list, const std::string& folder);

/// Returns the file with the list of a suite: SUITE.tsv in the folder, or in `papers` next to it. Errc::usage
/// if there is none.
Result<std::string> find_paper_list(const std::string& folder, const std::string& suite);

}  // namespace sptile::tools
