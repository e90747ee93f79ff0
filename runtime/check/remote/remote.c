/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* secure_getenv */
#include "remote.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "../live.h"
#include "../options.h"
#include "../report.h"
#include "../thread.h"
#include "../tools.h"
#include "mxgpu/pte.h"

/* What a process may make us keep. */
#define ALLOCS_MAX  (1u << 20)
#define KERNELS_MAX (1u << 16)
#define SIZE_MAX_OF_ALLOC (1ull << 40)
#define OUT_MAX     (4u << 20)

typedef struct Kernel {
    uint64_t entry;
    bool wanted;
} Kernel;

/* Work that may use what was freed. */
typedef struct Until {
    struct Until *next;
    uint64_t number; /* of the allocation */
    bool ended;
} Until;

static bool present; /* there is a process; of the thread that serves it */
static unsigned allocs;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what follows */
static Kernel kernels[KERNELS_MAX];
static unsigned kernel_count;
static Until *untils;
static char *out; /* what the socket has not taken */
static size_t out_length, out_room;
static unsigned lost;
static int socket_fd = -1, wake_fd = -1;

/* ---- what goes ---- */

/* Under the lock. false: there is no room. */
static bool put(const McLinkRecord *r, const char *text, size_t length)
{
    size_t need = out_length + sizeof(*r) + length;

    if (need > OUT_MAX) {
        return false;
    }
    if (need > out_room) {
        size_t room = need < 65536 ? 65536 : OUT_MAX;
        char *more = realloc(out, room);

        if (!more) {
            return false;
        }
        out = more;
        out_room = room;
    }
    memcpy(out + out_length, r, sizeof(*r));
    if (length) {
        memcpy(out + out_length + sizeof(*r), text, length);
    }
    out_length = need;
    return true;
}

static void answer(const McLinkRecord *r)
{
    pthread_mutex_lock(&lock);
    (void)put(r, NULL, 0); /* a process that reads nothing waits for nothing */
    pthread_mutex_unlock(&lock);
}

void mc_remote_tell(enum McLinkType type, const char *text, size_t length)
{
    const McLinkRecord r = {.type = type, .flags = (uint32_t)length};
    const uint64_t one = 1;

    pthread_mutex_lock(&lock);
    lost += !put(&r, text, length);
    pthread_mutex_unlock(&lock);
    if (wake_fd >= 0) {
        (void)!write(wake_fd, &one, sizeof(one));
    }
}

static void tell_lost(void)
{
    unsigned n;

    pthread_mutex_lock(&lock);
    n = out_length ? 0 : lost;
    lost -= n;
    pthread_mutex_unlock(&lock);
    if (n) {
        mc_report_note("%u reports were lost: the process did not read them",
                       n);
    }
}

