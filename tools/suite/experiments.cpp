#include "tools/suite/experiments.hpp"

#include <algorithm>

namespace sptile::tools {
namespace {

constexpr bool kAblation = true;

// RSH-SpMM, section 4: 16-bit A and B, f32 sums and C.
constexpr std::int64_t kRshColumns[] = {64, 128, 256, 512};

constexpr Variant kRshKernels[] = {
    {"RSH-SpMM", "rs_tile", "cuda.rs_tile.rsh", "wjaccard"},
    {"rs_tile.mma", "rs_tile", "cuda.rs_tile.mma", "wjaccard"},
    {"rs_tile.staged", "rs_tile", "cuda.rs_tile.staged", "wjaccard"},
};

constexpr Variant kRshTf32Kernels[] = {
    {"RSH-SpMM", "rs_tile", "cuda.rs_tile.rsh", "wjaccard"},
    {"RSH-SpMM, unsplit windows in runs", "rs_tile", "cuda.rs_tile.rsh_runs", "wjaccard", kAblation},
    {"rs_tile.mma", "rs_tile", "cuda.rs_tile.mma", "wjaccard"},
    {"rs_tile.staged", "rs_tile", "cuda.rs_tile.staged", "wjaccard"},
    {"Acc-SpMM", "bittcf", "cuda.bittcf.acc_pipeline", "affinity"},
    {"DTC-SpMM", "me_tcf", "cuda.me_tcf.decoded", "lsh"},
};

constexpr Variant kRshOrders[] = {
    {"original order", "rs_tile", "cuda.rs_tile.rsh"},
    {"Rabbit Order", "rs_tile", "cuda.rs_tile.rsh", "rabbit"},
    {"DTC-LSH", "rs_tile", "cuda.rs_tile.rsh", "lsh"},
    {"RSH-SpMM", "rs_tile", "cuda.rs_tile.rsh", "wjaccard"},
};

constexpr Variant kRshStages[] = {
    {"original order", "rs_tile", "cuda.rs_tile.rsh"},
    {"spanning tree", "rs_tile", "cuda.rs_tile.rsh", "wjaccard stretch=0 isolation=0"},
    {"+ 2-opt", "rs_tile", "cuda.rs_tile.rsh", "wjaccard isolation=0"},
    {"+ isolated rows", "rs_tile", "cuda.rs_tile.rsh", "wjaccard"},
};

constexpr Experiment kRsh[] = {
    {.name = "fig10",
     .title = "figures 10 to 12: SpMM over cuSPARSE",
     .variants = kRshKernels,
     .columns = kRshColumns,
     .precision = "fp16",
     .result = "f32"},
    {.name = "fig10_tf32",
     .title = "figures 10 to 12 with f32 operands and tf32 products",
     .variants = kRshTf32Kernels,
     .columns = kRshColumns},
    {.name = "fig16a",
     .title = "figure 16a: row orders",
     .variants = kRshOrders,
     .columns = kRshColumns,
     .baseline = "original order",
     .precision = "fp16",
     .result = "f32"},
    {.name = "fig16b",
     .title = "figure 16b: stages of the row order",
     .variants = kRshStages,
     .columns = kRshColumns,
     .baseline = "original order",
     .precision = "fp16",
     .result = "f32"},
};

// Acc-SpMM, section 4: tf32.
constexpr std::int64_t kAccColumns[] = {128, 256, 512};
constexpr std::int64_t k128[] = {128};

constexpr Variant kAccKernels[] = {
    {"Acc-SpMM", "bittcf", "cuda.bittcf.acc_pipeline", "affinity"},
    {"Acc-SpMM's division, staged tiles", "bittcf", "cuda.bittcf.acc", "affinity"},
    {"DTC-SpMM", "me_tcf", "cuda.me_tcf.decoded", "lsh"},
};

constexpr Variant kAccPipelines[] = {
    {"DTC pipeline", "bittcf", "cuda.bittcf.acc_dtc_pipeline", "affinity"},
    {"Acc pipeline", "bittcf", "cuda.bittcf.acc_pipeline", "affinity"},
};

constexpr Variant kAccBalance[] = {
    {"unbalanced", "bittcf", "cuda.bittcf.acc_windows", "affinity", kAblation},
    {"balanced", "bittcf", "cuda.bittcf.acc_balanced", "affinity", kAblation},
    {"balanced if IBD exceeds 8", "bittcf", "cuda.bittcf.acc", "affinity"},
};

constexpr Variant kAccSteps[] = {
    {"Base", "me_tcf", "cuda.me_tcf.decoded"},
    {"+ BTCF", "bittcf", "cuda.bittcf.acc_dtc_pipeline_windows", "identity", kAblation},
    {"+ RO", "bittcf", "cuda.bittcf.acc_dtc_pipeline_windows", "affinity", kAblation},
    {"+ PP", "bittcf", "cuda.bittcf.acc_pipeline_windows", "affinity", kAblation},
    {"+ LB", "bittcf", "cuda.bittcf.acc_pipeline", "affinity"},
};

constexpr Variant kAccCache[] = {
    {"streaming stores of C", "bittcf", "cuda.bittcf.acc", "affinity"},
    {"write-through stores of C", "bittcf", "cuda.bittcf.acc_write_through", "affinity", kAblation},
};

constexpr Experiment kAcc[] = {
    {.name = "fig7",
     .title = "figures 7 to 9: SpMM over cuSPARSE",
     .variants = kAccKernels,
     .columns = kAccColumns},
    {.name = "fig13",
     .title = "figure 13: pipelines",
     .variants = kAccPipelines,
     .columns = kAccColumns,
     .baseline = "DTC pipeline"},
    {.name = "fig14",
     .title = "figure 14: load balancing",
     .variants = kAccBalance,
     .columns = kAccColumns,
     .baseline = "unbalanced"},
    {.name = "fig15",
     .title = "figure 15: ablation without the cache policy",
     .variants = kAccSteps,
     .columns = k128,
     .baseline = "Base"},
    {.name = "fig15_cp",
     .title = "figure 15, step CP: cache policy",
     .variants = kAccCache,
     .columns = k128,
     .baseline = "streaming stores of C"},
};

// Voltrix-SpMM, section 4: tf32, original row order.
constexpr std::int64_t kVoltrixColumns[] = {256, 512, 1024};
constexpr std::int64_t k256[] = {256};
constexpr std::int64_t kOverlapColumns[] = {256, 512};

constexpr Variant kVoltrixKernels[] = {
    {"Voltrix-SpMM", "bmat", "cuda.bmat.voltrix"},
    {"operands decoded by separate warps", "bmat", "cuda.bmat.bulk_genetic"},
    {"bmat.bulk", "bmat", "cuda.bmat.bulk"},
};

constexpr Variant kVoltrixSteps[] = {
    {"all warps load and multiply", "bmat", "cuda.bmat.voltrix_no_roles", "identity", kAblation},
    {"+ producers and consumers", "bmat", "cuda.bmat.voltrix_windows", "identity", kAblation},
    {"+ persistent blocks", "bmat", "cuda.bmat.voltrix"},
};

constexpr Variant kVoltrixOverlap[] = {
    {"Fully-Sync", "bmat", "cuda.bmat.voltrix_sync", "identity", kAblation},
    {"Voltrix-Async", "bmat", "cuda.bmat.voltrix"},
    {"Fully-Async", "bmat", "cuda.bmat.voltrix_async", "identity", kAblation},
};

constexpr Variant kVoltrixBalance[] = {
    {"equal numbers of windows", "bmat", "cuda.bmat.voltrix_unbalanced", "identity", kAblation},
    {"Algorithm 1, refined", "bmat", "cuda.bmat.voltrix"},
};

constexpr Variant kVoltrixDivisions[] = {
    {"Algorithm 1", "bmat", "cuda.bmat.bulk_greedy"},
    {"Algorithm 1, refined", "bmat", "cuda.bmat.bulk_genetic"},
    {"division of bmat.bulk", "bmat", "cuda.bmat.bulk"},
};

constexpr Experiment kVoltrix[] = {
    {.name = "fig9",
     .title = "figures 9 and 10: SpMM over cuSPARSE",
     .variants = kVoltrixKernels,
     .columns = kVoltrixColumns},
    {.name = "fig11",
     .title = "figure 11: roles of warps and persistent blocks",
     .variants = kVoltrixSteps,
     .columns = k256,
     .baseline = "all warps load and multiply"},
    {.name = "fig14",
     .title = "figure 14: overlap of copies and products",
     .variants = kVoltrixOverlap,
     .columns = kOverlapColumns,
     .baseline = "Fully-Sync"},
    {.name = "fig15",
     .title = "figure 15: load balancing",
     .variants = kVoltrixBalance,
     .columns = k256,
     .baseline = "equal numbers of windows"},
    {.name = "algorithm1",
     .title = "section 3.2.1: divisions of the result",
     .variants = kVoltrixDivisions,
     .columns = k256,
     .baseline = "Algorithm 1"},
};

// Libra, section 5: SpMM with N = 128, SDDMM with N = 32; thresholds 3 of 8 and 24 of 128.
constexpr std::int64_t k32[] = {32};

constexpr Variant kLibraKernels[] = {
    {"Libra", "libra_spmm:3", "cuda.libra_spmm.streams"},
    {"Libra, fitted occupancy ratios", "libra_spmm:3", "cuda.libra_spmm.streams_fitted"},
};

constexpr Variant kLibraTf32Kernels[] = {
    {"Libra", "libra_spmm:3", "cuda.libra_spmm.streams"},
    {"Libra, fitted occupancy ratios", "libra_spmm:3", "cuda.libra_spmm.streams_fitted"},
    {"DTC-SpMM", "me_tcf", "cuda.me_tcf.decoded"},
    {"HC-SpMM", "hc_window:paper", "cuda.hc_window.paper"},
};

constexpr Variant kLibraModes[] = {
    {"CUDA cores only", "libra_spmm:9", "cuda.libra_spmm.streams"},
    {"tensor cores only", "libra_spmm:1", "cuda.libra_spmm.streams"},
    {"hybrid", "libra_spmm:3", "cuda.libra_spmm.streams"},
};

constexpr Variant kLibraThresholds[] = {
    {"CUDA cores only", "libra_spmm:9", "cuda.libra_spmm.streams"},
    {"1 of 8", "libra_spmm:1", "cuda.libra_spmm.streams"},
    {"2 of 8", "libra_spmm:2", "cuda.libra_spmm.streams"},
    {"3 of 8", "libra_spmm:3", "cuda.libra_spmm.streams"},
    {"4 of 8", "libra_spmm:4", "cuda.libra_spmm.streams"},
    {"5 of 8", "libra_spmm:5", "cuda.libra_spmm.streams"},
    {"6 of 8", "libra_spmm:6", "cuda.libra_spmm.streams"},
    {"7 of 8", "libra_spmm:7", "cuda.libra_spmm.streams"},
    {"8 of 8", "libra_spmm:8", "cuda.libra_spmm.streams"},
};

constexpr Variant kLibraBalance[] = {
    {"unbalanced", "libra_spmm:3", "cuda.libra_spmm.uncut", "identity", kAblation},
    {"balanced", "libra_spmm:3", "cuda.libra_spmm.streams"},
};

constexpr Variant kLibraStreams[] = {
    {"sequential", "libra_spmm:3", "cuda.libra_spmm.sequential"},
    {"two streams", "libra_spmm:3", "cuda.libra_spmm.concurrent"},
    {"by occupancy", "libra_spmm:3", "cuda.libra_spmm.streams"},
};

constexpr Variant kLibraSddmm[] = {
    {"Libra", "libra_sddmm:24", "cuda.libra_sddmm.streams"},
    {"Libra's tiles, sptile's division", "libra_sddmm:24", "cuda.libra_sddmm.sddmm"},
};

constexpr Variant kLibraSddmmModes[] = {
    {"CUDA cores only", "libra_sddmm:129", "cuda.libra_sddmm.streams"},
    {"tensor cores only", "libra_sddmm:1", "cuda.libra_sddmm.streams"},
    {"hybrid", "libra_sddmm:24", "cuda.libra_sddmm.streams"},
};

constexpr Variant kLibraSddmmThresholds[] = {
    {"CUDA cores only", "libra_sddmm:129", "cuda.libra_sddmm.streams"},
    {"8 of 128", "libra_sddmm:8", "cuda.libra_sddmm.streams"},
    {"16 of 128", "libra_sddmm:16", "cuda.libra_sddmm.streams"},
    {"24 of 128", "libra_sddmm:24", "cuda.libra_sddmm.streams"},
    {"32 of 128", "libra_sddmm:32", "cuda.libra_sddmm.streams"},
    {"40 of 128", "libra_sddmm:40", "cuda.libra_sddmm.streams"},
    {"48 of 128", "libra_sddmm:48", "cuda.libra_sddmm.streams"},
    {"56 of 128", "libra_sddmm:56", "cuda.libra_sddmm.streams"},
    {"64 of 128", "libra_sddmm:64", "cuda.libra_sddmm.streams"},
};

constexpr Variant kLibraBitmap[] = {
    {"ME-TCF", "me_tcf", "cuda.me_tcf.sddmm_decoded"},
    {"bitmaps", "libra_sddmm:24", "cuda.libra_sddmm.streams"},
};

constexpr Variant kLibraStaged[] = {
    {"shared memory", "libra_spmm:3", "cuda.libra_spmm.streams_staged", "identity", kAblation},
    {"registers", "libra_spmm:3", "cuda.libra_spmm.streams"},
};

constexpr Variant kLibraSddmmBalance[] = {
    {"unbalanced", "libra_sddmm:24", "cuda.libra_sddmm.uncut", "identity", kAblation},
    {"balanced", "libra_sddmm:24", "cuda.libra_sddmm.streams"},
};

constexpr Variant kLibraSddmmStreams[] = {
    {"sequential", "libra_sddmm:24", "cuda.libra_sddmm.sequential"},
    {"two streams", "libra_sddmm:24", "cuda.libra_sddmm.concurrent"},
    {"by occupancy", "libra_sddmm:24", "cuda.libra_sddmm.streams"},
};

constexpr Experiment kLibra[] = {
    {.name = "fig9",
     .title = "figure 9, table 5: SpMM over cuSPARSE, tf32",
     .variants = kLibraTf32Kernels,
     .columns = k128},
    {.name = "fig9_fp16",
     .title = "figure 9: SpMM over cuSPARSE, fp16",
     .variants = kLibraKernels,
     .columns = k128,
     .precision = "fp16",
     .result = "f32"},
    {.name = "modes",
     .title = "section 5.3.2: one kind of cores and both, SpMM",
     .variants = kLibraModes,
     .columns = k128,
     .baseline = "CUDA cores only"},
    {.name = "fig12",
     .title = "figures 1 and 12: thresholds of SpMM",
     .variants = kLibraThresholds,
     .columns = k128,
     .baseline = "CUDA cores only"},
    {.name = "table6_balance",
     .title = "table 6: load balancing of SpMM",
     .variants = kLibraBalance,
     .columns = k128,
     .baseline = "unbalanced"},
    {.name = "table6_streams",
     .title = "table 6: scheduling modes of SpMM",
     .variants = kLibraStreams,
     .columns = k128,
     .baseline = "sequential"},
    {.name = "fig10",
     .title = "figure 10: SDDMM over cuSPARSE",
     .variants = kLibraSddmm,
     .columns = k32,
     .op = "sddmm"},
    {.name = "modes_sddmm",
     .title = "section 5.3.2: one kind of cores and both, SDDMM",
     .variants = kLibraSddmmModes,
     .columns = k32,
     .baseline = "CUDA cores only",
     .op = "sddmm"},
    {.name = "fig12_sddmm",
     .title = "figure 12: thresholds of SDDMM",
     .variants = kLibraSddmmThresholds,
     .columns = k32,
     .baseline = "CUDA cores only",
     .op = "sddmm"},
    {.name = "table6_shared",
     .title = "table 6: shared memory bypassed in SpMM",
     .variants = kLibraStaged,
     .columns = k128,
     .baseline = "shared memory"},
    {.name = "table6_balance_sddmm",
     .title = "table 6: load balancing of SDDMM",
     .variants = kLibraSddmmBalance,
     .columns = k32,
     .baseline = "unbalanced",
     .op = "sddmm"},
    {.name = "table6_streams_sddmm",
     .title = "table 6: scheduling modes of SDDMM",
     .variants = kLibraSddmmStreams,
     .columns = k32,
     .baseline = "sequential",
     .op = "sddmm"},
    {.name = "table6_bitmap",
     .title = "table 6: bitmaps and ME-TCF in SDDMM",
     .variants = kLibraBitmap,
     .columns = k32,
     .baseline = "ME-TCF",
     .op = "sddmm"},
};

// HyGNN, section 7: tf32, windows of 16 rows, the widths of the node features.
constexpr std::int64_t k96[] = {96};
constexpr std::int64_t kOddColumns[] = {66, 74, 75, 89};
constexpr std::int64_t kHiddenColumns[] = {32, 64, 96};

constexpr Variant kHygnnKernels[] = {
    {"HyGNN", "hc_window:paper", "cuda.hc_window.paper"},
    {"HyGNN with LOA", "hc_window:paper", "cuda.hc_window.paper", "loa"},
    {"DTC-SpMM", "me_tcf", "cuda.me_tcf.decoded"},
};

constexpr Variant kHygnnCores[] = {
    {"CUDA cores", "hc_window:cuda", "cuda.hc_window.paper"},
    {"tensor cores", "hc_window:tensor", "cuda.hc_window.paper"},
};

constexpr Variant kHygnnOrders[] = {
    {"original order", "hc_window:paper", "cuda.hc_window.paper"},
    {"LOA", "hc_window:paper", "cuda.hc_window.paper", "loa"},
};

constexpr Variant kHygnnFusion[] = {
    {"separate kernels", "hc_window:paper", "cuda.hc_window.update2"},
    {"fused, both kinds of cores", "hc_window:paper", "cuda.hc_window.paper_update"},
    {"fused, CUDA cores", "csr", "cuda.csr.update"},
};

constexpr Variant kHygnnThreads[] = {
    {"32 threads per row", "hc_window:paper", "cuda.hc_window.paper_fixed_32", "identity", kAblation},
    {"threads by width", "hc_window:paper", "cuda.hc_window.paper"},
};

constexpr Variant kHygnnEdges[] = {
    {"edges in global memory", "hc_window:paper", "cuda.hc_window.paper_global_edges", "identity", kAblation},
    {"edges in shared memory", "hc_window:paper", "cuda.hc_window.paper"},
};

constexpr Variant kHygnnLoads[] = {
    {"plain loads", "hc_window:tensor", "cuda.hc_window.paper_plain_load", "identity", kAblation},
    {"conflict-free loads", "hc_window:tensor", "cuda.hc_window.paper"},
};

constexpr Experiment kHygnn[] = {
    {.name = "fig1",
     .title = "figure 1: both kinds of cores",
     .variants = kHygnnCores,
     .columns = k32,
     .baseline = "CUDA cores"},
    {.name = "fig10",
     .title = "figure 10, table 7: SpMM over cuSPARSE",
     .variants = kHygnnKernels,
     .columns = k96,
     .window_rows = 16},
    {.name = "fig13",
     .title = "figure 13: row order LOA",
     .variants = kHygnnOrders,
     .columns = k96,
     .baseline = "original order",
     .window_rows = 16},
    {.name = "table3",
     .title = "table 3: fusion of aggregation and update, forward",
     .variants = kHygnnFusion,
     .columns = kHiddenColumns,
     .baseline = "separate kernels",
     .op = "spmm_update",
     .window_rows = 16},
    {.name = "table4",
     .title = "table 4: threads per row on CUDA cores",
     .variants = kHygnnThreads,
     .columns = kOddColumns,
     .baseline = "32 threads per row",
     .window_rows = 16},
    {.name = "table5",
     .title = "table 5: edges in shared memory",
     .variants = kHygnnEdges,
     .columns = k96,
     .baseline = "edges in global memory",
     .window_rows = 16},
    {.name = "table6",
     .title = "table 6: loads of B for tensor cores",
     .variants = kHygnnLoads,
     .columns = k96,
     .baseline = "plain loads",
     .window_rows = 16},
};

// Figures about sizes and densities.
constexpr std::string_view kGivenOrder[] = {"identity"};
constexpr std::string_view kTileDensity[] = {"mean_nnz_tc"};
constexpr std::string_view kDensities[] = {"mean_nnz_tc", "mean_nnz_window", "tc_nnz"};

constexpr std::string_view kRshOrder[] = {"wjaccard"};
constexpr std::string_view kRshOrderStages[] = {"identity", "wjaccard stretch=0 isolation=0",
                                                "wjaccard isolation=0", "wjaccard"};
constexpr std::string_view kRowLengths[] = {"mean", "above_2x_mean", "above_4x_mean"};
constexpr std::string_view kRshFormats[] = {"csr", "me_tcf", "bittcf", "rs_tile"};
constexpr std::string_view kRsTile[] = {"rs_tile"};
constexpr std::string_view kOverCoo[] = {"over_coo"};
constexpr std::string_view kTauNnz[] = {
    "rs_tile:rule=large_increment,tau_nnz=0", "rs_tile:rule=large_increment,tau_nnz=1",
    "rs_tile:rule=large_increment,tau_nnz=2", "rs_tile:rule=large_increment,tau_nnz=3",
    "rs_tile:rule=large_increment,tau_nnz=4", "rs_tile:rule=large_increment,tau_nnz=5",
    "rs_tile:rule=large_increment,tau_nnz=6", "rs_tile:rule=large_increment,tau_nnz=7",
    "rs_tile:rule=large_increment,tau_nnz=8"};

constexpr Structure kRshStructures[] = {
    {.name = "fig2", .title = "figure 2: lengths of rows", .orders = kGivenOrder, .quantities = kRowLengths},
    {.name = "fig13",
     .title = "figure 13: index bytes over COO",
     .orders = kRshOrder,
     .formats = kRshFormats,
     .quantities = kOverCoo,
     .compared = true},
    {.name = "fig14",
     .title = "figure 14: nonzeros per tile and window by tau_nnz",
     .orders = kRshOrder,
     .formats = kTauNnz,
     .quantities = kDensities},
    {.name = "fig16b_density",
     .title = "figure 16b: nonzeros per tile by stages of the row order",
     .orders = kRshOrderStages,
     .formats = kRsTile,
     .quantities = kTileDensity},
};

constexpr std::string_view kAccOrders[] = {"identity", "metis", "lsh", "rabbit", "affinity"};
constexpr std::string_view kAccOrder[] = {"affinity"};
constexpr std::string_view kBitTcf[] = {"bittcf"};
constexpr std::string_view kAccFormats[] = {"csr", "me_tcf", "bittcf"};
constexpr std::string_view kOverTcf[] = {"over_tcf"};

constexpr Structure kAccStructures[] = {
    {.name = "fig10",
     .title = "figure 10: nonzeros per tile by row order",
     .orders = kAccOrders,
     .formats = kBitTcf,
     .quantities = kTileDensity},
    {.name = "fig12",
     .title = "figure 12: index bytes over TCF",
     .orders = kAccOrder,
     .formats = kAccFormats,
     .quantities = kOverTcf,
     .compared = true},
};

constexpr std::string_view kSingleColumns[] = {"nnz1_ratio"};
constexpr std::string_view kTensorOnly[] = {"libra_spmm:1", "libra_spmm:3"};
constexpr std::string_view kTensorOnlySddmm[] = {"libra_sddmm:1", "libra_sddmm:24"};
constexpr std::string_view kCudaOnly[] = {"libra_spmm:9", "libra_spmm:3"};
constexpr std::string_view kCudaOnlySddmm[] = {"libra_sddmm:129", "libra_sddmm:24"};
constexpr std::string_view kUtilization[] = {"tc_utilization"};
constexpr std::string_view kRowsOfB[] = {"b_rows"};

constexpr Structure kLibraStructures[] = {
    {.name = "fig1",
     .title = "figure 1: share of columns of a window with one nonzero",
     .orders = kGivenOrder,
     .quantities = kSingleColumns},
    {.name = "fig13",
     .title = "figure 13: nonzeros per tile position, tensor cores only and hybrid, SpMM",
     .orders = kGivenOrder,
     .formats = kTensorOnly,
     .quantities = kUtilization},
    {.name = "fig13_sddmm",
     .title = "figure 13: nonzeros per tile position, tensor cores only and hybrid, SDDMM",
     .orders = kGivenOrder,
     .formats = kTensorOnlySddmm,
     .quantities = kUtilization},
    {.name = "fig14",
     .title = "figure 14: loaded rows of B, CUDA cores only and hybrid, SpMM",
     .orders = kGivenOrder,
     .formats = kCudaOnly,
     .quantities = kRowsOfB},
    {.name = "fig14_sddmm",
     .title = "figure 14: loaded rows of Y, CUDA cores only and hybrid, SDDMM",
     .orders = kGivenOrder,
     .formats = kCudaOnlySddmm,
     .quantities = kRowsOfB},
};

constexpr std::string_view kHygnnRowOrders[] = {"identity", "loa"};
constexpr std::string_view kHygnnFormats[] = {"hc_window:paper"};
constexpr std::string_view kWindowKinds[] = {"tensor_windows", "windows", "tensor_entries"};

constexpr Structure kHygnnStructures[] = {
    {.name = "fig14",
     .title = "figure 14: windows for tensor cores before and after LOA",
     .orders = kHygnnRowOrders,
     .formats = kHygnnFormats,
     .quantities = kWindowKinds,
     .window_rows = 16},
};

constexpr Suite kSuites[] = {
    {"rsh", "RSH-SpMM", kRsh, kRshStructures},    {"acc", "Acc-SpMM", kAcc, kAccStructures},
    {"voltrix", "Voltrix-SpMM", kVoltrix},        {"libra", "Libra", kLibra, kLibraStructures, "fig4"},
    {"hygnn", "HyGNN", kHygnn, kHygnnStructures},
};

struct Compared {
  std::string_view op, formats;
};

constexpr Compared kCompared[] = {
    {"spmm", "csr,bittcf,bmat,rs_tile,tall"},
    {"sddmm", "csr,bittcf,bmat,rs_tile,libra_sddmm"},
    {"spmm_update", "csr,bmat,hc_window:paper"},
};

}  // namespace

std::span<const Suite> suites() { return kSuites; }

const Suite& suite_named(std::string_view name) { return *std::ranges::find(kSuites, name, &Suite::name); }

std::string_view formats_to_compare(std::string_view op) {
  return std::ranges::find(kCompared, op, &Compared::op)->formats;
}

}  // namespace sptile::tools
