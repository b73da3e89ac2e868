// How schedules divide the work of each kernel: the cases that reach the parts which other matrices do not.
#include <fnmatch.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "formats/layout/hc_rules.hpp"
#include "formats/layout/rs_tile_rules.hpp"
#include "runtime/cuda/backend.hpp"
#include "runtime/cuda/collective/direct_schedule.hpp"
#include "runtime/cuda/families/attention/tile_schedule.hpp"
#include "runtime/cuda/families/csr/resident.hpp"
#include "runtime/cuda/families/sddmm/schedule.hpp"
#include "runtime/cuda/families/tile/hybrid_schedule.hpp"
#include "runtime/cuda/papers/bulk/schedule.hpp"
#include "runtime/cuda/papers/libra_streams/schedule.hpp"
#include "runtime/cuda/papers/libra_streams/sddmm_schedule.hpp"
#include "runtime/plan/product_plan.hpp"
#include "tests/property/property.hpp"

namespace sptile::test {
namespace {

using runtime::Activation;
using runtime::Score;
using runtime::cuda::BulkHeader;
using runtime::cuda::DirectHeader;
using runtime::cuda::HybridHeader;
using runtime::cuda::LibraSddmmHeader;
using runtime::cuda::LibraStreamsHeader;
using runtime::cuda::ResidentHeader;
using runtime::cuda::Schedule;
using runtime::cuda::SddmmHeader;
using runtime::cuda::TileAttentionHeader;
using runtime::cuda::TileHeader;

// --- Conditions that a schedule of a case must meet.

const TileHeader& tiles(const Schedule& s) { return s.header.as<TileHeader>(); }
const HybridHeader& both(const Schedule& s) {
  return s.header.is<HybridHeader>() ? s.header.as<HybridHeader>() : s.header.as<LibraStreamsHeader>().parts;
}

bool has_splits(const Schedule& s) { return tiles(s).split_count > 0; }
bool has_no_splits(const Schedule& s) { return tiles(s).split_count == 0; }
bool has_splits_only(const Schedule& s) { return has_splits(s) && tiles(s).teams == 0; }
bool has_no_masks(const Schedule& s) { return tiles(s).masks_at < 0; }
bool has_no_sddmm_masks(const Schedule& s) { return s.header.as<SddmmHeader>().masks_at < 0; }
bool has_teams(const Schedule& s) { return tiles(s).teams > tiles(s).split_count; }
bool has_short_rows(const Schedule& s) { return tiles(s).split_count == 1 && tiles(s).short_count > 0; }
/// Returns whether a staged kernel has rows in classes.
bool has_staged_and_short_rows(const Schedule& s) {
  return tiles(s).variant >= 2 && tiles(s).short_count > 0;
}
bool has_workspace(const Schedule& s) { return s.workspace_bytes > 0; }

bool has_both(const Schedule& s) { return both(s).tiles.item_count > 0 && both(s).rows.csr.items() > 0; }
bool has_tiles_only(const Schedule& s) { return both(s).rows.csr.items() == 0; }
bool has_rows_only(const Schedule& s) { return both(s).tiles.item_count == 0; }
bool splits_both(const Schedule& s) { return both(s).tiles.split_count > 0 && both(s).rows.csr.splits > 0; }
bool has_both_and_teams(const Schedule& s) { return has_both(s) && both(s).tiles.teams > 0; }
/// Returns whether work in rows lets tiles have warps of 128 columns of f32.
bool has_both_and_wide_warps(const Schedule& s) { return has_both(s) && both(s).tiles.variant == 2; }
bool has_short_and_long_rows(const Schedule& s) {
  return s.header.as<LibraStreamsHeader>().short_count > 0 && both(s).rows.csr.runs > 0;
}
bool has_staged_tiles(const Schedule& s) { return both(s).tiles.variant == 1; }
bool scales_rows(const Schedule& s) { return s.header.as<LibraStreamsHeader>().scaled_rows > 0; }

const LibraSddmmHeader& sddmm(const Schedule& s) { return s.header.as<LibraSddmmHeader>(); }
bool has_all_classes(const Schedule& s) {
  return sddmm(s).parts.item_count > 0 && sddmm(s).long_count > 0 && sddmm(s).short_count > 0;
}
bool has_no_items(const Schedule& s) { return sddmm(s).parts.item_count == 0 && sddmm(s).long_count > 0; }
bool has_items_only(const Schedule& s) {
  return sddmm(s).parts.item_count > 0 && sddmm(s).long_count + sddmm(s).short_count == 0;
}

template <int kLines>
bool has_lines(const Schedule& s) {
  return s.header.as<ResidentHeader>().lines == kLines;
}
template <int kAtOnce>
bool has_at_once(const Schedule& s) {
  return s.header.as<DirectHeader>().at_once == kAtOnce;
}
/// Returns whether a row is listed before one of its class with a smaller id.
bool sorts_rows(const Schedule& s) {
  const auto& header = s.header.as<DirectHeader>();
  for (int c = 0; header.rows_at >= 0 && c < header.class_count; ++c) {
    const runtime::cuda::DirectClass& of = header.classes[static_cast<std::size_t>(c)];
    std::vector<std::int32_t> rows(static_cast<std::size_t>(of.rows));
    std::memcpy(rows.data(), s.bytes.data() + header.rows_at + 4 * of.first_row, 4 * rows.size());
    if (!std::is_sorted(rows.begin(), rows.end())) return true;
  }
  return false;
}

bool has_one_slice_together(const Schedule& s) { return s.header.as<BulkHeader>().slices_together == 1; }
bool has_widest_slices(const Schedule& s) { return s.header.as<BulkHeader>().slice_segments == 16; }
/// Returns whether several blocks share a window.
bool cuts_windows(const Schedule& s) {
  const auto& header = s.header.as<BulkHeader>();
  for (int block = 0; block < header.blocks; ++block) {
    runtime::cuda::BulkShare share;
    std::memcpy(&share, s.bytes.data() + header.shares_at + block * sizeof share, sizeof share);
    for (const runtime::cuda::BulkPart& part : share)
      if (part.window_begin < part.window_end &&
          part.segment_end - part.segment_begin < header.slice_segments)
        return true;
  }
  return false;
}

/// Returns whether partial results of windows go through memory, between several teams.
template <bool kThroughMemory>
bool merges_teams(const Schedule& s) {
  const auto& header = s.header.as<TileAttentionHeader>();
  const auto partials = s.workspace_bytes - static_cast<std::size_t>(header.scratch.partials_at);
  return header.split_count > 0 && (partials > 0) == kThroughMemory;
}

// --- The cases.

constexpr int kAllTensor = formats::hc_parameter(formats::kHcAllTensor);
constexpr int kAllCuda = formats::hc_parameter(formats::kHcAllCuda);
/// Columns with at least two nonzeros on average go to tensor cores.
constexpr int kHalf = formats::hc_parameter({-448, 511, 0});
/// rs_tile:split=2: windows of more than two tiles are split.
constexpr int kPiecesOfTwo = formats::kRsTileFields[3].with_code(0, 3);

enum class Extent {
  all,
  f32,       ///< large: for values and operands in f32 only
  schedule,  ///< too large to run emulated: the schedule for f32 only
};

struct Division {
  const char* kernels;  ///< names, as fnmatch matches them with FNM_EXTMATCH
  Setting setting;
  bool (*reached)(const Schedule&) = nullptr;  ///< a condition of its schedules on emulated devices
  Extent extent = Extent::all;
};

constexpr const char* kTileKernels = "cuda.@(bittcf|bmat|me_tcf|rs_tile).@(mma|staged)";
constexpr const char* kAccPipelines = "cuda.@(bittcf.acc*_pipeline*|me_tcf.decoded)";
constexpr const char* kHybrid = "cuda.hc_window.@(hybrid|apart)";
constexpr const char* kLibra = "cuda.libra_spmm.!(sddmm|update2)";
constexpr const char* kLibraStreams = "cuda.libra_spmm.!(mma|sddmm|update2)";
constexpr const char* kLibraSddmm = "cuda.libra_sddmm.@(streams|sequential|concurrent|uncut)";
constexpr const char* kAttention = "cuda.csr.attention*";
constexpr const char* kReductions = "cuda.csr.@(max|min)*";

const Division kDivisions[] = {
    {"*", {.shape = "pieces", .n = 40, .device = 3}},

    // Every width of a team; many rows of B in flight if there is much work.
    {"cuda.csr.@(direct|rows)", {.n = 2, .pad = 3}},
    {"cuda.csr.@(direct|rows)", {.n = 3, .pad = 1, .device = 1}},
    {"cuda.csr.@(direct|rows)", {.n = 7, .pad = 1}},
    {"cuda.csr.@(direct|rows)", {.shape = "pieces", .n = 13, .device = 1}},
    {"cuda.csr.@(direct|rows)", {.n = 16}},
    {"cuda.csr.@(direct|rows)", {.n = 27, .pad = 1, .device = 1}},
    {"cuda.csr.@(direct|rows)", {.n = 130, .pad = 2}},
    {"cuda.csr.direct", {.shape = "work", .n = 1}, has_at_once<runtime::cuda::kDirectMany>, Extent::f32},
    {"cuda.csr.direct", {.shape = "work", .n = 8}, has_at_once<runtime::cuda::kDirectMany>, Extent::f32},
    {"cuda.csr.direct", {.shape = "work", .n = 32}, has_at_once<runtime::cuda::kDirectFew>, Extent::f32},
    {"cuda.csr.@(direct|sddmm_direct)",
     {.shape = "ladder", .n = 32, .permuted = true, .beta = 2},
     sorts_rows},

    // Rows of B of one and of several KiB, whose pieces go to all lanes.
    {"cuda.csr.rows", {.shape = "pieces", .n = 128, .pad = 1}},
    {"cuda.csr.rows", {.shape = "pieces", .n = 256, .alpha = -0.5, .beta = 2}},
    {"cuda.csr.rows", {.shape = "pieces", .n = 256, .pad = 8}},
    {"cuda.csr.rows", {.shape = "pieces", .n = 256, .pad = 1}},
    {"cuda.csr.rows", {.shape = "pieces", .n = 256, .planned = 512}},
    {"cuda.csr.rows", {.shape = "pieces", .n = 384, .planned = 512, .pad = 8}},
    {"cuda.csr.rows", {.shape = "pieces", .n = 512}},

    // Slices of one and of two lines, more parts than rows, rows that several warps share.
    {"cuda.csr.resident", {.shape = "long_window", .n = 64, .permuted = true}, has_lines<1>},
    {"cuda.csr.resident", {.n = 128, .alpha = 2, .beta = -1}, has_lines<2>},
    {"cuda.csr.resident", {.n = 32, .device = 1}},
    {"cuda.csr.resident", {.shape = "some_longer", .n = 128, .pad = 8, .device = 2}},
    {"cuda.csr.resident", {.shape = "some_longer", .n = 37, .pad = 1, .permuted = true, .device = 2}},

    // Rows within a group of lanes, over several groups, over several blocks; one chunk per group and two.
    {"cuda.csr.shares",
     {.shape = "ladder", .n = 40, .alpha = 2, .beta = -1, .device = 1},
     nullptr,
     Extent::f32},
    {"cuda.csr.shares", {.shape = "ladder", .n = 6, .pad = 1, .permuted = true}, nullptr, Extent::f32},
    {"cuda.csr.shares", {.shape = "work", .n = 64, .permuted = true, .beta = 0.5, .device = 1}},
    {"cuda.csr.shares", {.shape = "short_rows", .n = 33, .pad = 1, .alpha = -1.5, .beta = 2}},

    // Rows of a lane, a warp, a block, several blocks.
    {"cuda.csr.stream", {.shape = "ladder", .n = 1, .alpha = 2, .beta = -1}},
    {"cuda.csr.stream", {.shape = "ladder", .n = 1, .pad = 2, .permuted = true}},
    {"cuda.csr.stream", {.shape = "some_longer", .n = 1}},
    {"cuda.csr.stream", {.shape = "long_both", .n = 1}},
    {"cuda.csr.stream", {.shape = "million", .n = 1}, nullptr, Extent::f32},
    {"cuda.csr.softmax_rows*", {.shape = "ladder", .heads = 2, .alpha = -1.5}},

    // Rows of a team, of several, in several rounds; of equal and of very different lengths.
    {"cuda.csr.sddmm_direct", {.shape = "ladder", .n = 128, .alpha = 2, .beta = -1}, nullptr, Extent::f32},
    {"cuda.csr.sddmm_direct", {.shape = "work", .n = 72, .permuted = true, .device = 1}},
    {"cuda.csr.sddmm_direct", {.shape = "short_rows", .n = 33, .pad = 1, .beta = 0.5}},
    {"cuda.csr.sddmm_direct", {.shape = "narrow", .n = 127, .pad = 1, .permuted = true}},
    // Every width of a team in 16 bits, rows that do not fill their lanes; pieces of rows that are not
    // aligned.
    {"cuda.csr.sddmm_direct", {.shape = "short_rows", .n = 8, .pad = 8, .alpha = 2, .beta = -1}},
    {"cuda.csr.sddmm_direct", {.n = 16, .permuted = true}},
    {"cuda.csr.sddmm_direct", {.n = 24, .pad = 8}},
    {"cuda.csr.sddmm_direct", {.shape = "short_rows", .n = 64}},
    {"cuda.csr.sddmm_direct", {.shape = "pieces", .n = 200, .pad = 8, .beta = 0.5}},
    {"cuda.csr.sddmm_direct", {.n = 256, .permuted = true, .device = 1}},
    {"cuda.csr.sddmm_direct", {.shape = "some_longer", .n = 440, .permuted = true}},
    {"cuda.csr.sddmm_direct", {.n = 512}},
    {"cuda.csr.sddmm_direct", {.shape = "pieces", .n = 37, .pad = 1, .alpha = -1.5, .beta = 2, .device = 3}},

    // Teams of every width; one row by several teams and blocks; columns in several slices.
    {kReductions, {.n = 1, .heads = 2}},
    {kReductions, {.n = 3, .pad = 1, .device = 1}},
    {kReductions, {.shape = "pieces", .n = 13, .pad = 3, .permuted = true, .alpha = -2}},
    {kReductions, {.shape = "pieces", .n = 16, .pad = 8, .device = 1}},
    {kReductions, {.shape = "ladder", .n = 32, .permuted = true}},
    {kReductions, {.shape = "ladder", .n = 64, .pad = 1, .heads = 2, .alpha = 1.5}},
    {kReductions, {.shape = "pieces", .n = 300, .planned = 520, .permuted = true, .bare = true, .device = 1}},

    // Windows in pieces, by teams of warps, slices of B one after the other.
    {kTileKernels,
     {.shape = "long_window", .n = 72, .permuted = true, .alpha = 2, .beta = -1},
     has_splits_only},
    {kTileKernels, {.shape = "long_window", .n = 32, .device = 1}, has_teams},
    {kTileKernels, {.shape = "long_window", .n = 67, .pad = 1, .permuted = true, .beta = 0.5, .device = 1}},
    {kTileKernels, {.n = 520, .pad = 8, .permuted = true, .device = 2}},
    {"cuda.bittcf.acc?(_write_through)", {.n = 64}, has_no_splits},
    {"cuda.bittcf.acc?(_write_through|_balanced)",
     {.shape = "short_rows", .n = 128, .permuted = true},
     has_splits},
    {"cuda.bittcf.acc_windows", {.shape = "short_rows", .n = 128}, has_no_splits},
    // Blocks of two to eight warps, of which some have no columns; several blocks per item.
    {kAccPipelines, {.n = 8, .pad = 1, .alpha = 2, .beta = -1}},
    {kAccPipelines, {.shape = "long_window", .n = 288, .permuted = true}},
    {"cuda.me_tcf.decoded", {.shape = "long_window", .n = 64, .beta = 2}, has_no_masks},
    {"cuda.me_tcf.sddmm_decoded", {.shape = "long_window", .n = 40}, has_no_sddmm_masks},
    {"cuda.bittcf.acc*_pipeline",
     {.shape = "short_rows", .n = 72, .pad = 1, .permuted = true, .beta = 0.5},
     has_splits},
    {"cuda.bittcf.acc*_pipeline", {.shape = "short_rows", .n = 288, .alpha = 2, .beta = -1}, has_splits},
    {"cuda.rs_tile.staged",
     {.shape = "short_rows", .n = 128, .permuted = true, .alpha = 2, .beta = -1},
     has_staged_and_short_rows,
     Extent::f32},
    {"cuda.rs_tile.staged", {.shape = "short_rows", .n = 130, .pad = 2}},
    {"cuda.rs_tile.rsh*", {.shape = "short_rows", .n = 32, .alpha = 2, .beta = -1}, has_short_rows},
    {"cuda.rs_tile.rsh*", {.shape = "short_rows", .n = 128}, has_short_rows},
    {"cuda.rs_tile.rsh",
     {.shape = "windows", .n = 72, .permuted = true, .alpha = 2, .beta = -1, .parameter = kPiecesOfTwo},
     has_splits},
    {"cuda.rs_tile.rsh", {.shape = "windows", .n = 67, .pad = 1, .beta = 0.5, .parameter = kPiecesOfTwo}},
    {"cuda.rs_tile.rsh", {.n = 520, .pad = 8, .permuted = true}},

    // Tiles and rows in one launch, or only one of them.
    {kHybrid, {.shape = "windows", .n = 32, .parameter = kHalf}, has_both},
    {kHybrid,
     {.shape = "windows", .n = 64, .permuted = true, .beta = 1, .parameter = kAllTensor},
     has_tiles_only},
    {kHybrid,
     {.shape = "windows", .n = 32, .permuted = true, .beta = 1, .parameter = kAllCuda},
     has_rows_only},
    {kHybrid,
     {.shape = "long_both", .n = 72, .pad = 8, .alpha = 2, .beta = 3, .parameter = kHalf},
     splits_both},
    {kHybrid, {.shape = "long_both", .n = 72, .pad = 1, .beta = 3, .parameter = kHalf}, splits_both},
    {kHybrid, {.shape = "long_both", .n = 33, .parameter = kHalf}, splits_both},
    {kHybrid, {.shape = "long_both", .n = 32, .parameter = kHalf, .device = 1}, has_both_and_teams},
    {"cuda.hc_window.hybrid",
     {.shape = "one_window", .n = 128, .parameter = kHalf},
     has_both_and_wide_warps,
     Extent::schedule},
    {kLibra, {.shape = "segments", .n = 64, .alpha = -0.5, .beta = 2, .parameter = 3}},
    {kLibra, {.shape = "windows", .n = 64, .parameter = 1}, has_tiles_only},
    {kLibra, {.shape = "windows", .n = 64, .permuted = true, .parameter = 9}, has_rows_only},
    {"cuda.libra_spmm.mma", {.shape = "long_both", .n = 40, .beta = 3, .parameter = 3}, splits_both},
    {kLibra, {.shape = "long_both", .n = 256, .permuted = true, .alpha = 2, .beta = -1, .parameter = 3}},
    {kLibra, {.shape = "long_both", .n = 256, .planned = 512, .pad = 4, .parameter = 3}},
    {kLibraStreams,
     {.shape = "segments", .n = 36, .pad = 4, .permuted = true, .alpha = 2, .beta = -2},
     scales_rows},
    {kLibraStreams, {.shape = "segments", .n = 36, .pad = 4, .beta = 1, .device = 1}, scales_rows},
    {kLibraStreams, {.shape = "short_rows", .n = 40, .permuted = true, .beta = 2}, has_short_and_long_rows},
    {kLibraStreams, {.shape = "short_rows", .n = 21, .pad = 1, .parameter = 9}, has_short_and_long_rows},
    {"cuda.hc_window.paper!(*update*|*gradient*)",
     {.shape = "long_window", .n = 40, .beta = 2, .parameter = kAllTensor}},
    {"cuda.hc_window.paper_update", {.shape = "long_window", .n = 40, .m = 300, .parameter = kAllTensor}},
    {kLibraSddmm, {.shape = "segments", .n = 40, .permuted = true, .alpha = 2, .beta = -1}, has_all_classes},
    {kLibraSddmm, {.shape = "segments", .n = 130, .pad = 2, .heads = 2}, has_all_classes},
    {kLibraSddmm, {.shape = "short_rows", .n = 32, .permuted = true, .parameter = 129}, has_no_items},
    {kLibraSddmm, {.shape = "long_window", .n = 72, .beta = 0.5, .parameter = 1}, has_items_only},
    {"cuda.libra_spmm.streams_staged",
     {.shape = "long_both", .n = 128, .permuted = true, .alpha = 2, .beta = -1},
     has_staged_tiles},
    {"cuda.hc_window.paper*", {.shape = "long_window", .n = 16, .parameter = kAllCuda}},
    {"cuda.hc_window.paper*", {.shape = "windows", .n = 47, .pad = 1, .permuted = true}},

    // Windows of every height; slices and shares of bulk copies.
    {"cuda.tall.@(staged|wgmma)", {.n = 32, .parameter = 16}},
    {"cuda.tall.@(staged|wgmma)", {.n = 72, .permuted = true, .parameter = 32}},
    {"cuda.tall.@(staged|wgmma)", {.n = 72, .parameter = 64}},
    {"cuda.tall.@(staged|wgmma)", {.n = 32, .permuted = true, .parameter = 128}},
    {"cuda.tall.@(staged|wgmma)",
     {.shape = "pieces", .n = 40, .permuted = true, .alpha = 2, .beta = -1, .parameter = 16, .device = 3},
     has_workspace},
    {"cuda.tall.@(staged|wgmma)", {.shape = "pieces", .n = 40, .parameter = 128, .device = 3}, has_workspace},
    // Slices of 64, 128 and 256 columns for windows of up to 64 rows, 64 and 128 for others; a last slice in
    // part.
    {"cuda.tall.wgmma", {.n = 64, .permuted = true, .alpha = 2, .beta = -1, .parameter = 128}},
    {"cuda.tall.wgmma", {.n = 128, .alpha = 2, .beta = -1, .parameter = 64}},
    {"cuda.tall.wgmma", {.n = 130, .pad = 2, .permuted = true, .parameter = 64}},
    {"cuda.tall.wgmma", {.n = 200, .pad = 8, .beta = 1, .parameter = 128}},
    {"cuda.tall.wgmma", {.n = 328, .pad = 8, .permuted = true, .beta = 1, .parameter = 32}},
    {"cuda.tall.wgmma",
     {.shape = "pieces", .n = 256, .permuted = true, .alpha = 2, .beta = -1, .parameter = 64, .device = 3},
     has_workspace},
    {"cuda.tall.wgmma", {.shape = "pieces", .n = 96, .pad = 1, .parameter = 128, .device = 3}, has_workspace},
    {"cuda.bmat.bulk", {.shape = "gaps", .n = 520, .permuted = true, .device = 2}, has_one_slice_together},
    {"cuda.bmat.@(bulk|voltrix?(_no_roles))", {.n = 512, .pad = 8}, has_widest_slices},
    {"cuda.bmat.bulk*",
     {.shape = "pieces", .n = 264, .permuted = true, .alpha = 2, .beta = -1, .device = 3},
     cuts_windows},
    {"cuda.bmat.@(bulk|voltrix)",
     {.shape = "pieces", .n = 392, .planned = 520, .pad = 8, .beta = 1, .device = 3},
     cuts_windows},
    {"cuda.bmat.@(bulk|voltrix?(_no_roles))",
     {.shape = "pieces", .n = 392, .planned = 520, .pad = 1, .device = 3}},
    {"cuda.bmat.bulk", {.shape = "long_window", .n = 17, .device = 1}, has_teams},

    // Several slices of X, Y and V; windows of one team and of several.
    {kAttention, {.n = 3, .m = 17, .heads = 2}},
    {kAttention, {.n = 100, .m = 64, .heads = 2, .score = Score::cosine}},
    {kAttention, {.n = 8, .m = 300, .heads = 2}},
    {kAttention, {.n = 272, .m = 264, .score = Score::cosine}},
    {"cuda.csr.gatv2*", {.n = 8, .heads = 2, .interleaved = true}},
    {"cuda.csr.gatv2*", {.shape = "pieces", .n = 8, .bare = true}},
    {"cuda.csr.gatv2*", {.shape = "pieces", .n = 64, .permuted = true, .bare = true}},
    {"cuda.csr.gatv2*", {.shape = "pieces", .n = 128, .bare = true}},
    {"cuda.csr.gatv2*", {.n = 100, .heads = 2}},
    {"cuda.csr.gatv2*", {.shape = "pieces", .n = 272, .permuted = true}},
    {"cuda.csr.gatv2*", {.shape = "pieces", .n = 7, .pad = 1, .heads = 2}},
    {"cuda.csr.edge_attention*", {.n = 8, .m = 4, .heads = 2, .interleaved = true}},
    {"cuda.csr.edge_attention*", {.shape = "pieces", .n = 32, .m = 8, .heads = 2}},
    {"cuda.csr.edge_attention*", {.shape = "pieces", .n = 64, .m = 64, .permuted = true, .bare = true}},
    {"cuda.csr.edge_attention*", {.shape = "pieces", .n = 8, .m = 128}},
    {"cuda.csr.edge_attention*", {.n = 100, .m = 16, .heads = 2}},
    {"cuda.csr.edge_attention*", {.shape = "pieces", .n = 272, .m = 8, .permuted = true}},
    {"cuda.csr.edge_attention*", {.shape = "pieces", .n = 16, .m = 272, .heads = 2}},
    {"cuda.csr.edge_attention*", {.shape = "pieces", .n = 7, .m = 3, .pad = 1, .heads = 2}},
    // Features that fill the registers of a group, and those that do not.
    {"cuda.csr.gatv2_edges*", {.shape = "pieces", .n = 8, .m = 1}},
    {"cuda.csr.gatv2_edges*", {.shape = "pieces", .n = 64, .m = 3, .heads = 2, .interleaved = true}},
    {"cuda.csr.gatv2_edges*", {.n = 128, .m = 8, .heads = 3}},
    {"cuda.csr.gatv2_edges*", {.shape = "pieces", .n = 272, .m = 16, .permuted = true}},
    {"cuda.bmat.attention", {.shape = "pieces", .n = 32, .m = 32, .device = 1}, merges_teams<false>},
    {"cuda.bmat.attention",
     {.shape = "wide_window", .n = 32, .m = 32, .heads = 2, .device = 1},
     merges_teams<true>},
    // Rows that are not aligned run in the widest kernel.
    {"cuda.bmat.attention",
     {.shape = "wide_window", .n = 3, .m = 3, .pad = 1, .heads = 2, .device = 1},
     merges_teams<true>},

    // Rows of many nonzeros; sums over many rows.
    {"cuda.csr.update", {.shape = "pieces", .n = 7, .m = 3, .pad = 1, .device = 2}},
    {"cuda.csr.update", {.shape = "pieces", .n = 264, .m = 8, .bare = true}},
    {"cuda.csr.update_gradient", {.shape = "narrow", .n = 20, .m = 70, .activation = Activation::relu}},
    {"cuda.csr.update_gradient", {.shape = "narrow", .n = 20, .m = 70, .device = 1}},
    {"cuda.hc_window.paper_layer_gradient", {.shape = "narrow", .n = 20, .m = 70, .pad = 1, .device = 1}},
    {"cuda.hc_window.paper_layer_gradient",
     {.shape = "windows", .n = 70, .m = 40, .permuted = true, .parameter = kAllTensor, .device = 1}},
    {"cuda.hc_window.paper_layer_gradient",
     {.shape = "long_window", .n = 16, .m = 130, .parameter = kAllCuda}},
};

std::string reached(Session& session, const Division& division, const Setting& setting) {
  if (session.machine().name() != "emulated" || division.reached == nullptr) return {};
  const Schedule schedule =
      session.instance().row->schedule({session.matrix(setting).formatted.data.view(),
                                        setting.planned_n(),
                                        *runtime::cuda::find_device(setting.device),
                                        {},
                                        options_of(session.instance(), setting).variant});
  return division.reached(schedule) ? "" : "the schedule is not the one that the case is for";
}

}  // namespace

void check_divisions(Session& session) {
  for (const Division& division : kDivisions) {
    const Instance& instance = session.instance();
    if (fnmatch(division.kernels, std::string(instance.kernel->name).c_str(), FNM_EXTMATCH) != 0) continue;
    if (division.extent != Extent::all && !(instance.is_float() && instance.values == DType::f32)) continue;
    session.run_case(division.setting, [&](const Setting& s) {
      const std::string wrong = reached(session, division, s);
      return wrong.empty() && division.extent != Extent::schedule ? agrees(session, s) : wrong;
    });
  }
}

}  // namespace sptile::test
