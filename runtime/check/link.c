/* SPDX-License-Identifier: MIT */
#include "link.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "thread.h"

#define HELLO_MS 5000
#define SYNC_S   60 /* a machine that is stopped for longer checks no more */
#define IDLE_MS  10

/* A text that the user is not told yet. */
typedef struct Told {
    struct Told *next;
    enum McLinkType type;
    size_t length;
    char text[];
} Told;

static const McLinkUser *user;
static const char *port; /* NULL: nobody wants it */
static const char *why_not;
static int port_fd = -1;
static atomic_bool on;
static pthread_mutex_t send_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t sent, asked; /* records; of them when a sync was last asked */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what follows */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static uint64_t answered; /* the last sync's number */
static Told *first, **last = &first;
static bool telling;

bool mc_link_on(void)
{
    return atomic_load_explicit(&on, memory_order_relaxed);
}

/* ---- the port ---- */

/* Ports have names in sysfs. */
static bool find_port(const char *name, char *path, size_t size)
{
    static const char folder[] = "/sys/class/virtio-ports";
    DIR *dir = opendir(folder);
    struct dirent *entry;
    bool found = false;

    while (dir && !found && (entry = readdir(dir)) != NULL) {
        char file[512], text[128] = "";
        FILE *f;

        snprintf(file, sizeof(file), "%s/%s/name", folder, entry->d_name);
        f = entry->d_name[0] == '.' ? NULL : fopen(file, "re");
        if (!f) {
            continue;
        }
        if (fgets(text, sizeof(text), f)) {
            text[strcspn(text, "\n")] = 0;
        }
        fclose(f);
        found = strcmp(text, name) == 0;
        snprintf(path, size, "/dev/%s", entry->d_name);
    }
    if (dir) {
        closedir(dir);
    }
    return found;
}

static bool write_all(const void *data, size_t size)
{
    const char *at = data;

    while (size) {
        ssize_t n = write(port_fd, at, size);

        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return false;
        }
        at += n;
        size -= (size_t)n;
    }
    return true;
}

/* A port whose other end is not there reads as at its end. ms < 0: for ever. */
static bool read_all(void *data, size_t size, int ms)
{
    char *at = data;

    while (size) {
        struct pollfd p = {.fd = port_fd, .events = POLLIN};
        ssize_t n;

        if (poll(&p, 1, ms) == 0) {
            return false;
        }
        n = read(port_fd, at, size);
        if (n <= 0 && (ms >= 0 || (n < 0 && errno != EINTR) || n == 0)) {
            return false;
        }
        if (n > 0) {
            at += n;
            size -= (size_t)n;
        }
    }
    return true;
}

