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
    uint32_t addr;
} MxgpuGdbStop;

typedef struct MxgpuGdbResume {
    bool step;          /* one instruction */
    bool range;         /* or, with step: until pc leaves [low, high) */
    uint32_t low, high;
    unsigned signal;    /* to be delivered; 0: what was signalled is forgotten */
} MxgpuGdbResume;

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
    /* Runs the machine until mxgpu_gdb_stopped() is called. */
    void (*resume)(void *opaque, const MxgpuGdbResume *how);
    /* Of a running machine, which stands when this returns. */
    void (*halt)(void *opaque);
    /* Registers of 32 bits by the numbers of the target description; those
     * below `registers` are sent together. false: there is no such register. */
    unsigned registers;
    bool (*read_register)(void *opaque, unsigned number, uint32_t *value);
    bool (*write_register)(void *opaque, unsigned number, uint32_t value);
    /* How many bytes from addr on could be read; all or nothing is written. */
    size_t (*read_memory)(void *opaque, uint32_t addr, uint8_t *buf,
                          size_t len);
    bool (*write_memory)(void *opaque, uint32_t addr, const uint8_t *buf,
                         size_t len);
    bool (*insert)(void *opaque, MxgpuGdbPoint point, uint32_t addr,
                   uint32_t len);
    bool (*remove)(void *opaque, MxgpuGdbPoint point, uint32_t addr,
                   uint32_t len);
    /* A command of the user. */
    void (*monitor)(void *opaque, const char *command, MxgpuGdbText text);
    /* XML documents, valid until the next call; NULL: there is none. */
    const char *(*description)(void *opaque);
    const char *(*memory_map)(void *opaque);
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
/* A line for the user, if the machine runs: the debugger listens then only. */
void mxgpu_gdb_say(MxgpuGdb *gdb, const char *text);
bool mxgpu_gdb_attached(const MxgpuGdb *gdb);

#endif
