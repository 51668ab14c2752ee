// Loaded before a program (LD_PRELOAD), it makes a file system without locks of all below a folder: flock(2) and the
// locks of fcntl(2) fail there. FOURSCORE_NO_LOCKS is an errno and the folder, as "38 /scratch": ENOSYS on Lustre mounted
// without `flock`, ENOLCK on NFS without a lock daemon, EOPNOTSUPP on some file systems of FUSE.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void* next(const char* name) {
  void* function = dlsym(RTLD_NEXT, name);
  if (function == NULL) abort();
  return function;
}

/// The errno of the file's file system; 0 where it has locks.
static int lacking(int file) {
  char link[64], path[PATH_MAX + 1] = "";
  char* folder = NULL;
  const char* said = getenv("FOURSCORE_NO_LOCKS");
  const long error = said == NULL ? 0 : strtol(said, &folder, 10);
  snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
  if (error == 0 || readlink(link, path, PATH_MAX) < 0) return 0;
  return strncmp(path, folder + 1, strlen(folder + 1)) == 0 ? (int)error : 0;
}

static int refuse(int error) {
  static int refused = 0;
  const int most = 100;  // far more than who asks once for each file
  if (++refused > most) {
    fprintf(stderr, "no_locks: asked %d times for locks that are not there\n", most);
    _exit(99);
  }
  errno = error;
  return -1;
}

int flock(int file, int operation) {
  static int (*real)(int, int) = NULL;
  const int error = lacking(file);
  if (real == NULL) *(void**)&real = next("flock");
  return error != 0 ? refuse(error) : real(file, operation);
}

static int control(int file, int command, void* argument) {
  static int (*real)(int, int, ...) = NULL;
  const int is_lock = command == F_SETLK || command == F_SETLKW || command == F_GETLK || command == F_OFD_SETLK ||
                      command == F_OFD_SETLKW || command == F_OFD_GETLK;
  const int error = is_lock ? lacking(file) : 0;
  if (real == NULL) *(void**)&real = next("fcntl64");
  return error != 0 ? refuse(error) : real(file, command, argument);
}

#define FORWARD(name)                                \
  int name(int file, int command, ...) {             \
    va_list arguments;                               \
    va_start(arguments, command);                    \
    void* const argument = va_arg(arguments, void*); \
    va_end(arguments);                               \
    return control(file, command, argument);         \
  }
FORWARD(fcntl)
FORWARD(fcntl64)
