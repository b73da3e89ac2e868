// Similar rows found by hashing.
#pragma once

#include "formats/core/progress.hpp"
#include "formats/core/random.hpp"
#include "reorder/similarity/nearest_rows.hpp"

namespace sptile::reorder {

struct MinhashOptions {
  int bands = 16;           ///< times that rows are thrown into buckets
  int band_hashes = 2;      ///< minhashes that must agree for a common bucket
  double similarity = 0.2;  ///< partners below it are dropped
  int partners = 4;         ///< kept for each row
  RandomStream stream = RandomStream(1);
  Progress* progress = nullptr;
};

/// Finds partners of each row without comparing all: rows fall into the same bucket with probability
/// J^band_hashes, J their Jaccard index (Broder, "On the resemblance and containment of documents", 1997;
/// banding after Indyk and Motwani, "Approximate nearest neighbors", STOC 1998). In each band a row is
/// compared with the next one of its bucket, exactly; the best partners stay. Rows without entries have none.
/// O(bands * (nnz * band_hashes + rows log rows)) whatever the sizes of buckets, parallel; the same result
/// for any number of threads. Memory: 8 bytes a row, and for each partner. Errc::io "cancelled".
Result<NearestRows> minhash_partners(const formats::CsrView& a, const MinhashOptions& options);

}  // namespace sptile::reorder
