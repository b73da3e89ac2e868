// The rows of `bench`: their columns, and the tables made of them.
#pragma once

#include <span>
#include <string>

#include "tools/csv_log.hpp"
#include "tools/result.hpp"

namespace sptile::tools {

/// What a row of the CSV holds, in order. The identifying columns say what was asked for, the others what
/// came out.
std::span<const CsvColumn> bench_columns();

/// Puts the keys of a row in the order of the columns, null for those that it lacks.
void complete_row(Json& row);

/// True for a row that measures cuSPARSE, not a kernel of ours.
bool is_cusparse(const Json& row);

/// One line for each row.
std::string bench_text(const Json& rows, std::int64_t resumed);

/// One row for each matrix, N and ordering: what the ordering costs, the windows it makes, and the fastest
/// format. The speedup is over the first ordering of the same matrix and N.
Json compare_orders(const Json& rows);

/// True when there is more than one ordering to compare.
bool orders_differ(const Json& orders);

std::string orders_text(const Json& orders);

}  // namespace sptile::tools
