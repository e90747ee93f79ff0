/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "gdb.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/debug.h"

/* A debugger that does not read its replies is not read from either. */
#define OUT_ENOUGH 65536

struct MxgpuSimGdb {
    MxgpuDevice *dev;
    MxgpuDebugged which;
    int listener, wake, conn; /* conn: of the thread, -1: none */
    char path[108];           /* of a Unix socket, else empty */
    pthread_t thread;
    bool has_thread;

    pthread_mutex_t lock;
    bool quit;
    char *out; /* not sent yet */
    size_t out_len, out_size;
};

/* ---- from the device's threads */

static void wake(MxgpuSimGdb *g)
{
    uint64_t one = 1;
    ssize_t n;

    do {
        n = write(g->wake, &one, sizeof(one));
    } while (n < 0 && errno == EINTR);
}

static void op_output(void *host, const void *bytes, size_t len)
{
    MxgpuSimGdb *g = host;

    pthread_mutex_lock(&g->lock);
    if (g->out_len + len > g->out_size) {
        size_t size = 2 * (g->out_len + len);
        char *out = realloc(g->out, size);

        if (out) {
            g->out = out;
            g->out_size = size;
        }
    }
    if (g->out_len + len <= g->out_size) {
        memcpy(g->out + g->out_len, bytes, len);
        g->out_len += len;
    }
    pthread_mutex_unlock(&g->lock);
    wake(g);
}

static void op_ready(void *host)
{
    wake(host);
}

static const MxgpuDebugOps gdb_ops = {op_output, op_ready};

/* ---- the thread */

