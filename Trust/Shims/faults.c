// SPDX-License-Identifier: Apache-2.0
// Makes the n-th call of a function fail or lie: preloaded (LD_PRELOAD) by Trust/torture, and by nobody else.
//
//   FAULT=FUNCTION:N:KIND[:always]   the N-th call (from 1) of that function or its kin, and with `always` all later ones
//     KIND  a number: errno, and the call is not made (close is, as the kernel does it)
//           short    half of the bytes are passed on
//           end      as if nothing were there: 0
//           +S, -S   clock alone: the wall clock has jumped by so many seconds, from that call on
//   FAULT_LOG=FILE   counts of all calls, as the text of `struct log` below: it is mapped, so that it stays whatever
//                    becomes of the process, and goes on counting in the program that it starts; a new trial begins without it
//   FAULT_ALLOCATORS=NAME:NAME…   the libraries whose allocations count, by a part of their files' names; Swift traps
//                                 when it gets no memory (there is nobody to tell), so its own cannot be made to fail
//   FAULT_SPARES=A:B…  callers of epoll_ctl and eventfd that are left alone and not counted, by where they stand in their
//                      file: libdispatch, which ends the process when these fail, as the first thing that any Swift
//                      process does with tasks. Who called is in the log.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define FUNCTIONS(X)                                                                                                   \
  X(connect) X(send) X(recv) X(read) X(write) X(socket) X(bind) X(listen) X(accept) X(epoll_wait) X(epoll_ctl)         \
  X(eventfd) X(open) X(fsync) X(rename) X(unlink) X(ftruncate) X(stat) X(close) X(fcntl) X(sockopt) X(mmap) X(malloc)  \
  X(pthread_create) X(clock)

enum function {
#define NAME(name) F_##name,
  FUNCTIONS(NAME)
#undef NAME
  FUNCTION_COUNT
};
static const char *const names[] = {
#define NAME(name) #name,
  FUNCTIONS(NAME)
#undef NAME
};

enum { CALLERS = 64 };

struct log {
  _Atomic uint64_t counts[FUNCTION_COUNT];
  // How often the fault struck, and the file descriptor that it struck last.
  _Atomic uint64_t struck, programs;
  _Atomic int64_t descriptor;
  // For how many seconds libdispatch has slept, which it does where it gets no thread or no memory.
  _Atomic uint64_t slept;
  // Who called epoll_ctl and eventfd.
  _Atomic uint64_t callers[CALLERS];
  // The file of the code that crashed: libcurl.so.4.8.0.
  char crashed[64];
};

enum { SHORT = -1, END = -2 };

// A status that no scenario knows.
enum { LEAKS = 99 };

static struct log own_log, *logged = &own_log;
static int target = -1, kind, is_always, is_over;
static uint64_t nth;
static int64_t jump;
static struct { uintptr_t begin, end; } allocators[64];
static int allocator_count, spared_count;
static uint64_t spared[CALLERS];

static void note_allocators(const char *wanted) {
  FILE *maps = fopen("/proc/self/maps", "r");
  char line[1024];
  while (maps && fgets(line, sizeof line, maps)) {
    uintptr_t begin, end;
    char rights[5];
    const char *path = strchr(line, '/');
    if (!path || sscanf(line, "%lx-%lx %4s", &begin, &end, rights) != 3 || rights[2] != 'x') continue;
    char list[512];
    snprintf(list, sizeof list, "%s", wanted);
    for (char *rest = list, *name; (name = strsep(&rest, ":"));) {
      if (*name && strstr(path, name) && allocator_count < 64) {
        allocators[allocator_count].begin = begin;
        allocators[allocator_count++].end = end;
      }
    }
  }
  if (maps) fclose(maps);
}

// Notes whose code crashed: the first that is not the C library's, which does what it is told. Then the process dies of it.
static void crash(int signal) {
  (void)signal;
  void *frames[32];
  int count = backtrace(frames, 32);
  for (int each = 0; each < count && !logged->crashed[0]; each++) {
    Dl_info found;
    if (!dladdr(frames[each], &found) || !found.dli_fname) continue;
    const char *name = strrchr(found.dli_fname, '/');
    name = name ? name + 1 : found.dli_fname;
    if (strncmp(name, "libc.so", 7) && strncmp(name, "faults", 6)) snprintf(logged->crashed, sizeof logged->crashed, "%s", name);
  }
}

