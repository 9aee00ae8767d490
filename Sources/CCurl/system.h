#ifndef LAYOVER_CCURL_SYSTEM_H
#define LAYOVER_CCURL_SYSTEM_H

/* What drives libcurl on Linux and is not in Swift's Glibc module. */
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* memfd_create(2) with MFD_CLOEXEC, whose declaration needs _GNU_SOURCE. */
static inline int layover_memfd(const char *name) {
    long syscall(long number, ...);
    return (int)syscall(SYS_memfd_create, name, 1U);
}

/* Names the calling thread, for ps(1) and debuggers (prctl(2)). */
static inline void layover_name_thread(const char *name) {
    prctl(PR_SET_NAME, name, 0L, 0L, 0L);
}

#endif
