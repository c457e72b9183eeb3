// SPDX-License-Identifier: Apache-2.0
/* Runs a command and prints its peak memory: `peak_kb=KILOBYTES`.

     peak-memory COMMAND [ARGUMENT]…

   A process inherits the peak of the one that starts it, up to its exec: a big interpreter would see its own
   size in every child. This program is small.                                                                */
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
  if (argc < 2) return 64;
  pid_t child = fork();
  if (child == 0) {
    dup2(open("/dev/null", O_WRONLY), 1);
    execvp(argv[1], argv + 1);
    _exit(127);
  }
  int status;
  struct rusage usage;
  if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0) return 1;
#ifdef __APPLE__
  usage.ru_maxrss /= 1024;
#endif
  printf("peak_kb=%ld\n", (long)usage.ru_maxrss);
  return 0;
}