// Of the leak sanitizer, where it is preloaded as well.
extern void __lsan_init(void) __attribute__((weak));
extern int __lsan_do_recoverable_leak_check(void) __attribute__((weak));

static void end(void) { is_over = 1; }

__attribute__((constructor)) static void begin(void) {
  // It may come after us, and has to know of the signals below. What it calls as it looks is nobody's.
  if (__lsan_init) __lsan_init();
  atexit(end);
  const char *path = getenv("FAULT_LOG"), *wanted = getenv("FAULT_ALLOCATORS"), *fault = getenv("FAULT");
  if (path) {
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file >= 0 && ftruncate(file, sizeof(struct log)) == 0) {
      void *mapped = mmap(NULL, sizeof(struct log), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
      if (mapped != MAP_FAILED) logged = mapped;
    }
    close(file);
  }
  if (wanted) note_allocators(wanted);
  for (char *rest = getenv("FAULT_SPARES"); rest && *rest && spared_count < CALLERS; rest += *rest == ':')
    spared[spared_count++] = strtoull(rest, &rest, 16);
  struct sigaction action = {.sa_handler = crash, .sa_flags = (int)SA_RESETHAND};
  const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
  for (size_t each = 0; each < sizeof signals / sizeof *signals; each++) sigaction(signals[each], &action, NULL);
  void *frames[1];
  backtrace(frames, 1);  // It loads what it needs now.
  // What this function called does not count. (No setenv: Swift finds the arguments by where the environment lies.)
  if (atomic_fetch_add(&logged->programs, 1) == 0) {
    for (int each = 0; each < FUNCTION_COUNT; each++) logged->counts[each] = 0;
  }
  char name[32], what[32], times[16] = "";
  if (!fault || sscanf(fault, "%31[^:]:%lu:%31[^:]:%15s", name, &nth, what, times) < 3) return;
  is_always = !strcmp(times, "always");
  kind = !strcmp(what, "short") ? SHORT : !strcmp(what, "end") ? END : atoi(what);
  jump = atoll(what);
  for (int each = 0; each < FUNCTION_COUNT; each++)
    if (!strcmp(names[each], name)) target = each;
}

// Whether this call is the one: 0, or the kind of its fault.
static int strikes(enum function function, int descriptor) {
  if (is_over) return 0;
  uint64_t count = atomic_fetch_add(&logged->counts[function], 1) + 1;
  if ((int)function != target || !(count == nth || (is_always && count > nth))) return 0;
  atomic_fetch_add(&logged->struck, 1);
  atomic_store(&logged->descriptor, descriptor);
  if (kind > 0) errno = kind;
  return kind;
}

// Whether the caller is left alone.
static int is_spared(void *caller) {
  Dl_info found;
  uint64_t place = dladdr(caller, &found) ? (uintptr_t)caller - (uintptr_t)found.dli_fbase : 1;
  for (int each = 0; each < spared_count; each++)
    if (spared[each] == place) return 1;
  for (int each = 0; each < CALLERS; each++) {
    uint64_t free_place = 0;
    if (atomic_compare_exchange_strong(&logged->callers[each], &free_place, place) || free_place == place) break;
  }
  return 0;
}

#define REAL(name) ((__typeof__(&name))real(&real_##name, #name))
static void *real(void *_Atomic *found, const char *name) {
  if (!*found) *found = dlsym(RTLD_NEXT, name);
  return *found;
}

