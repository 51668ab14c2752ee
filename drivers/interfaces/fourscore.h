/* What a library of distributed FFTs implements to be measured by fourscore: a plugin. C99; needs no MPI header.
 *
 * A plugin is a shared library with the functions below; those marked optional may be missing. `fft_bench --plugin
 * libmine.so`, or `plugin = "libmine.so"` in a suite, makes its transforms variants like fourscore's own: the same
 * checks before any time counts, the same samples, flags, archive and gate (docs/your-library.md).
 *
 * Functions that return int return 0 for success. After anything else fourscore_last_error() says why, in one line.
 * All are called from one thread; create, execute and destroy on all ranks of the communicator; describe and supports
 * also before MPI is initialised. Text is UTF-8 and ends with a zero byte. */
#ifndef FOURSCORE_H
#define FOURSCORE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FOURSCORE_PLUGIN_VERSION 1

enum { FOURSCORE_C2C = 1, FOURSCORE_R2C = 2 };
enum { FOURSCORE_DOUBLE = 1, FOURSCORE_SINGLE = 2 };
enum { FOURSCORE_FORWARD = 0, FOURSCORE_BACKWARD = 1 };
/* natural: the data is afterwards dealt as before. transposed: as the method leaves it; backward starts there. */
enum { FOURSCORE_NATURAL = 0, FOURSCORE_TRANSPOSED = 1 };
enum { FOURSCORE_ESTIMATE = 0, FOURSCORE_MEASURE = 1, FOURSCORE_PATIENT = 2 };
/* As of MPI: what the plan's threads need. */
enum {
  FOURSCORE_THREAD_SINGLE = 0,
  FOURSCORE_THREAD_FUNNELED = 1,
  FOURSCORE_THREAD_SERIALIZED = 2,
  FOURSCORE_THREAD_MULTIPLE = 3
};
/* What an execution does, for begin() of fourscore_phases_t. */
enum {
  FOURSCORE_FFT = 0,
  FOURSCORE_PACK = 1,
  FOURSCORE_EXCHANGE = 2,
  FOURSCORE_UNPACK = 3,
  FOURSCORE_TWIDDLE = 4,
  FOURSCORE_COMBINE = 5,
  FOURSCORE_H2D = 6,
  FOURSCORE_D2H = 7,
  FOURSCORE_OTHER = 8
};

/* One transform that the plugin offers. */
typedef struct fourscore_transform_t {
  char name[64];     /* of the variant: lower-case letters, digits and -; no name of fourscore's own */
  char summary[160]; /* one line */
  char citation[160];
  char version[64];    /* of the library; may be empty */
  int32_t kinds;       /* FOURSCORE_C2C | FOURSCORE_R2C; 0: c2c */
  int32_t precisions;  /* FOURSCORE_DOUBLE | FOURSCORE_SINGLE; 0: double */
  int32_t grid_extents; /* entries of a process grid that it takes; 0: none */
  int32_t thread_level; /* FOURSCORE_THREAD_... */
} fourscore_transform_t;

typedef struct fourscore_problem_t {
  int64_t shape[3]; /* slowest in memory first, 1 behind `axes` */
  int32_t axes;     /* 1 to 3 */
  int32_t kind;     /* FOURSCORE_C2C or FOURSCORE_R2C: real in space, and half a spectrum along the last axis */
  int32_t precision;
  int32_t direction; /* backward is not normalised: there and back multiplies by the number of elements */
  int32_t layout;
  int32_t in_place; /* 1: the result is where the input was */
  int32_t effort;   /* of planning */
  int32_t threads;  /* a rank */
  int32_t grid[3];  /* 0 where the plugin chooses */
} fourscore_problem_t;

/* The elements low <= index < high of the global array, which this rank holds densely; order[0] is the axis that is
 * slowest in memory, order[2] the fastest. Real data has real elements, complex data complex ones, of which a
 * half spectrum has n / 2 + 1 along its last axis. In place, real rows are padded to 2 (n / 2 + 1) elements, as FFTW
 * has them. An empty box holds nothing. */
typedef struct fourscore_box_t {
  int64_t low[3], high[3];
  int32_t order[3];
} fourscore_box_t;

/* Where the data is before and after. A plugin with arrays of its own says where they are; one that leaves the pointers
 * NULL is given memory of so many bytes, or of its boxes' where that is more, aligned to a page at least. */
typedef struct fourscore_buffers_t {
  void *before, *after; /* equal in place */
  size_t before_bytes, after_bytes;
} fourscore_buffers_t;

typedef struct fourscore_cost_t {
  double flops;             /* of the whole transform */
  double bytes_per_rank;    /* payload sent to other ranks */
  double messages_per_rank; /* to other ranks */
} fourscore_cost_t;

/* begin(clock, FOURSCORE_PACK) ... end(clock): phases do not nest, and what is in none counts as other. Each call reads
 * a clock once (about 30 ns). */
typedef struct fourscore_phases_t {
  void *clock;
  void (*begin)(void *clock, int32_t phase);
  void (*end)(void *clock);
} fourscore_phases_t;

/* FOURSCORE_PLUGIN_VERSION */
int fourscore_plugin_version(void);
/* Fills in transform number `index`, from 0; not 0 where there are no more. */
int fourscore_describe(int index, fourscore_transform_t *transform);
/* 0 where it can be solved on so many ranks; else the point is skipped, with last_error as its reason. */
int fourscore_supports(int index, const fourscore_problem_t *problem, int ranks);
/* Plans and allocates. comm is what MPI_Comm_c2f gives, and lives until destroy has returned. */
int fourscore_create(int index, const fourscore_problem_t *problem, int comm, void **plan);
int fourscore_boxes(void *plan, fourscore_box_t *before, fourscore_box_t *after);
int fourscore_buffers(void *plan, fourscore_buffers_t *buffers);
/* One transform; it may overwrite `before`. Timed: allocates and plans nothing. */
int fourscore_execute(void *plan, void *before, void *after);
int fourscore_destroy(void *plan);
const char *fourscore_last_error(void);

/* Optional: phases of the executions that follow. To be copied: what `phases` points at is gone afterwards. */
int fourscore_set_phases(void *plan, const fourscore_phases_t *phases);
/* Optional: the paper's formula. */
int fourscore_cost(int index, const fourscore_problem_t *problem, int ranks, fourscore_cost_t *cost);

#ifdef __cplusplus
}
#endif
#endif
