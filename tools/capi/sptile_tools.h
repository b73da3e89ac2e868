/* The C interface of libsptile-tools: read matrices, order rows, and convert matrices to bundles, like the
 * sptile command. Products are in libsptile (sptile.h), which is much smaller and does not depend on this
 * library.
 *
 * As in sptile.h, structs begin with their size, 0 is the default of every option, and functions that can
 * fail return sptile_status; sptile_tools_last_error() then states the cause and the remedy. Handles are
 * opaque, destroying NULL has no effect, and no function keeps a pointer to a struct, array or string after
 * it returns.
 *
 * Thread safety: all functions may be called from any thread. Matrices are immutable.
 *
 * Processes: each call that reads or writes HDF5 files or bundles starts the program sptile-hdf5, which is
 * installed with the library, by posix_spawn. The program exits before the call returns, and if the calling
 * thread exits. The disposition of SIGCHLD has no effect.
 *
 * Fork: in a process that was forked after the library was loaded, everything works on one thread, even if
 * threads of the parent were inside the library. The exception is ordering by METIS, which uses the random
 * numbers of the C library: no thread of the parent may have been inside METIS.
 */
#pragma once

#include "sptile.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* A CSR matrix in host memory: rows in their original order, sorted entries without repetitions. */
typedef struct sptile_tools_matrix sptile_tools_matrix;

/* Returns the version of this interface. Within one version, functions and fields are only added. */
int sptile_tools_abi_version(void);

/* Returns the version of the library: "0.1.0". */
const char* sptile_tools_version(void);

/* Returns the message of the last failed call on this thread, "" before the first. It is valid until the next
 * failing call on the same thread. */
const char* sptile_tools_last_error(void);

/* Progress callback, called about twenty times per second on the calling thread: `done` of `total` units of
 * the phase ("read", "reorder"). `total` is 0 if unknown. A nonzero result cancels the call, which soon
 * returns SPTILE_STATUS_IO ("cancelled") and leaves no file. */
typedef int (*sptile_tools_progress)(void* user, const char* phase, int64_t done, int64_t total);

/* Bundles that contain formats of the transpose. Those of a symmetric matrix are used for both. */
typedef enum sptile_tools_transpose {
  SPTILE_TRANSPOSE_NEVER = 0,
  SPTILE_TRANSPOSE_ALWAYS = 1,
  SPTILE_TRANSPOSE_IF_SYMMETRIC = 2
} sptile_tools_transpose;

/* First vertex number of an edge list. */
typedef enum sptile_tools_base {
  SPTILE_BASE_AUTO = 0, /* 0 if a vertex 0 occurs, otherwise 1 */
  SPTILE_BASE_0 = 1,
  SPTILE_BASE_1 = 2
} sptile_tools_base;

/* Options of all functions. */
typedef struct sptile_tools_options {
  size_t size;
  /* for all calls */
  sptile_tools_progress progress; /* NULL: no progress */
  void* user;                     /* first argument of progress */
  int32_t threads;                /* 0: all */
  /* sptile_dtype of values. SPTILE_DTYPE_NONE: unchanged for a matrix (text: SPTILE_DTYPE_F64),
     SPTILE_DTYPE_F32 for the formats of a bundle */
  int32_t dtype;
  int32_t real_part; /* != 0: take the real part of complex values, which are refused otherwise */
  /* for orderings */
  int32_t window_rows;  /* window height for orderings, 1 to 1024; 0: that of all formats, or 8 */
  uint64_t seed;        /* seed of all random choices; 0: 1 */
  const char* method;   /* see 'sptile list reorderers'; NULL: "identity" */
  const char* preset;   /* NULL: none */
  const char* settings; /* "name=value,name=value"; NULL: none */
  /* for bundles */
  const char* formats; /* comma-separated, as for 'sptile convert --format'; NULL: "all" */
  int32_t transpose;   /* sptile_tools_transpose */
  int32_t refreshable; /* != 0: store the source position of each value, so that values can be replaced */
  int32_t overwrite;   /* != 0: replace an existing file */
  int32_t strict; /* != 0: refuse values that dtype cannot represent; otherwise they are rounded, to infinity
                     or 0 if necessary */
  /* for files, see 'sptile help convert' */
  const char* kind;    /* format of the file, as for --from; NULL: detect */
  int32_t base;        /* sptile_tools_base */
  int32_t separator;   /* ' ' (any white space), '\t', ',' or ';'; 0: that of the first edge */
  const char* columns; /* columns of an edge list, as for --columns; NULL: from its heading */
} sptile_tools_options;

#define SPTILE_TOOLS_OPTIONS_INIT                                                                            \
  {                                                                                                          \
    sizeof(sptile_tools_options), NULL, NULL, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, 0, 0, 0, 0, NULL, 0, 0, \
        NULL                                                                                                 \
  }