#define FAIL(function, descriptor, value)                                                                              \
  do {                                                                                                                 \
    int fault = strikes(F_##function, descriptor);                                                                     \
    if (fault > 0) return value;                                                                                       \
  } while (0)

// A function that fails with errno and a value, and is called otherwise.
#define FAILING(function, descriptor, value, result, name, parameters, ...)                                            \
  static void *_Atomic real_##name;                                                                                    \
  result name parameters {                                                                                             \
    FAIL(function, descriptor, value);                                                                                 \
    return REAL(name)(__VA_ARGS__);                                                                                    \
  }

// One that libdispatch may call.
#define WATCHED(function, descriptor, name, parameters, ...)                                                           \
  static void *_Atomic real_##name;                                                                                    \
  int name parameters {                                                                                                \
    if (!is_spared(__builtin_return_address(0))) FAIL(function, descriptor, -1);                                       \
    return REAL(name)(__VA_ARGS__);                                                                                    \
  }

// One that moves bytes: it may move fewer, or say that there are none.
#define MOVING(function, name, parameters, size, whole, half)                                                          \
  MOVING_AS(strikes(F_##function, fd), name, parameters, size, whole, half)
#define MOVING_AS(striking, name, parameters, size, whole, half)                                                       \
  static void *_Atomic real_##name;                                                                                    \
  ssize_t name parameters {                                                                                            \
    int fault = striking;                                                                                              \
    if (fault > 0) return -1;                                                                                          \
    if (fault == END) return 0;                                                                                        \
    if (fault == SHORT && (size) > 1) return REAL(name) half;                                                          \
    return REAL(name) whole;                                                                                           \
  }

// Where the other side has ended its connection there is something to read for ever, and no kernel says EAGAIN: SwiftNIO
// ends the process ("got .readEOF and read returned not reading any bytes, nor EOF").
static int read_fault(int fd) {
  struct pollfd ended = {.fd = fd, .events = POLLRDHUP};
  const struct timespec at_once = {0};
  int saved = errno, is_never = kind == EAGAIN && (int)F_read == target && ppoll(&ended, 1, &at_once, NULL) > 0;
  errno = saved;
  if (!is_never) return strikes(F_read, fd);
  atomic_fetch_add(&logged->counts[F_read], 1);
  return 0;
}

FAILING(connect, fd, -1, int, connect, (int fd, const struct sockaddr *a, socklen_t n), fd, a, n)
FAILING(socket, -1, -1, int, socket, (int domain, int type, int protocol), domain, type, protocol)
FAILING(bind, fd, -1, int, bind, (int fd, const struct sockaddr *a, socklen_t n), fd, a, n)
FAILING(listen, fd, -1, int, listen, (int fd, int n), fd, n)
FAILING(accept, fd, -1, int, accept, (int fd, struct sockaddr *a, socklen_t *n), fd, a, n)
FAILING(accept, fd, -1, int, accept4, (int fd, struct sockaddr *a, socklen_t *n, int flags), fd, a, n, flags)
WATCHED(epoll_ctl, fd, epoll_ctl, (int e, int op, int fd, struct epoll_event *event), e, op, fd, event)
WATCHED(epoll_ctl, -1, epoll_create1, (int flags), flags)
WATCHED(eventfd, -1, eventfd, (unsigned value, int flags), value, flags)
// Not eventfd_read and eventfd_write, which SwiftNIO calls: they fail by EAGAIN alone (eventfd(2)), of a counter that is
// empty or full.
FAILING(fsync, fd, -1, int, fsync, (int fd), fd)
FAILING(fsync, fd, -1, int, fdatasync, (int fd), fd)
FAILING(rename, -1, -1, int, rename, (const char *from, const char *to), from, to)
FAILING(unlink, -1, -1, int, unlink, (const char *path), path)
FAILING(ftruncate, fd, -1, int, ftruncate, (int fd, off_t size), fd, size)
FAILING(ftruncate, fd, -1, int, ftruncate64, (int fd, off64_t size), fd, size)
FAILING(stat, -1, -1, int, stat, (const char *path, struct stat *found), path, found)
FAILING(stat, -1, -1, int, lstat, (const char *path, struct stat *found), path, found)
FAILING(stat, fd, -1, int, fstat, (int fd, struct stat *found), fd, found)
FAILING(stat, -1, -1, int, stat64, (const char *path, struct stat64 *found), path, found)
FAILING(stat, -1, -1, int, lstat64, (const char *path, struct stat64 *found), path, found)
FAILING(stat, fd, -1, int, fstat64, (int fd, struct stat64 *found), fd, found)
FAILING(sockopt, fd, -1, int, getsockopt, (int fd, int l, int o, void *v, socklen_t *n), fd, l, o, v, n)
FAILING(sockopt, fd, -1, int, setsockopt, (int fd, int l, int o, const void *v, socklen_t n), fd, l, o, v, n)
FAILING(sockopt, fd, -1, int, getsockname, (int fd, struct sockaddr *a, socklen_t *n), fd, a, n)
FAILING(sockopt, fd, -1, int, getpeername, (int fd, struct sockaddr *a, socklen_t *n), fd, a, n)
FAILING(mmap, fd, MAP_FAILED, void *, mmap, (void *at, size_t n, int p, int f, int fd, off_t o), at, n, p, f, fd, o)
FAILING(mmap, fd, MAP_FAILED, void *, mmap64, (void *at, size_t n, int p, int f, int fd, off64_t o), at, n, p, f, fd, o)
FAILING(open, -1, NULL, FILE *, fopen, (const char *path, const char *mode), path, mode)
FAILING(open, -1, NULL, FILE *, fopen64, (const char *path, const char *mode), path, mode)

MOVING(send, send, (int fd, const void *b, size_t n, int f), n, (fd, b, n, f), (fd, b, n / 2, f))
MOVING(send, sendto, (int fd, const void *b, size_t n, int f, const struct sockaddr *a, socklen_t s), n,
       (fd, b, n, f, a, s), (fd, b, n / 2, f, a, s))
MOVING(send, sendmsg, (int fd, const struct msghdr *m, int f), 0, (fd, m, f), (fd, m, f))
MOVING(recv, recv, (int fd, void *b, size_t n, int f), n, (fd, b, n, f), (fd, b, n / 2, f))
MOVING(recv, recvfrom, (int fd, void *b, size_t n, int f, struct sockaddr *a, socklen_t *s), n, (fd, b, n, f, a, s),
       (fd, b, n / 2, f, a, s))
MOVING(recv, recvmsg, (int fd, struct msghdr *m, int f), 0, (fd, m, f), (fd, m, f))
MOVING_AS(read_fault(fd), read, (int fd, void *b, size_t n), n, (fd, b, n), (fd, b, n / 2))
MOVING(read, pread, (int fd, void *b, size_t n, off_t o), n, (fd, b, n, o), (fd, b, n / 2, o))
MOVING(read, pread64, (int fd, void *b, size_t n, off64_t o), n, (fd, b, n, o), (fd, b, n / 2, o))
MOVING(write, write, (int fd, const void *b, size_t n), n, (fd, b, n), (fd, b, n / 2))
MOVING(write, pwrite, (int fd, const void *b, size_t n, off_t o), n, (fd, b, n, o), (fd, b, n / 2, o))
MOVING(write, pwrite64, (int fd, const void *b, size_t n, off64_t o), n, (fd, b, n, o), (fd, b, n / 2, o))
MOVING(write, writev, (int fd, const struct iovec *v, int n), n, (fd, v, n), (fd, v, n / 2))

static void *_Atomic real_epoll_wait;
int epoll_wait(int fd, struct epoll_event *events, int count, int timeout) {
  int fault = strikes(F_epoll_wait, fd);
  if (fault) return fault > 0 ? -1 : 0;
  return REAL(epoll_wait)(fd, events, count, timeout);
}

static void *_Atomic real_poll;
int poll(struct pollfd *files, nfds_t count, int timeout) {
  int fault = strikes(F_epoll_wait, -1);
  if (fault) return fault > 0 ? -1 : 0;
  return REAL(poll)(files, count, timeout);
}

// Linux closes whatever it says (close(2)).
static void *_Atomic real_close;
int close(int fd) {
  int fault = strikes(F_close, fd), saved = errno, result = REAL(close)(fd);
  if (fault <= 0) return result;
  errno = saved;
  return -1;
}

static void *_Atomic real_pthread_create;
int pthread_create(pthread_t *made, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
  int fault = strikes(F_pthread_create, -1);
  return fault > 0 ? fault : REAL(pthread_create)(made, attributes, start, argument);
}

static void *_Atomic real_sleep;
unsigned sleep(unsigned seconds) {
  Dl_info found;
  unsigned left = REAL(sleep)(seconds);
  if (dladdr(__builtin_return_address(0), &found) && found.dli_fname && strstr(found.dli_fname, "libdispatch."))
    atomic_fetch_add(&logged->slept, seconds - left);
  return left;
}

// libdispatch looks once a second how its threads do, in /proc/THREAD/stat, and ends the process where it cannot ("workq:
// registered worker exited prematurely"), also for want of a descriptor.
static int is_dispatchs(const char *path) {
  if (strncmp(path, "/proc/", 6)) return 0;
  size_t digits = strspn(path + 6, "0123456789");
  return digits > 0 && !strcmp(path + 6 + digits, "/stat");
}

// The mode is passed on whether it was given or not, as the C library's own wrappers do.
#define OPENING(name)                                                                                                  \
  static void *_Atomic real_##name;                                                                                    \
  int name(const char *path, int flags, ...) {                                                                         \
    va_list list;                                                                                                      \
    va_start(list, flags);                                                                                             \
    mode_t mode = va_arg(list, mode_t);                                                                                \
    va_end(list);                                                                                                      \
    if (!is_dispatchs(path)) FAIL(open, -1, -1);                                                                       \
    return REAL(name)(path, flags, mode);                                                                              \
  }
OPENING(open)
OPENING(open64)

static void *_Atomic real_openat;
int openat(int folder, const char *path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  mode_t mode = va_arg(list, mode_t);
  va_end(list);
  FAIL(open, -1, -1);
  return REAL(openat)(folder, path, flags, mode);
}

#define CONTROLLING(name)                                                                                              \
  static void *_Atomic real_##name;                                                                                    \
  int name(int fd, int command, ...) {                                                                                 \
    va_list list;                                                                                                      \
    va_start(list, command);                                                                                           \
    void *argument = va_arg(list, void *);                                                                             \
    va_end(list);                                                                                                      \
    FAIL(fcntl, fd, -1);                                                                                               \
    return REAL(name)(fd, command, argument);                                                                          \
  }
CONTROLLING(fcntl)
CONTROLLING(fcntl64)

// --- Memory: by who asks ------------------------------------------------------------------------------------

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
// The leak sanitizer's, where it is preloaded as well: it knows what it has given itself.
extern void *__interceptor_malloc(size_t) __attribute__((weak));
extern void *__interceptor_calloc(size_t, size_t) __attribute__((weak));
extern void *__interceptor_realloc(void *, size_t) __attribute__((weak));

static void *memory(size_t size) { return __interceptor_malloc ? __interceptor_malloc(size) : __libc_malloc(size); }

static int is_refused(void *caller) {
  uintptr_t at = (uintptr_t)caller;
  for (int each = 0; each < allocator_count; each++)
    if (at >= allocators[each].begin && at < allocators[each].end) return strikes(F_malloc, -1) > 0;
  return 0;
}

void *malloc(size_t size) { return is_refused(__builtin_return_address(0)) ? NULL : memory(size); }
void *calloc(size_t count, size_t size) {
  if (is_refused(__builtin_return_address(0))) return NULL;
  return __interceptor_calloc ? __interceptor_calloc(count, size) : __libc_calloc(count, size);
}
void *realloc(void *old, size_t size) {
  if (is_refused(__builtin_return_address(0))) return NULL;
  return __interceptor_realloc ? __interceptor_realloc(old, size) : __libc_realloc(old, size);
}
char *strdup(const char *text) {
  size_t size = strlen(text) + 1;
  char *copy = is_refused(__builtin_return_address(0)) ? NULL : memory(size);
  return copy ? memcpy(copy, text, size) : NULL;
}

// dnsctl ends by _exit, where nobody else would look for what is lost.
static void *_Atomic real__exit;
void _exit(int status) {
  end();
  if (__lsan_do_recoverable_leak_check && __lsan_do_recoverable_leak_check()) status = LEAKS;
  REAL(_exit)(status);
  __builtin_unreachable();
}

// --- Time: the wall clock jumps, the monotonic one never does ----------------------------------------------

static int64_t jumped(void) {
  if (is_over) return 0;
  uint64_t count = atomic_fetch_add(&logged->counts[F_clock], 1) + 1;
  if (target != F_clock || count < nth) return 0;
  atomic_fetch_add(&logged->struck, 1);
  return jump;
}

static void *_Atomic real_clock_gettime;
int clock_gettime(clockid_t clock, struct timespec *now) {
  int result = REAL(clock_gettime)(clock, now);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += jumped();
  return result;
}

static void *_Atomic real_gettimeofday;
int gettimeofday(struct timeval *now, void *zone) {
  int result = REAL(gettimeofday)(now, zone);
  if (result == 0) now->tv_sec += jumped();
  return result;
}

static void *_Atomic real_time;
time_t time(time_t *now) {
  time_t result = REAL(time)(NULL) + jumped();
  if (now) *now = result;
  return result;
}
