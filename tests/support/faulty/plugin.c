/* A plugin whose rank 0 holds all and transforms it by the definition; FAULT says what it does wrong, and a macro of
 * that name where it lacks a function. */
#include <complex.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fourscore.h"

enum {
  NONE,
  OTHER_VERSION,
  NO_DESTROY,
  NO_TRANSFORM,
  NAME_OF_OURS,
  NAME_WITH_SPACES,
  NAME_WITHOUT_END,
  KINDS,
  CREATE,
  SECOND_CREATE,
  OVERLAP,
  LEAVES_OUT,
  BEYOND_THE_SHAPE,
  ORDER,
  ONE_ARRAY,
  TWO_ARRAYS_IN_PLACE,
  EXECUTE,
  WRONG_DATA,
  WRITES_BEYOND,
  WRITES_FAR_BEYOND,
  CRASHES,
  HANGS,
  OPEN_REQUEST,
  THREADS,
  COST
};

typedef struct {
  int64_t n[3];
  int sign, rank, ranks;
  MPI_Comm comm;
  double complex *spare;
} plan_t;

static char error[200] = "";

int fourscore_plugin_version(void) { return FAULT == OTHER_VERSION ? 77 : FOURSCORE_PLUGIN_VERSION; }

const char *fourscore_last_error(void) { return error; }

int fourscore_describe(int index, fourscore_transform_t *transform) {
  if (index != 0 || FAULT == NO_TRANSFORM) return 1;
  strcpy(transform->name, FAULT == NAME_OF_OURS ? "pencil" : FAULT == NAME_WITH_SPACES ? "My FFT" : "by-definition");
  if (FAULT == NAME_WITHOUT_END) memset(transform->name, 'a', sizeof transform->name);
  strcpy(transform->summary, "rank 0 transforms everything by the definition");
  if (FAULT == KINDS) transform->kinds = 12;
  if (FAULT == THREADS) transform->thread_level = FOURSCORE_THREAD_MULTIPLE;
  return 0;
}

int fourscore_supports(int index, const fourscore_problem_t *problem, int ranks) {
  (void)index, (void)ranks;
  if (problem->shape[0] != 5) return 0;
  strcpy(error, "five planes are\none too many");
  return 1;
}

int fourscore_create(int index, const fourscore_problem_t *problem, int comm, void **plan) {
  (void)index;
  static int created = 0;
  strcpy(error, "out of plans");
  if (FAULT == CREATE || (FAULT == SECOND_CREATE && created++ > 0)) return 5;
  plan_t *p = calloc(1, sizeof *p);
  p->comm = MPI_Comm_f2c(comm);
  MPI_Comm_rank(p->comm, &p->rank);
  MPI_Comm_size(p->comm, &p->ranks);
  memcpy(p->n, problem->shape, sizeof p->n);
  p->sign = problem->direction == FOURSCORE_FORWARD ? -1 : 1;
  p->spare = malloc((size_t)(p->n[0] * p->n[1] * p->n[2] + 1) * sizeof *p->spare);
  *plan = p;
  return 0;
}

int fourscore_boxes(void *plan, fourscore_box_t *before, fourscore_box_t *after) {
  const plan_t *p = plan;
  fourscore_box_t box = {{0, 0, 0}, {0, 0, 0}, {0, 1, 2}};
  if (p->rank == 0 || FAULT == OVERLAP) memcpy(box.high, p->n, sizeof p->n);
  if (FAULT == LEAVES_OUT && p->rank == 0) box.high[0] -= 1;
  if (FAULT == BEYOND_THE_SHAPE && p->rank == 0) box.high[1] += 1;
  if (FAULT == ORDER) box.order[2] = 1;
  *before = *after = box;
  return 0;
}

int fourscore_buffers(void *plan, fourscore_buffers_t *buffers) {
  if (FAULT == ONE_ARRAY) buffers->before = ((plan_t *)plan)->spare;
  if (FAULT == TWO_ARRAYS_IN_PLACE) buffers->before = ((plan_t *)plan)->spare, buffers->after = buffers->before + 16;
  return 0;
}

static double complex root(const plan_t *p, const int64_t k[3], const int64_t j[3]) {
  double turns = 0;
  for (int a = 0; a < 3; ++a) turns += (double)(k[a] * j[a] % p->n[a]) / (double)p->n[a];
  return cexp(p->sign * 2 * acos(-1) * turns * I);
}

static void transform(const plan_t *p, const double complex *x, double complex *y) {
  int64_t k[3], j[3];
  for (k[0] = 0; k[0] < p->n[0]; ++k[0])
    for (k[1] = 0; k[1] < p->n[1]; ++k[1])
      for (k[2] = 0; k[2] < p->n[2]; ++k[2], ++y) {
        const double complex *value = x;
        *y = 0;
        for (j[0] = 0; j[0] < p->n[0]; ++j[0])
          for (j[1] = 0; j[1] < p->n[1]; ++j[1])
            for (j[2] = 0; j[2] < p->n[2]; ++j[2]) *y += *value++ * root(p, k, j);
      }
}

int fourscore_execute(void *plan, void *before, void *after) {
  const plan_t *p = plan;
  const size_t elements = (size_t)(p->n[0] * p->n[1] * p->n[2]);
  if (FAULT == EXECUTE) return strcpy(error, "no more"), 3;
  if (FAULT == HANGS) MPI_Recv(p->spare, 1, MPI_BYTE, (p->rank + 1) % p->ranks, 7, p->comm, MPI_STATUS_IGNORE);
  if (FAULT == CRASHES) abort();
  if (FAULT == OPEN_REQUEST) {
    MPI_Request request;
    MPI_Irecv(p->spare + elements, 1, MPI_BYTE, MPI_ANY_SOURCE, 7, p->comm, &request);
  }
  if (p->rank != 0) return 0;
  transform(p, before, p->spare);
  memcpy(after, p->spare, elements * sizeof *p->spare);
  if (FAULT == WRONG_DATA) ((double complex *)after)[elements - 1] *= 1.001;
  if (FAULT == WRITES_BEYOND) ((double complex *)after)[elements] = 1;
  if (FAULT == WRITES_FAR_BEYOND) ((char *)after)[elements * sizeof(double complex) + 8192] = 1;
  return 0;
}

#ifndef FAULT_NO_DESTROY
int fourscore_destroy(void *plan) {
  free(((plan_t *)plan)->spare), free(plan);
  return 0;
}
#endif

#ifdef FAULT_COST
int fourscore_cost(int index, const fourscore_problem_t *problem, int ranks, fourscore_cost_t *cost) {
  (void)index, (void)problem, (void)ranks;
  cost->flops = -1;
  return 0;
}
#endif