static void take_connection(MxgpuSimGdb *g)
{
    int one = 1;

    g->conn = accept4(g->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (g->conn < 0) {
        return;
    }
    /* Each packet waits for the one before. Of no effect on a Unix socket. */
    setsockopt(g->conn, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    pthread_mutex_lock(&g->lock);
    g->out_len = 0; /* of an earlier connection */
    pthread_mutex_unlock(&g->lock);
}

static void drop_connection(MxgpuSimGdb *g)
{
    close(g->conn);
    g->conn = -1;
    mxgpu_device_gdb_close(g->dev, g->which);
}

/* false: the connection is gone. */
static bool receive(MxgpuSimGdb *g)
{
    char buf[4096];
    size_t room = mxgpu_device_gdb_room(g->dev, g->which);
    ssize_t n;

    if (!room) {
        return true;
    }
    n = recv(g->conn, buf, room < sizeof(buf) ? room : sizeof(buf), 0);
    if (n > 0) {
        mxgpu_device_gdb_input(g->dev, g->which, buf, (size_t)n);
    }
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

static bool transmit(MxgpuSimGdb *g)
{
    ssize_t n = 0;

    pthread_mutex_lock(&g->lock);
    if (g->out_len) {
        n = send(g->conn, g->out, g->out_len, MSG_NOSIGNAL);
        if (n > 0) {
            g->out_len -= (size_t)n;
            memmove(g->out, g->out + n, g->out_len);
        }
    }
    pthread_mutex_unlock(&g->lock);
    return n >= 0 || errno == EAGAIN || errno == EINTR;
}

/* What to wait for on the connection. */
static short wanted(MxgpuSimGdb *g)
{
    short events = mxgpu_device_gdb_room(g->dev, g->which) ? POLLIN : 0;

    pthread_mutex_lock(&g->lock);
    if (g->out_len) {
        events = g->out_len < OUT_ENOUGH ? events | POLLOUT : POLLOUT;
    }
    pthread_mutex_unlock(&g->lock);
    return events;
}

#define LAST_MS 2000 /* a debugger that does not read is not waited for */

/* The last words. */
static void send_rest(MxgpuSimGdb *g)
{
    struct pollfd fd = {.fd = g->conn, .events = POLLOUT};

    while (wanted(g) & POLLOUT && poll(&fd, 1, LAST_MS) > 0 && transmit(g)) {
    }
}

static bool quits(MxgpuSimGdb *g)
{
    bool quit;

    pthread_mutex_lock(&g->lock);
    quit = g->quit;
    pthread_mutex_unlock(&g->lock);
    return quit;
}

static void *gdb_main(void *opaque)
{
    MxgpuSimGdb *g = opaque;
    uint64_t n;

    while (!quits(g)) {
        struct pollfd fds[2] = {
            {.fd = g->wake, .events = POLLIN},
            {.fd = g->conn < 0 ? g->listener : g->conn,
             .events = g->conn < 0 ? POLLIN : wanted(g)},
        };

        if (poll(fds, 2, -1) < 0) {
            continue;
        }
        if (fds[0].revents && read(g->wake, &n, sizeof(n)) < 0) {
            continue; /* somebody was faster: it is only a wake-up */
        }
        if (g->conn < 0) {
            if (fds[1].revents) {
                take_connection(g);
            }
        } else if (!transmit(g) ||
                   ((fds[1].revents & (POLLIN | POLLHUP | POLLERR)) &&
                    !receive(g))) {
            drop_connection(g);
        }
    }
    if (g->conn >= 0) {
        send_rest(g);
        drop_connection(g);
    }
    return NULL;
}

/* ---- life */

/* The name is there once a debugger can connect to it: it is what those who
 * start one wait for. */
static int bind_unix(MxgpuSimGdb *g, const char *path, unsigned index,
                     char *name, size_t size)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    int n = index ? snprintf(g->path, sizeof(g->path), "%s.%u", path, index)
                  : snprintf(g->path, sizeof(g->path), "%s", path);

    if (n < 0 || (size_t)n >= sizeof(g->path) ||
        (size_t)snprintf(addr.sun_path, sizeof(addr.sun_path), "%s~",
                         g->path) >= sizeof(addr.sun_path)) {
        *g->path = '\0';
        return -ENAMETOOLONG;
    }
    g->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (g->listener < 0) {
        *g->path = '\0';
        return -errno;
    }
    unlink(addr.sun_path);
    if (bind(g->listener, (struct sockaddr *)(void *)&addr, sizeof(addr)) ||
        listen(g->listener, 1) || rename(addr.sun_path, g->path)) {
        *g->path = '\0';
        return -errno;
    }
    snprintf(name, size, "%s", g->path);
    return 0;
}

static int bind_port(MxgpuSimGdb *g, unsigned port, char *name, size_t size)
{
    struct sockaddr_in addr = {
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    socklen_t len = sizeof(addr);
    int one = 1;

    g->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (g->listener < 0) {
        return -errno;
    }
    setsockopt(g->listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (bind(g->listener, (struct sockaddr *)(void *)&addr, sizeof(addr)) ||
        getsockname(g->listener, (struct sockaddr *)(void *)&addr, &len)) {
        return -errno;
    }
    snprintf(name, size, "127.0.0.1:%u", ntohs(addr.sin_port));
    return 0;
}

static int gdb_bind(MxgpuSimGdb *g, const char *where, unsigned index,
                    char *name, size_t size)
{
    unsigned long port;
    char *end;

    if (*where == '/') {
        return bind_unix(g, where, index, name, size);
    }
    port = strtoul(where, &end, 10);
    if (*where < '0' || *where > '9' || *end || port > 65535 ||
        (port && port + index > 65535)) {
        return -EINVAL;
    }
    return bind_port(g, port ? (unsigned)port + index : 0, name, size);
}

static int gdb_start(MxgpuSimGdb *g)
{
    int err;

    g->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (g->wake < 0 || listen(g->listener, 1) ||
        fcntl(g->listener, F_SETFL, O_NONBLOCK)) {
        return -errno;
    }
    err = pthread_create(&g->thread, NULL, gdb_main, g);
    g->has_thread = !err;
    return -err;
}

int mxgpu_sim_gdb_open(const char *where, unsigned index, MxgpuDevice *dev,
                       MxgpuDebugged which, char *name, size_t size,
                       MxgpuSimGdb **out)
{
    const char *comma = strchr(where, ',');
    char place[108];
    MxgpuSimGdb *g;
    int err;

    if ((comma && strcmp(comma, ",halt")) ||
        (size_t)snprintf(place, sizeof(place), "%.*s",
                         (int)strcspn(where, ","), where) >= sizeof(place)) {
        return -EINVAL;
    }
    g = calloc(1, sizeof(*g));
    if (!g) {
        return -ENOMEM;
    }
    g->dev = dev;
    g->which = which;
    g->listener = g->wake = g->conn = -1;
    pthread_mutex_init(&g->lock, NULL);
    err = gdb_bind(g, place, index, name, size);
    if (!err) {
        err = (which == MXGPU_DEBUG_FIRMWARE
                   ? mxgpu_device_gdb_open
                   : mxgpu_device_kernel_gdb_open)(dev, &gdb_ops, g,
                                                   comma != NULL)
                  ? gdb_start(g) : -ENOMEM;
    }
    if (err) {
        mxgpu_sim_gdb_free(g);
        return err;
    }
    *out = g;
    return 0;
}

void mxgpu_sim_gdb_stop(MxgpuSimGdb *g)
{
    if (g && g->has_thread) {
        pthread_mutex_lock(&g->lock);
        g->quit = true;
        pthread_mutex_unlock(&g->lock);
        wake(g);
        pthread_join(g->thread, NULL);
        g->has_thread = false;
    }
}

void mxgpu_sim_gdb_free(MxgpuSimGdb *g)
{
    if (!g) {
        return;
    }
    if (g->listener >= 0) {
        close(g->listener);
    }
    if (*g->path) {
        unlink(g->path);
    }
    if (g->wake >= 0) {
        close(g->wake);
    }
    pthread_mutex_destroy(&g->lock);
    free(g->out);
    free(g);
}
