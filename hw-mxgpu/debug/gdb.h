/* SPDX-License-Identifier: MIT */
/*
 * The server's side of gdb's remote serial protocol (GDB manual, appendix
 * "Remote Protocol") for one thread of one machine: bytes in, bytes out, and a
 * table of what the machine can do. It knows no device, no socket and no
 * thread, trusts no byte that it is given, and calls back only from within the
 * functions here.
 */
#ifndef MXGPU_DEBUG_GDB_H
#define MXGPU_DEBUG_GDB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longest packet, without frame, that is taken and that replies have. */
#define MXGPU_GDB_PACKET 4096

/* Numbers of signals in the protocol, whatever the host's are. */
enum {
    MXGPU_GDB_SIGINT = 2,
    MXGPU_GDB_SIGILL = 4,
    MXGPU_GDB_SIGTRAP = 5,
    MXGPU_GDB_SIGABRT = 6,
    MXGPU_GDB_SIGBUS = 10,
    MXGPU_GDB_SIGSEGV = 11,
    MXGPU_GDB_SIGURG = 16, /* gdb neither stops for it nor shows it */
};

/* The kinds of "Z" packets. */
typedef enum MxgpuGdbPoint {
    MXGPU_GDB_BREAK_SOFTWARE,
    MXGPU_GDB_BREAK_HARDWARE,
    MXGPU_GDB_WATCH_WRITE,
    MXGPU_GDB_WATCH_READ,
    MXGPU_GDB_WATCH_ACCESS,
    MXGPU_GDB_POINTS,
} MxgpuGdbPoint;

/* Why the machine stands: a signal, and if it is SIGTRAP maybe what kind of
 * point it came to (MXGPU_GDB_POINTS: none), at which address of data. */
typedef struct MxgpuGdbStop {
    unsigned signal;
    MxgpuGdbPoint point;
    uint64_t addr;
    uint64_t thread; /* that it is about; of no meaning where there is one */
    bool library;    /* what libraries() gives has changed */
    bool oldest;     /* there is nothing to go back to */
} MxgpuGdbStop;

typedef struct MxgpuGdbResume {
    bool step;          /* one instruction */
    bool range;         /* or, with step: until pc leaves [low, high) */
    uint64_t low, high;
    bool back;          /* in reverse; where the machine can */
    unsigned signal;    /* to be delivered; 0: what was signalled is forgotten */
    /* Of several threads: the one that this is about, 0 when all run alike;
     * and whether the others run, too. */
    uint64_t thread;
    bool others;
} MxgpuGdbResume;

/* The conditions of a break point, one agent expression (agent.h) after the
 * other, each behind its length in two bytes, little-endian. It stops where one
 * of them holds; len 0: always. */
typedef struct MxgpuGdbConditions {
    const uint8_t *code;
    size_t len;
} MxgpuGdbConditions;

/* Takes text, of "monitor" commands for instance. */
typedef struct MxgpuGdbText {
    void (*put)(void *opaque, const char *text, size_t len);
    void *opaque;
} MxgpuGdbText;

typedef struct MxgpuGdbOps {
    /* The first packet of a debugger: the machine stops, if it runs, and the
     * stop returned is told to it. */
    MxgpuGdbStop (*attach)(void *opaque);
    /* The debugger leaves: no points any more, and the machine runs. */
    void (*detach)(void *opaque);
    /* Runs the machine until mxgpu_gdb_stopped() is called, which may be at
     * once; reverses: it can go back, too. */
    bool reverses;
    void (*resume)(void *opaque, const MxgpuGdbResume *how);
    /* Of a running machine, which stands when this returns: at the thread
     * returned. */
    uint64_t (*halt)(void *opaque);
    /* Registers by the numbers of the target description, each of so many
     * bytes, 4 or 8; those below `registers` are sent together. false: there is
     * no such register. */
    unsigned word;
    unsigned registers;
    bool (*read_register)(void *opaque, unsigned number, uint64_t *value);
    bool (*write_register)(void *opaque, unsigned number, uint64_t value);
    /* How many bytes from addr on could be read; all or nothing is written. */
    size_t (*read_memory)(void *opaque, uint64_t addr, uint8_t *buf,
                          size_t len);
    bool (*write_memory)(void *opaque, uint64_t addr, const uint8_t *buf,
                         size_t len);
    /* when: of break points, and only if evaluates is set. */
    bool evaluates;
    bool (*insert)(void *opaque, MxgpuGdbPoint point, uint64_t addr,
                   uint64_t len, MxgpuGdbConditions when);
    bool (*remove)(void *opaque, MxgpuGdbPoint point, uint64_t addr,
                   uint64_t len);
    /* A command of the user. */
    void (*monitor)(void *opaque, const char *command, MxgpuGdbText text);
    /* XML documents, valid until the next call; NULL: there is none. The last
     * two may be NULL. fresh: not the rest of one that was begun. */
    const char *(*description)(void *opaque);
    const char *(*memory_map)(void *opaque);
    const char *(*threads)(void *opaque, bool fresh);
    const char *(*libraries)(void *opaque, bool fresh);
    /* With threads: chooses the one whose registers and memory are meant from
     * now on; false: there is none. And whether there is such a one. */
    bool (*select)(void *opaque, uint64_t thread);
    bool (*alive)(void *opaque, uint64_t thread);
    /* Bytes for the debugger. Never waits. */
    void (*output)(void *opaque, const void *bytes, size_t len);
} MxgpuGdbOps;

typedef struct MxgpuGdb MxgpuGdb;

MxgpuGdb *mxgpu_gdb_new(const MxgpuGdbOps *ops, void *opaque);
void mxgpu_gdb_free(MxgpuGdb *gdb);
/* Bytes of the debugger, in pieces of any length. */
void mxgpu_gdb_input(MxgpuGdb *gdb, const uint8_t *bytes, size_t len);
/* The connection is gone: a debugger that was there is detached. */
void mxgpu_gdb_close(MxgpuGdb *gdb);
/* The machine, which ran, stands. */
void mxgpu_gdb_stopped(MxgpuGdb *gdb, const MxgpuGdbStop *stop);
/* The machine, which ran, is no more. */
void mxgpu_gdb_exited(MxgpuGdb *gdb);
/* A line for the user, if the machine runs: the debugger listens then only. */
void mxgpu_gdb_say(MxgpuGdb *gdb, const char *text);
bool mxgpu_gdb_attached(const MxgpuGdb *gdb);

#endif
