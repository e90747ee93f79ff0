/* SPDX-License-Identifier: MIT */
/*
 * Between a process in a virtual machine, whose kernels run in QEMU, and the
 * checker there (remote/): a port of virtio-serial, which one process at a time
 * can have. The process tells of its memory and kernels, the checker of their
 * mistakes, in records; what those mean in the source the process knows.
 */
#ifndef MC_CHECK_LINK_H
#define MC_CHECK_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MC_LINK_VERSION 1

enum McLinkType {
    /* From the process. */
    MC_LINK_HELLO = 1, /* a: version, b: any number; it comes back */
    MC_LINK_ADD,       /* flags: kind, a: address, b: size, c: number */
    MC_LINK_REMOVE,    /* a: address, b: number; flags: work may use it that
                        * runs, until ... */
    MC_LINK_SETTLED,   /* ... a: number; none does any more */
    MC_LINK_ARENA,     /* flags: it comes, a: address, b: size */
    MC_LINK_KERNEL,    /* flags: it is to be checked, a: entry */
    MC_LINK_SYNC,      /* a: a number that comes back */
    MC_LINK_LOG,       /* flags: bytes of a, b, c, which are text: for a file */
    MC_LINK_STATUS,    /* the same */
    MC_LINK_BYE,       /* nothing of it is checked any more */
    /* To the process. */
    MC_LINK_REPORT, /* flags: bytes of text behind this (remote/report.c) */
    MC_LINK_NOTE,   /* the same */
};

/* Little endian, as both machines are. */
typedef struct McLinkRecord {
    uint32_t type, flags;
    uint64_t a, b, c;
} McLinkRecord;

#define MC_LINK_TEXT_MAX 16384

/* What the process is told, and a call every so often: from a thread that waits
 * for nothing else. */
typedef struct McLinkUser {
    void (*text)(enum McLinkType type, char *text, size_t length);
    void (*idle)(void);
} McLinkUser;

/* port: a device file, or the name of a port, which is opened when there is
 * something to tell; until then, and without a port, it is off. */
void mc_link_prepare(const char *port, const McLinkUser *user);
bool mc_link_on(void);
bool mc_link_ready(void); /* opens it if need be */
/* Why it is not ready; NULL: there is no port. */
const char *mc_link_why_not(void);
/* These do nothing when it is off. */
void mc_link_send(enum McLinkType type, uint32_t flags, uint64_t a, uint64_t b,
                  uint64_t c);
void mc_link_text(enum McLinkType type, const char *text, size_t length);
/* Returns when the checker knows all that was sent. */
void mc_link_sync(void);
/* ... and the user all that the checker has said. */
void mc_link_drain(void);

#endif
