/*
 * Records what a process writes below one directory: LD_PRELOAD=recorder.so CRASH_ROOT=directory CRASH_LOG=file.
 *
 * Each record is a header of 32 bytes (little endian), one or two paths relative to the directory, then data:
 *   0 kind, 4 length of the first path, 8 of the second, 12 of the data, 16 inode, 24 offset or size
 * A call and its record happen under one lock, so the order of the log is an order in which it all can have happened.
 * Shared memory of SQLite (-shm) is left out: it is made anew after a crash.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { CREATE = 1, TRUNCATE, WRITE, SYNC, SYNC_DIRECTORY, RENAME, UNLINK };

#define MOST_FILES 8192
#define NOT_OURS 0
#define OUR_FILE 1
#define OUR_DIRECTORY 2

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char root[4096];
static size_t root_length;
static int log_file = -1;
/* What each descriptor is, the inode of a file, the path of a directory. */
static char kinds[MOST_FILES];
static uint64_t inodes[MOST_FILES];
static char *directories[MOST_FILES];

#define REAL(name) ((__typeof__(&name))real(#name))

static void *real(const char *name) {
  return dlsym(RTLD_NEXT, name);
}

__attribute__((constructor)) static void begin(void) {
  const char *directory = getenv("CRASH_ROOT");
  const char *log = getenv("CRASH_LOG");
  if (directory == NULL || log == NULL || strlen(directory) >= sizeof root) return;
  strcpy(root, directory);
  root_length = strlen(root);
  log_file = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

/* The path below the directory; NULL for any other, and for shared memory. */
static const char *below(const char *path) {
  if (log_file < 0 || path == NULL || strncmp(path, root, root_length) != 0) return NULL;
  if (path[root_length] == 0) return path + root_length;
  if (path[root_length] != '/') return NULL;
  size_t length = strlen(path);
  if (length > 4 && strcmp(path + length - 4, "-shm") == 0) return NULL;
  return path + root_length + 1;
}

static void record(int kind, const char *first, const char *second, uint64_t inode, uint64_t at, const void *data,
                   size_t length) {
  unsigned char header[32] = {0};
  uint32_t first_length = first == NULL ? 0 : (uint32_t)strlen(first);
  uint32_t second_length = second == NULL ? 0 : (uint32_t)strlen(second);
  uint32_t data_length = (uint32_t)length;
  header[0] = (unsigned char)kind;
  memcpy(header + 4, &first_length, 4);
  memcpy(header + 8, &second_length, 4);
  memcpy(header + 12, &data_length, 4);
  memcpy(header + 16, &inode, 8);
  memcpy(header + 24, &at, 8);
  struct iovec parts[4] = {
      {header, sizeof header}, {(void *)first, first_length}, {(void *)second, second_length}, {(void *)data, length}};
  size_t whole = sizeof header + first_length + second_length + length;
  if (syscall(SYS_writev, log_file, parts, 4) == (long)whole) return;
  fprintf(stderr, "recorder: the log cannot be written\n");
  abort();
}

/* What a descriptor is. Some are closed past `close`: then the same number is another file, a socket, or the like. */
static int kind_of(int descriptor) {
  struct stat found;
  if (descriptor < 0 || descriptor >= MOST_FILES || kinds[descriptor] == NOT_OURS) return NOT_OURS;
  if (fstat(descriptor, &found) == 0 && found.st_ino == inodes[descriptor] &&
      (kinds[descriptor] == OUR_FILE ? S_ISREG(found.st_mode) : S_ISDIR(found.st_mode))) {
    return kinds[descriptor];
  }
  return kinds[descriptor] = NOT_OURS;
}

static int is_our_file(int descriptor) {
  return kind_of(descriptor) == OUR_FILE;
}

static int open_and_record(int at, const char *path, int flags, mode_t mode) {
  const char *ours = at == AT_FDCWD || (path != NULL && path[0] == '/') ? below(path) : NULL;
  if (ours == NULL) return (int)syscall(SYS_openat, at, path, flags, mode);
  pthread_mutex_lock(&lock);
  struct stat found;
  int existed = stat(path, &found) == 0;
  int descriptor = (int)syscall(SYS_openat, at, path, flags, mode);
  int error = errno;
  if (descriptor >= MOST_FILES) {
    fprintf(stderr, "recorder: too many files are open\n");
    abort();
  }
  if (descriptor >= 0 && fstat(descriptor, &found) == 0) {
    inodes[descriptor] = found.st_ino;
    if (S_ISDIR(found.st_mode)) {
      kinds[descriptor] = OUR_DIRECTORY;
      free(directories[descriptor]);
      directories[descriptor] = strdup(ours);
    } else if (S_ISREG(found.st_mode)) {
      kinds[descriptor] = OUR_FILE;
      if (!existed) record(CREATE, ours, NULL, found.st_ino, 0, NULL, 0);
      else if (flags & O_TRUNC) record(TRUNCATE, NULL, NULL, found.st_ino, 0, NULL, 0);
    }
  }
  pthread_mutex_unlock(&lock);
  errno = error;
  return descriptor;
}

#define MODE_OF(flags, last)            \
  mode_t mode = 0;                      \
  if ((flags) & (O_CREAT | O_TMPFILE)) { \
    va_list rest;                       \
    va_start(rest, last);               \
    mode = va_arg(rest, mode_t);        \
    va_end(rest);                       \
  }

int open(const char *path, int flags, ...) {
  MODE_OF(flags, flags)
  return open_and_record(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  MODE_OF(flags, flags)
  return open_and_record(AT_FDCWD, path, flags, mode);
}

int openat(int at, const char *path, int flags, ...) {
  MODE_OF(flags, flags)
  return open_and_record(at, path, flags, mode);
}

int openat64(int at, const char *path, int flags, ...) {
  MODE_OF(flags, flags)
  return open_and_record(at, path, flags, mode);
}

int close(int descriptor) {
  if (log_file >= 0 && descriptor == log_file) return 0;
  pthread_mutex_lock(&lock);
  if (descriptor >= 0 && descriptor < MOST_FILES) {
    kinds[descriptor] = NOT_OURS;
    free(directories[descriptor]);
    directories[descriptor] = NULL;
  }
  int result = (int)syscall(SYS_close, descriptor);
  pthread_mutex_unlock(&lock);
  return result;
}

/* Writes at an offset, or where the file stands; `parts` as writev has them. */
static ssize_t write_and_record(int descriptor, const struct iovec *parts, int count, int positioned, off_t at) {
  if (!is_our_file(descriptor)) {
    return positioned ? REAL(pwritev)(descriptor, parts, count, at) : REAL(writev)(descriptor, parts, count);
  }
  pthread_mutex_lock(&lock);
  ssize_t written = positioned ? REAL(pwritev)(descriptor, parts, count, at) : REAL(writev)(descriptor, parts, count);
  int error = errno;
  if (written > 0) {
    if (!positioned) at = lseek(descriptor, 0, SEEK_CUR) - written;
    size_t left = (size_t)written;
    for (int i = 0; i < count && left > 0; i++) {
      size_t length = parts[i].iov_len < left ? parts[i].iov_len : left;
      if (length > 0) record(WRITE, NULL, NULL, inodes[descriptor], (uint64_t)at, parts[i].iov_base, length);
      at += (off_t)length;
      left -= length;
    }
  }
  pthread_mutex_unlock(&lock);
  errno = error;
  return written;
}

ssize_t write(int descriptor, const void *bytes, size_t length) {
  if (!is_our_file(descriptor)) return syscall(SYS_write, descriptor, bytes, length);
  struct iovec part = {(void *)bytes, length};
  return write_and_record(descriptor, &part, 1, 0, 0);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t length, off_t at) {
  if (!is_our_file(descriptor)) return syscall(SYS_pwrite64, descriptor, bytes, length, at);
  struct iovec part = {(void *)bytes, length};
  return write_and_record(descriptor, &part, 1, 1, at);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t length, off64_t at) {
  return pwrite(descriptor, bytes, length, at);
}

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
  return write_and_record(descriptor, parts, count, 0, 0);
}

ssize_t pwritev(int descriptor, const struct iovec *parts, int count, off_t at) {
  return write_and_record(descriptor, parts, count, 1, at);
}

ssize_t pwritev64(int descriptor, const struct iovec *parts, int count, off64_t at) {
  return write_and_record(descriptor, parts, count, 1, at);
}

int ftruncate(int descriptor, off_t size) {
  pthread_mutex_lock(&lock);
  int result = (int)syscall(SYS_ftruncate, descriptor, size);
  if (result == 0 && is_our_file(descriptor)) {
    record(TRUNCATE, NULL, NULL, inodes[descriptor], (uint64_t)size, NULL, 0);
  }
  pthread_mutex_unlock(&lock);
  return result;
}

int ftruncate64(int descriptor, off64_t size) {
  return ftruncate(descriptor, size);
}

static int sync_and_record(int descriptor, long call) {
  pthread_mutex_lock(&lock);
  int result = (int)syscall(call, descriptor);
  int error = errno;
  if (result == 0) {
    int kind = kind_of(descriptor);
    if (kind == OUR_FILE) record(SYNC, NULL, NULL, inodes[descriptor], 0, NULL, 0);
    if (kind == OUR_DIRECTORY) record(SYNC_DIRECTORY, directories[descriptor], NULL, 0, 0, NULL, 0);
  }
  pthread_mutex_unlock(&lock);
  errno = error;
  return result;
}

int fsync(int descriptor) {
  return sync_and_record(descriptor, SYS_fsync);
}

int fdatasync(int descriptor) {
  return sync_and_record(descriptor, SYS_fdatasync);
}

static int rename_and_record(int from_at, const char *from, int to_at, const char *to, unsigned flags) {
  pthread_mutex_lock(&lock);
  int result = (int)syscall(SYS_renameat2, from_at, from, to_at, to, flags);
  int error = errno;
  const char *source = below(from);
  const char *target = below(to);
  if (result == 0 && source != NULL && target != NULL) record(RENAME, source, target, 0, 0, NULL, 0);
  pthread_mutex_unlock(&lock);
  errno = error;
  return result;
}

int rename(const char *from, const char *to) {
  return rename_and_record(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int renameat(int from_at, const char *from, int to_at, const char *to) {
  return rename_and_record(from_at, from, to_at, to, 0);
}

int renameat2(int from_at, const char *from, int to_at, const char *to, unsigned flags) {
  return rename_and_record(from_at, from, to_at, to, flags);
}

static int unlink_and_record(int at, const char *path, int flags) {
  pthread_mutex_lock(&lock);
  int result = (int)syscall(SYS_unlinkat, at, path, flags);
  int error = errno;
  const char *ours = below(path);
  if (result == 0 && ours != NULL && (flags & AT_REMOVEDIR) == 0) record(UNLINK, ours, NULL, 0, 0, NULL, 0);
  pthread_mutex_unlock(&lock);
  errno = error;
  return result;
}

int unlink(const char *path) {
  return unlink_and_record(AT_FDCWD, path, 0);
}

int unlinkat(int at, const char *path, int flags) {
  return unlink_and_record(at, path, flags);
}
