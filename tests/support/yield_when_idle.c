// Loaded before MPICH's programs in tests (LD_PRELOAD). Open MPI gives its core away while it waits
// (mpi_yield_when_idle); MPICH 4.0 over UCX has no call of sched_yield at all and spins to the end of its slice, which
// with more ranks than cores makes a collective tens of times slower. Its waits go through
// ucp_worker_progress, which returns 0 when there was nothing to do: then this gives the core away, and after a while
// sleeps, since ranks that only hand a core to each other take it from the one that they all wait for. Between nodes
// none sleeps: some launches then did not end.
//
// Between nodes MPI_Finalize of MPICH 4.0 over UCX often does not return: a rank that has closed its connections waits
// for the launcher and no longer answers those that still close theirs (https://github.com/pmodels/mpich/pull/6596).
// Under Slurm and in a laboratory connections are therefore left open here; nothing is under way when a program calls
// MPI_Finalize.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

enum { turns_before_sleep = 20, sleep_ns = 50000, pause_ns = 5000 };

static void* next(const char* name) {
  void* function = dlsym(RTLD_NEXT, name);
  if (function == NULL) abort();
  return function;
}

static int is_between_nodes(void) {
  static int known = -1;
  if (known < 0) known = getenv("SLURM_STEP_ID") != NULL || getenv("FOURSCORE_LABORATORY") != NULL;
  return known;
}

static long long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1000000000LL * now.tv_sec + now.tv_nsec;
}

unsigned ucp_worker_progress(void* worker) {
  static unsigned (*progress)(void*) = NULL;
  if (progress == NULL) *(void**)&progress = next("ucp_worker_progress");
  static _Thread_local int idle_turns = 0;
  static _Thread_local long long last_ns = 0;
  // A rank that does other things between two looks does not wait.
  const int waits = now_ns() - last_ns < pause_ns;
  const unsigned done = progress(worker);
  idle_turns = done == 0 && waits ? idle_turns + 1 : 0;
  if (idle_turns > turns_before_sleep && !is_between_nodes())
    nanosleep(&(struct timespec){.tv_nsec = sleep_ns}, NULL);
  else if (done == 0)
    sched_yield();
  last_ns = now_ns();
  return done;
}

void* ucp_disconnect_nb(void* endpoint) {
  static void* (*disconnect)(void*) = NULL;
  if (is_between_nodes()) return NULL;  // done
  if (disconnect == NULL) *(void**)&disconnect = next("ucp_disconnect_nb");
  return disconnect(endpoint);
}
