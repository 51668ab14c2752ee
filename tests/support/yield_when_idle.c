// Loaded before MPICH's programs in tests (LD_PRELOAD). Open MPI gives its core away while it waits
// (mpi_yield_when_idle); MPICH 4.0 over UCX has no call of sched_yield at all and spins to the end of its slice, which
// with more ranks than cores makes a collective tens of times slower. Its waits go through
// ucp_worker_progress, which returns 0 when there was nothing to do: then this gives the core away.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>

unsigned ucp_worker_progress(void* worker) {
  static unsigned (*progress)(void*) = NULL;
  if (progress == NULL) {
    *(void**)&progress = dlsym(RTLD_NEXT, "ucp_worker_progress");
    if (progress == NULL) abort();
  }
  const unsigned done = progress(worker);
  if (done == 0) sched_yield();
  return done;
}