/* false: the socket is at its end. */
static bool send_some(void)
{
    ssize_t n = 0;

    pthread_mutex_lock(&lock);
    if (out_length) {
        n = send(socket_fd, out, out_length, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    if (n > 0) {
        out_length -= (size_t)n;
        memmove(out, out + n, out_length);
    }
    pthread_mutex_unlock(&lock);
    return n >= 0 || errno == EAGAIN || errno == EINTR;
}

/* ---- what the checkers ask ---- */

static Kernel *find(uint64_t entry)
{
    for (unsigned i = kernel_count; i > 0; i--) {
        if (kernels[i - 1].entry == entry) {
            return &kernels[i - 1];
        }
    }
    return NULL;
}

bool mc_kernels_wanted(uint64_t entry)
{
    const Kernel *k;
    bool wanted;

    pthread_mutex_lock(&lock);
    k = find(entry);
    wanted = !k || k->wanted;
    pthread_mutex_unlock(&lock);
    return wanted;
}

static bool until_ended(void *until, bool forget)
{
    Until *u = until;
    bool ended;

    pthread_mutex_lock(&lock);
    ended = u->ended;
    if (ended || forget) {
        for (Until **at = &untils; *at; at = &(*at)->next) {
            if (*at == u) {
                *at = u->next;
                break;
            }
        }
        free(u);
    }
    pthread_mutex_unlock(&lock);
    return ended;
}

/* ---- what comes ---- */

static void forget_all(void)
{
    mc_live_clear();
    allocs = 0;
    pthread_mutex_lock(&lock);
    kernel_count = 0;
    pthread_mutex_unlock(&lock);
}

static bool is_memory(uint64_t base, uint64_t size)
{
    return size && base < MXGPU_VA_LIMIT && size <= SIZE_MAX_OF_ALLOC &&
           size <= MXGPU_VA_LIMIT - base;
}

static void take_hello(const McLinkRecord *r)
{
    const McLinkRecord back = {.type = MC_LINK_HELLO, .a = MC_LINK_VERSION,
                               .b = r->b};

    forget_all();
    pthread_mutex_lock(&lock);
    out_length = 0; /* what another one did not read */
    lost = 0;
    pthread_mutex_unlock(&lock);
    present = r->a == MC_LINK_VERSION;
    answer(&back);
}

static void take_add(const McLinkRecord *r)
{
    const McAlloc a = {
        .base = r->a,
        .size = r->b,
        .kind = (McRangeKind)r->flags,
    };

    if (r->flags <= MC_RANGE_SPARSE && is_memory(a.base, a.size) &&
        allocs < ALLOCS_MAX && mc_live_add(&a)) {
        allocs++;
    }
}

static void take_remove(const McLinkRecord *r)
{
    Until *u = r->flags ? calloc(1, sizeof(*u)) : NULL;

    if (u) {
        u->number = r->b;
        pthread_mutex_lock(&lock);
        u->next = untils;
        untils = u;
        pthread_mutex_unlock(&lock);
    }
    if (mc_live_remove(r->a, &(McTrace){0}, u)) {
        allocs--;
    }
}

static void take_settled(uint64_t number)
{
    pthread_mutex_lock(&lock);
    for (Until *u = untils; u; u = u->next) {
        u->ended |= u->number == number;
    }
    pthread_mutex_unlock(&lock);
}

static void take_kernel(const McLinkRecord *r)
{
    Kernel *k;

    pthread_mutex_lock(&lock);
    k = find(r->a);
    if (!k && kernel_count < KERNELS_MAX) {
        k = &kernels[kernel_count++];
    }
    if (k) {
        *k = (Kernel){r->a, r->flags != 0};
    }
    pthread_mutex_unlock(&lock);
}

static void take_text(const McLinkRecord *r, int fd)
{
    size_t length = r->flags < 24 ? r->flags : 24;

    if (fd >= 0 && length) {
        (void)!write(fd, &r->a, length);
    }
}

/* What may be used at all is in arenas and allocations, and counted as one. */
static void take_arena(const McLinkRecord *r)
{
    if (r->flags && is_memory(r->a, r->b) && allocs < ALLOCS_MAX) {
        allocs += mc_live_arena(r->a, r->b, true);
    } else if (!r->flags) {
        mc_live_arena(r->a, 0, false);
        allocs -= allocs > 0;
    }
}

void mc_remote_take(const McLinkRecord *r)
{
    if (r->type == MC_LINK_HELLO) {
        take_hello(r);
        return;
    }
    if (!present) {
        return;
    }
    switch (r->type) {
    case MC_LINK_ADD:
        take_add(r);
        break;
    case MC_LINK_REMOVE:
        take_remove(r);
        break;
    case MC_LINK_SETTLED:
        take_settled(r->a);
        break;
    case MC_LINK_ARENA:
        take_arena(r);
        break;
    case MC_LINK_KERNEL:
        take_kernel(r);
        break;
    case MC_LINK_SYNC:
        answer(r);
        break;
    case MC_LINK_LOG:
        take_text(r, mc_check_options.log);
        break;
    case MC_LINK_STATUS:
        take_text(r, mc_check_options.status);
        break;
    case MC_LINK_BYE:
        forget_all();
        present = false;
        break;
    default:
        break; /* of a version that says more */
    }
}

/* Whole records; the number of bytes that are left. */
static size_t take_some(char *buffer, size_t length)
{
    size_t at = 0;
    McLinkRecord r;

    for (; length - at >= sizeof(r); at += sizeof(r)) {
        memcpy(&r, buffer + at, sizeof(r));
        mc_remote_take(&r);
    }
    memmove(buffer, buffer + at, length - at);
    return length - at;
}

/* ---- the thread that has the socket ---- */

static void *serve(void *opaque)
{
    static char in[8192];
    size_t length = 0;
    uint64_t count;

    (void)opaque;
    for (;;) {
        struct pollfd p[] = {
            {.fd = socket_fd, .events = POLLIN},
            {.fd = wake_fd, .events = POLLIN},
        };
        ssize_t n;

        pthread_mutex_lock(&lock);
        p[0].events |= out_length ? POLLOUT : 0;
        pthread_mutex_unlock(&lock);
        if (poll(p, 2, -1) < 0 && errno != EINTR) {
            break;
        }
        (void)!read(wake_fd, &count, sizeof(count));
        if (!send_some()) {
            break;
        }
        tell_lost();
        n = recv(socket_fd, in + length, sizeof(in) - length, MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
            break;
        }
        if (n > 0) {
            length = take_some(in, length + (size_t)n);
        }
    }
    forget_all(); /* nobody could be told */
    present = false;
    return NULL;
}

static bool connect_to(const char *path)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};

    if (strlen(path) >= sizeof(to.sun_path)) {
        errno = ENAMETOOLONG;
        return false;
    }
    strcpy(to.sun_path, path);
    socket_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return socket_fd >= 0 && wake_fd >= 0 &&
           connect(socket_fd, (struct sockaddr *)&to, sizeof(to)) == 0;
}

const char *mc_remote_start(void)
{
    const char *path = secure_getenv("MXGPU_MEMCHECK_SOCKET");

    mc_live_until_ended = until_ended;
    if (!path || !*path) {
        return "MXGPU_MEMCHECK_SOCKET is not set";
    }
    if (!connect_to(path)) {
        return strerror(errno);
    }
    return mc_check_thread(serve) ? NULL : "no thread";
}