/* ---- Matrices ---- */

/* Reads a matrix from any file that the command reads: Matrix Market, edge lists, SciPy archives, bundles and
 * others. `options` may be NULL for the defaults, here and below. After a failure, *matrix is NULL. */
sptile_status sptile_tools_read(const char* path, const sptile_tools_options* options,
                                sptile_tools_matrix** matrix);

/* Returns note `number`, from 0, about what was inferred, skipped or summed while the matrix was read; NULL
 * after the last one. `is_warning` may be NULL; it receives 1 if the result is not exact. Valid as long as
 * the matrix. */
const char* sptile_tools_note(const sptile_tools_matrix* matrix, int64_t number, int32_t* is_warning);

/* Copies and checks CSR arrays in host memory, with offsets and columns of SPTILE_DTYPE_I32 or
 * SPTILE_DTYPE_I64, and values of any type or none. Values of SPTILE_DTYPE_I64 become SPTILE_DTYPE_F64. */
sptile_status sptile_tools_copy(const sptile_arrays* arrays, const sptile_tools_options* options,
                                sptile_tools_matrix** matrix);

/* Returns the arrays of a matrix, borrowed: SPTILE_DTYPE_I64 offsets and SPTILE_DTYPE_I32 columns; `values`
 * is NULL and value_dtype SPTILE_DTYPE_NONE for a pattern. Set arrays->size before the call. */
sptile_status sptile_tools_arrays(const sptile_tools_matrix* matrix, sptile_arrays* arrays);

/* Number of values of the source that the type of the matrix cannot represent. */
typedef struct sptile_tools_loss {
  size_t size;
  int64_t overflowed;  /* finite values that became infinite */
  int64_t underflowed; /* nonzeros that became 0 */
  int64_t inexact;     /* integers that were rounded */
} sptile_tools_loss;

/* Returns the losses of a matrix. Set loss->size before the call. */
sptile_status sptile_tools_losses(const sptile_tools_matrix* matrix, sptile_tools_loss* loss);

/* Destroys a matrix. */
void sptile_tools_matrix_destroy(sptile_tools_matrix* matrix);

/* ---- Conversion ---- */

/* Result of a conversion. */
typedef struct sptile_tools_report {
  size_t size;
  int64_t rows, cols, nnz;
  int64_t duplicates;  /* repeated entries of a file that were added */
  int64_t overflowed;  /* values that became infinite */
  uint64_t file_bytes; /* size of the bundle */
  double seconds;      /* time of the conversion without reading */
  int32_t symmetric;   /* 1: equals its transpose */
  int32_t reordered;   /* 1: rows are reordered inside the formats */
  int64_t underflowed; /* nonzeros that became 0 */
  int64_t inexact;     /* integers that were rounded */
} sptile_tools_report;

/* Converts a matrix to a bundle at `path`, which is written completely or not at all. If `path` is NULL, the
 * bundle is written to `fd`, an empty regular file that is open for reading and writing (memfd_create creates
 * one in memory). After a failure, its content is invalid. `report` may be NULL. */
sptile_status sptile_tools_convert(const sptile_tools_matrix* matrix, const char* path, int fd,
                                   const sptile_tools_options* options, sptile_tools_report* report);

/* ---- Ordering ---- */

#define SPTILE_TOOLS_HEIGHTS 5

/* Statistics of the windows of one height. */
typedef struct sptile_tools_windows {
  int64_t window_rows;
  int64_t distinct_columns; /* summed over all windows */
  int64_t tc_blocks;        /* sum of ceil(distinct columns / 8) */
  double mean_nnz_tc;       /* entries / tc_blocks; 0 without blocks */
  double nnz1_ratio;        /* share of the distinct columns that hold exactly one entry */
} sptile_tools_windows;

/* Density of windows and locality of rows. */
typedef struct sptile_tools_quality {
  size_t size;
  sptile_tools_windows windows[SPTILE_TOOLS_HEIGHTS]; /* 8, 16, 32, 64 and 128 rows */
  double jaccard_cost;        /* sum over adjacent rows: 0 if all are equal, at most rows - 1 */
  double working_set_columns; /* average number of distinct columns in 1024 rows */
  int64_t bandwidth;          /* -1: the matrix is not square */
} sptile_tools_quality;

/* Orders the rows of a matrix. new_to_old receives the old row of each new row. `before` and `after`, which
 * may be NULL, receive the quality of the order. */
sptile_status sptile_tools_reorder(const sptile_tools_matrix* matrix, const sptile_tools_options* options,
                                   int32_t* new_to_old, sptile_tools_quality* before,
                                   sptile_tools_quality* after);

/* ---- Entries in any order ---- */

