/* SPDX-License-Identifier: MIT */
/*
 * What this process has given to others: a file of records, which a handle of
 * 64 bytes names by process, file descriptor, number and serial. Who has the
 * handle opens the file through /proc, as the kernel permits (ptrace(2), access
 * mode read: the same user, say), and finds what it was made for or that it is
 * gone. A random number in the file tells that it is still this process.
 * Everything that comes from a handle or another process is checked. All
 * thread-safe.
 */
#ifndef MC_CORE_DIRECTORY_H
#define MC_CORE_DIRECTORY_H

#include <stdint.h>

#include "mcr/mc_runtime_types.h"

#define MC_PIECES 2

typedef enum McRecordKind {
    MC_RECORD_MEMORY = 1,
    MC_RECORD_EVENT,
} McRecordKind;

/* A part of a file: multiples of 4096. */
typedef struct McFilePiece {
    int fd;
    uint64_t offset, size;
} McFilePiece;

/* Bytes: skip bytes behind the start of the first of the pieces, which follow
 * each other. */
typedef struct McShare {
    McFilePiece piece[MC_PIECES];
    unsigned pieces;
    uint64_t skip, size;
} McShare;

typedef struct McToken {
    char bytes[64]; /* mcIpcMemHandle_t, mcIpcEventHandle_t */
} McToken;

/* The number of a new record, for which the file descriptors stay open until it
 * is withdrawn. 0: no memory or no file descriptor. */
unsigned mc_directory_publish(McRecordKind kind, const McShare *share);
/* 0 is nothing. */
void mc_directory_withdraw(unsigned number);
void mc_directory_token(unsigned number, McToken *token);

/*
 * What a token of another process names, with file descriptors that are the
 * caller's. mcErrorInvalidValue: not a token of this kind;
 * mcErrorDeviceUninitialized: one of this process;
 * mcErrorMapBufferObjectFailed: the process has ended; mcErrorNotPermitted;
 * mcErrorInvalidResourceHandle: what it names is gone.
 */
mcError_t mc_directory_open(McRecordKind kind, const McToken *token,
                            McShare *share);
void mc_share_close(McShare *share);

#endif