static void fail(const char *what)
{
    if (atomic_exchange(&on, false)) {
        char text[128];
        int n = snprintf(text, sizeof(text), "The checker in QEMU %s: nothing "
                         "more is checked", what);

        why_not = what;
        user->text(MC_LINK_NOTE, text, (size_t)n);
    }
    pthread_mutex_lock(&lock);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

/* Behind what an earlier process did not read. */
static bool greet(void)
{
    struct timespec now;
    McLinkRecord hello = {.type = MC_LINK_HELLO, .a = MC_LINK_VERSION}, got;
    char *bytes = (char *)&got;

    clock_gettime(CLOCK_REALTIME, &now);
    hello.b = (uint64_t)now.tv_nsec << 32 ^ (uint64_t)now.tv_sec << 12 ^
              (uint64_t)getpid();
    if (!write_all(&hello, sizeof(hello)) ||
        !read_all(&got, sizeof(got), HELLO_MS)) {
        return false;
    }
    while (got.type != MC_LINK_HELLO || got.b != hello.b) {
        memmove(bytes, bytes + 1, sizeof(got) - 1);
        if (!read_all(bytes + sizeof(got) - 1, 1, HELLO_MS)) {
            return false;
        }
    }
    return got.a == MC_LINK_VERSION;
}

/* ---- what comes ---- */

static bool take_text(const McLinkRecord *r)
{
    Told *told;

    if (r->flags > MC_LINK_TEXT_MAX) {
        return false;
    }
    told = malloc(sizeof(*told) + r->flags + 1);
    if (!told) {
        return false;
    }
    *told = (Told){.type = (enum McLinkType)r->type, .length = r->flags};
    told->text[r->flags] = 0;
    if (!read_all(told->text, r->flags, -1)) {
        free(told);
        return false;
    }
    pthread_mutex_lock(&lock);
    *last = told;
    last = &told->next;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return true;
}

static bool take(const McLinkRecord *r)
{
    if (r->type == MC_LINK_REPORT || r->type == MC_LINK_NOTE) {
        return take_text(r);
    }
    if (r->type != MC_LINK_SYNC) {
        return false;
    }
    pthread_mutex_lock(&lock);
    answered = r->a;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return true;
}

static void *reader(void *opaque)
{
    McLinkRecord r;

    (void)opaque;
    while (read_all(&r, sizeof(r), -1) && take(&r)) {
    }
    fail("is gone");
    return NULL;
}

static void in_ms(struct timespec *when, long ms)
{
    clock_gettime(CLOCK_REALTIME, when);
    when->tv_sec += ms / 1000;
    when->tv_nsec += ms % 1000 * 1000000;
    when->tv_sec += when->tv_nsec / 1000000000;
    when->tv_nsec %= 1000000000;
}

/* Not the reader, whom a sync waits for: to tell may need locks of those who
 * wait. */
static void *teller(void *opaque)
{
    struct timespec when;
    Told *told;

    (void)opaque;
    for (;;) {
        pthread_mutex_lock(&lock);
        if (!first) {
            in_ms(&when, IDLE_MS);
            pthread_cond_timedwait(&changed, &lock, &when);
        }
        told = first;
        telling = told != NULL;
        if (told) {
            first = told->next;
            last = first ? last : &first;
        }
        pthread_mutex_unlock(&lock);
        if (told) {
            user->text(told->type, told->text, told->length);
            free(told);
            pthread_mutex_lock(&lock);
            telling = false;
            pthread_cond_broadcast(&changed);
            pthread_mutex_unlock(&lock);
        } else {
            user->idle();
        }
    }
    return NULL;
}

/* ---- start ---- */

/* A child has no threads of this: what it does is not checked. */
static void forked(void)
{
    if (atomic_exchange(&on, false)) {
        close(port_fd);
    }
}

/* NULL, or why not. */
static const char *open_port(void)
{
    char path[512];

    if (port[0] == '/') {
        snprintf(path, sizeof(path), "%s", port);
    } else if (!find_port(port, path, sizeof(path))) {
        return "there is no such port";
    }
    port_fd = open(path, O_RDWR | O_CLOEXEC);
    if (port_fd < 0) {
        return errno == EBUSY ? "another process has it" : strerror(errno);
    }
    return NULL;
}

static void start(void)
{
    const char *why = open_port();

    if (!why && !greet()) {
        why = "no checker of this version answers";
        close(port_fd);
    }
    if (why) {
        why_not = why;
        return;
    }
    atomic_store(&on, true);
    (void)pthread_atfork(NULL, NULL, forked);
    if (!mc_check_thread(reader) || !mc_check_thread(teller)) {
        fail("has no thread here");
    }
}

/* ---- what goes ---- */

bool mc_link_ready(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    if (port) {
        pthread_once(&once, start);
    }
    return mc_link_on();
}

const char *mc_link_why_not(void)
{
    return !port || mc_link_ready() ? NULL : why_not;
}

static void send_record(const McLinkRecord *r)
{
    if (mc_link_on() && !write_all(r, sizeof(*r))) {
        fail("takes nothing");
    }
    sent++;
}

void mc_link_send(enum McLinkType type, uint32_t flags, uint64_t a, uint64_t b,
                  uint64_t c)
{
    const McLinkRecord r = {type, flags, a, b, c};

    if (mc_link_ready()) {
        pthread_mutex_lock(&send_lock);
        send_record(&r);
        pthread_mutex_unlock(&send_lock);
    }
}

void mc_link_text(enum McLinkType type, const char *text, size_t length)
{
    McLinkRecord r = {.type = type};
    size_t part;

    if (!mc_link_ready()) {
        return;
    }
    pthread_mutex_lock(&send_lock);
    for (; length; text += part, length -= part) {
        part = length < sizeof(r.a) * 3 ? length : sizeof(r.a) * 3;
        r.flags = (uint32_t)part;
        memcpy((char *)&r + offsetof(McLinkRecord, a), text, part);
        send_record(&r);
    }
    pthread_mutex_unlock(&send_lock);
}

/* The number of a sync that was asked for now, or is under way and has all. */
static uint64_t ask(void)
{
    uint64_t number;

    pthread_mutex_lock(&send_lock);
    if (asked != sent) {
        const McLinkRecord r = {.type = MC_LINK_SYNC, .a = sent + 1};

        send_record(&r);
        asked = sent;
    }
    number = asked;
    pthread_mutex_unlock(&send_lock);
    return number;
}

void mc_link_sync(void)
{
    struct timespec when;
    uint64_t number;
    int error = 0;

    if (!mc_link_on()) {
        return;
    }
    number = ask();
    in_ms(&when, SYNC_S * 1000);
    pthread_mutex_lock(&lock);
    while (mc_link_on() && answered < number && !error) {
        error = pthread_cond_timedwait(&changed, &lock, &when);
    }
    pthread_mutex_unlock(&lock);
    if (error) {
        fail("does not answer");
    }
}

void mc_link_drain(void)
{
    if (mc_link_on()) {
        mc_link_send(MC_LINK_STATUS, 0, 0, 0, 0); /* for an answer of its own */
        mc_link_sync();
        pthread_mutex_lock(&lock);
        while (mc_link_on() && (first || telling)) {
            pthread_cond_wait(&changed, &lock);
        }
        pthread_mutex_unlock(&lock);
    }
}

void mc_link_prepare(const char *name, const McLinkUser *of)
{
    user = of;
    port = name;
}
