// Similar rows by minhash.
#pragma once

#include "formats/core/progress.hpp"
#include "formats/core/random.hpp"
#include "reorder/similarity/nearest_rows.hpp"

namespace sptile::reorder {

struct MinhashOptions {
  int bands = 16;           ///< rounds of hashing rows to buckets
  int band_hashes = 2;      ///< minhashes that must agree for a common bucket
  double similarity = 0.2;  ///< minimum similarity of partners
  int partners = 4;         ///< partners kept per row
  RandomStream stream = RandomStream(1);
  Progress* progress = nullptr;
};

/// Finds partners of each row without comparing all pairs: rows fall into the same bucket with probability
/// J^band_hashes, where J is their Jaccard index (Broder, "On the resemblance and containment of documents",
/// 1997; banding after Indyk and Motwani, "Approximate nearest neighbors", STOC 1998). In each band a row is
/// compared exactly with the next row of its bucket; the best partners are kept. Empty rows have no partners.
/// O(bands * (nnz * band_hashes + rows log rows)) for any bucket sizes, parallel; the same result for any
/// number of threads. Memory: 8 bytes per row and per partner. Errc::io "cancelled".
Result<NearestRows> minhash_partners(const formats::CsrView& a, const MinhashOptions& options);

}  // namespace sptile::reorder
