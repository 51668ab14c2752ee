/* A library of one transform as a plugin: complex slabs. Transforms of the planes, one exchange without packing
 * (MPI_Alltoallw), transforms along the first axis; backward the same way back. */
#include <fftw3.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fourscore.h"

typedef struct {
  int ranks, rank, backward;
  fourscore_box_t planes, columns; /* of this rank, in space and in frequency */
  fftw_plan first, last;
  fftw_complex *scratch;
  int *ones, *zeros;
  MPI_Comm comm;
  MPI_Datatype *send, *receive; /* what goes to each rank, and what comes from it */
  fourscore_phases_t phases;
} slab_t;

static char error[200] = "";

static int low_of(int64_t n, int ranks, int rank) {
  const int64_t rest = n % ranks;
  return (int)(n / ranks * rank + (rank < rest ? rank : rest));
}

static fourscore_box_t box_of(const int64_t n[3], int axis, int ranks, int rank) {
  fourscore_box_t box = {{0, 0, 0}, {n[0], n[1], n[2]}, {0, 1, 2}};
  box.low[axis] = low_of(n[axis], ranks, rank);
  box.high[axis] = low_of(n[axis], ranks, rank + 1);
  return box;
}

/* The part of `mine` that is also in `other`. */
static MPI_Datatype part_of(const fourscore_box_t *mine, const fourscore_box_t *other) {
  int all[3], part[3], first[3];
  MPI_Datatype type;
  for (int a = 0; a < 3; ++a) {
    const int64_t low = mine->low[a] > other->low[a] ? mine->low[a] : other->low[a];
    const int64_t high = mine->high[a] < other->high[a] ? mine->high[a] : other->high[a];
    all[a] = (int)(mine->high[a] - mine->low[a]), part[a] = (int)(high - low), first[a] = (int)(low - mine->low[a]);
  }
  MPI_Type_create_subarray(3, all, part, first, MPI_ORDER_C, MPI_C_DOUBLE_COMPLEX, &type);
  MPI_Type_commit(&type);
  return type;
}

static size_t elements(const fourscore_box_t *box) {
  size_t product = 1;
  for (int a = 0; a < 3; ++a) product *= (size_t)(box->high[a] - box->low[a]);
  return product;
}

/* All planes, or all columns, of this rank. */
static fftw_plan plan_of(const slab_t *s, int columns, fftw_complex *in, fftw_complex *out, unsigned effort) {
  const fourscore_box_t *box = columns ? &s->columns : &s->planes;
  const int n[3] = {(int)(box->high[0] - box->low[0]), (int)(box->high[1] - box->low[1]), (int)box->high[2]};
  const int sign = s->backward ? FFTW_BACKWARD : FFTW_FORWARD, area = n[1] * n[2];
  if (columns) return fftw_plan_many_dft(1, n, area, in, NULL, area, 1, out, NULL, area, 1, sign, effort);
  return fftw_plan_many_dft(2, n + 1, n[0], in, NULL, 1, area, out, NULL, 1, area, sign, effort);
}

int fourscore_plugin_version(void) { return FOURSCORE_PLUGIN_VERSION; }

const char *fourscore_last_error(void) { return error; }

int fourscore_describe(int index, fourscore_transform_t *transform) {
  if (index != 0) return 1;
  strcpy(transform->name, "c-slab");
  strcpy(transform->summary, "slabs in a hundred lines of C: one MPI_Alltoallw, no packing");
  transform->kinds = FOURSCORE_C2C;
  transform->precisions = FOURSCORE_DOUBLE;
  return 0;
}

int fourscore_supports(int index, const fourscore_problem_t *problem, int ranks) {
  (void)index;
  if (problem->axes < 2 || problem->layout != FOURSCORE_TRANSPOSED || problem->threads > 1)
    strcpy(error, "c-slab takes two or three axes, transposed output and one thread");
  else if (problem->shape[0] < ranks || problem->shape[1] < ranks)
    sprintf(error, "%d ranks; c-slab gives each a plane of both the first and the second axis", ranks);
  else
    return 0;
  return 1;
}

