// Loaded before a program (LD_PRELOAD), it adds a line to the file FOURSCORE_STARTS for each program that the process, or
// one below it, starts: the words of its command, with tabs between them.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void say(char* const words[]) {
  char line[4096];
  size_t used = 0;
  const char* name = getenv("FOURSCORE_STARTS");
  const int file = name == NULL ? -1 : open(name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) return;
  for (; *words != NULL; ++words)
    for (const char* letter = *words; used < sizeof(line) - 1; ++letter) {
      line[used++] = *letter == '\0' ? '\t' : *letter == '\n' || *letter == '\t' ? ' ' : *letter;
      if (*letter == '\0') break;
    }
  if (used > 0) --used;
  line[used++] = '\n';
  if (write(file, line, used) < 0) abort();
  close(file);
}

static void* next(const char* name) {
  void* function = dlsym(RTLD_NEXT, name);
  if (function == NULL) abort();
  return function;
}

int execve(const char* path, char* const words[], char* const environment[]) {
  int (*real)(const char*, char* const[], char* const[]);
  *(void**)&real = next("execve");
  say(words);
  return real(path, words, environment);
}

int execv(const char* path, char* const words[]) { return execve(path, words, environ); }

int execvp(const char* name, char* const words[]) {
  int (*real)(const char*, char* const[]);
  *(void**)&real = next("execvp");
  say(words);
  return real(name, words);
}

int posix_spawn(pid_t* process, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, char* const words[], char* const environment[]) {
  int (*real)(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*, char* const[],
              char* const[]);
  *(void**)&real = next("posix_spawn");
  say(words);
  return real(process, path, actions, attributes, words, environment);
}

int posix_spawnp(pid_t* process, const char* name, const posix_spawn_file_actions_t* actions,
                 const posix_spawnattr_t* attributes, char* const words[], char* const environment[]) {
  int (*real)(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*, char* const[],
              char* const[]);
  *(void**)&real = next("posix_spawnp");
  say(words);
  return real(process, name, actions, attributes, words, environment);
}