/* Memory of the caller for a sorted pattern, and what was written to it. */
typedef struct sptile_tools_sorted {
  size_t size;
  int64_t* row_ptr;  /* [rows + 1] */
  int32_t* col_idx;  /* [entries] */
  int32_t* position; /* [entries]: CSR entry of each given entry. Not for sptile_tools_transpose_pattern */
  int32_t* source;   /* [entries]: given entry of each CSR entry */
  int32_t threads;   /* maximum number of threads; 0: 1 */
  int32_t ordered;   /* result, 1: the given entries ascend strictly; position and source are not written */
  int64_t nnz; /* result: number of entries without repetitions. If it is smaller than the number of given
                  entries, the content of source is undefined */
} sptile_tools_sorted;

#define SPTILE_TOOLS_SORTED_INIT \
  { sizeof(sptile_tools_sorted), NULL, NULL, NULL, NULL, 0, 0, 0 }

/* Sorts the entries of SPTILE_LAYOUT_COO arrays in host memory, with ids of SPTILE_DTYPE_I32 or
 * SPTILE_DTYPE_I64, by row and column. Repeated entries are merged. Values are ignored.
 * SPTILE_STATUS_BAD_INPUT for an id that is out of range, SPTILE_STATUS_UNSUPPORTED for 2^31 entries or more.
 */
sptile_status sptile_tools_sort_entries(const sptile_arrays* entries, sptile_tools_sorted* sorted);

/* Transposes a pattern of SPTILE_DTYPE_I64 offsets and SPTILE_DTYPE_I32 columns in host memory, which must be
 * valid, with fewer than 2^31 entries: `row_ptr` has cols + 1 elements, `source` the entry of the pattern of
 * each entry of the transpose. */
sptile_status sptile_tools_transpose_pattern(const sptile_arrays* pattern, sptile_tools_sorted* transposed);

/* Dense operand and result of a product, packed rows in host memory. */
typedef struct sptile_tools_rows {
  size_t size;
  const void* x;   /* [cols, n] */
  void* out;       /* [rows, n] */
  int64_t n;       /* number of columns */
  int32_t dtype;   /* SPTILE_DTYPE_F32 or SPTILE_DTYPE_F64 */
  int32_t threads; /* maximum number of threads; 0: 1 */
} sptile_tools_rows;

#define SPTILE_TOOLS_ROWS_INIT \
  { sizeof(sptile_tools_rows), NULL, NULL, 0, 0, 0 }

/* Multiplies a pattern, given as for sptile_tools_sort_entries, by x. For one or two products this takes less
 * time than sorting and a plan. Rows are added in the order of the entries, for any number of threads. */
sptile_status sptile_tools_add_rows(const sptile_arrays* entries, const sptile_tools_rows* rows);

/* ---- Samples of neighbors ---- */

/* The neighborhood of some nodes of a graph. */
typedef struct sptile_tools_sample sptile_tools_sample;

/* Nodes whose neighborhood is sampled, and how. */
typedef struct sptile_tools_sampling {
  size_t size;
  const int64_t* seeds; /* [seed_count] nodes. Repeated ones are separate nodes of the sample */
  int64_t seed_count;
  const int64_t* fan_outs; /* [hops]: maximum number of neighbors per node of each hop; -1: all */
  int64_t hops;
  uint64_t random; /* the same number gives the same sample */
} sptile_tools_sampling;

#define SPTILE_TOOLS_SAMPLING_INIT \
  { sizeof(sptile_tools_sampling), NULL, 0, NULL, 0, 0 }

/* Samples neighbors without replacement. Row i of `graph`, a square CSR pattern of SPTILE_DTYPE_I64 offsets
 * and SPTILE_DTYPE_I32 columns in host memory, has the neighbors of node i. Only visited rows are checked.
 * Time and memory are proportional to the sample. After a failure, *sample is NULL. */
sptile_status sptile_tools_sample_create(const sptile_arrays* graph, const sptile_tools_sampling* sampling,
                                         sptile_tools_sample** sample);

/* Arrays of a sample, which owns them. */
typedef struct sptile_tools_sampled {
  size_t size;
  int64_t nodes, edges;
  const int64_t* node_ids; /* [nodes]: nodes of the graph: first the seeds, then in the order of discovery */
  const int64_t* row_ptr;  /* [nodes + 1]: rows with the sampled neighbors; those of the last hop are empty */
  const int32_t* col_idx;  /* [edges]: nodes of the sample, ascending in each row */
  const int64_t* edge_ids; /* [edges]: entries of the graph */
  const int64_t* ends;     /* [hops + 1]: number of nodes within 0, 1, ... hops. The neighbors of the first
                              ends[h] nodes are among the first ends[h + 1] */
} sptile_tools_sampled;

/* Returns the arrays of a sample. Set sampled->size before the call. */
sptile_status sptile_tools_sample_arrays(const sptile_tools_sample* sample, sptile_tools_sampled* sampled);

/* Destroys a sample. */
void sptile_tools_sample_destroy(sptile_tools_sample* sample);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