int fourscore_create(int index, const fourscore_problem_t *problem, int comm, void **plan) {
  (void)index;
  const unsigned efforts[] = {FFTW_ESTIMATE, FFTW_MEASURE, FFTW_PATIENT};
  slab_t *s = calloc(1, sizeof *s);
  s->comm = MPI_Comm_f2c(comm);
  MPI_Comm_size(s->comm, &s->ranks);
  MPI_Comm_rank(s->comm, &s->rank);
  s->backward = problem->direction == FOURSCORE_BACKWARD;
  s->planes = box_of(problem->shape, 0, s->ranks, s->rank);
  s->columns = box_of(problem->shape, 1, s->ranks, s->rank);
  s->ones = malloc((size_t)s->ranks * sizeof(int)), s->zeros = calloc((size_t)s->ranks, sizeof(int));
  s->send = malloc((size_t)s->ranks * sizeof *s->send), s->receive = malloc((size_t)s->ranks * sizeof *s->receive);
  for (int r = 0; r < s->ranks; ++r) {
    const fourscore_box_t planes = box_of(problem->shape, 0, s->ranks, r);
    const fourscore_box_t columns = box_of(problem->shape, 1, s->ranks, r);
    s->ones[r] = 1;
    s->send[r] = s->backward ? part_of(&s->columns, &planes) : part_of(&s->planes, &columns);
    s->receive[r] = s->backward ? part_of(&s->planes, &columns) : part_of(&s->columns, &planes);
  }
  const size_t a = elements(&s->planes), b = elements(&s->columns), most = a > b ? a : b;
  s->scratch = fftw_alloc_complex(most);
  fftw_complex *array = fftw_alloc_complex(most); /* stands for those that execute() is given */
  s->first = plan_of(s, s->backward, array, array, efforts[problem->effort]);
  s->last = plan_of(s, !s->backward, s->scratch, array, efforts[problem->effort]);
  fftw_free(array);
  *plan = s;
  if (s->first != NULL && s->last != NULL) return 0;
  strcpy(error, "FFTW made no plan");
  return 1;
}

int fourscore_boxes(void *plan, fourscore_box_t *before, fourscore_box_t *after) {
  const slab_t *s = plan;
  *before = s->backward ? s->columns : s->planes;
  *after = s->backward ? s->planes : s->columns;
  return 0;
}

/* Memory of the boxes' sizes will do. */
int fourscore_buffers(void *plan, fourscore_buffers_t *buffers) {
  (void)plan, (void)buffers;
  return 0;
}

int fourscore_set_phases(void *plan, const fourscore_phases_t *phases) {
  ((slab_t *)plan)->phases = *phases;
  return 0;
}

int fourscore_execute(void *plan, void *before, void *after) {
  const slab_t *s = plan;
  const fourscore_phases_t *p = &s->phases;
  p->begin(p->clock, FOURSCORE_FFT);
  fftw_execute_dft(s->first, before, before);
  p->begin(p->clock, FOURSCORE_EXCHANGE);
  MPI_Alltoallw(before, s->ones, s->zeros, s->send, s->scratch, s->ones, s->zeros, s->receive, s->comm);
  p->begin(p->clock, FOURSCORE_FFT);
  fftw_execute_dft(s->last, s->scratch, after);
  p->end(p->clock);
  return 0;
}

int fourscore_destroy(void *plan) {
  slab_t *s = plan;
  for (int r = 0; r < s->ranks; ++r) MPI_Type_free(&s->send[r]), MPI_Type_free(&s->receive[r]);
  fftw_destroy_plan(s->first), fftw_destroy_plan(s->last);
  fftw_free(s->scratch);
  free(s->ones), free(s->zeros), free(s->send), free(s->receive), free(s);
  return 0;
}
