/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "kmd/vfio_priv.h"
#include "procs.h"

#define DRIVER   "mxgpu"
#define LIBRARY  "libmxgpu-sim.so"
#define MAX_TEXT 16384 /* of an fdinfo file: more than any driver writes */

/* ---- one fdinfo */

static MxEngine *engine_of(MxClient *client, const char *name)
{
    MxEngine *e;

    for (unsigned i = 0; i < client->engines; i++) {
        if (!strcmp(client->engine[i].name, name)) {
            return &client->engine[i];
        }
    }
    if (!*name || strlen(name) >= MX_NAME || client->engines == MX_ENGINES) {
        return NULL;
    }
    e = &client->engine[client->engines++];
    *e = (MxEngine){ .capacity = 1 };
    strcpy(e->name, name);
    return e;
}

/* "12", "12 ns", "12 KiB", "12 MiB": false for what is none of these, and for
 * what 64 bits do not hold. */
static bool number(const char *text, uint64_t *value)
{
    unsigned long long n;
    unsigned shift;
    char *end;

    if (!isdigit((unsigned char)*text)) {
        return false;
    }
    errno = 0;
    n = strtoull(text, &end, 10);
    shift = !strcmp(end, " KiB") ? 10 : !strcmp(end, " MiB") ? 20 :
            !strcmp(end, " GiB") ? 30 : 0;
    if (errno || (*end && !shift && strcmp(end, " ns")) ||
        n > UINT64_MAX >> shift) {
        return false;
    }
    *value = n << shift;
    return true;
}

static const char *behind(const char *key, const char *begin)
{
    size_t n = strlen(begin);

    return strncmp(key, begin, n) ? NULL : key + n;
}

/* drm-resident-* is what a client has there now; drivers before it came wrote
 * drm-memory-*; drm-total-* counts what is shared for each as well. */
static void memory_key(const char *key, uint64_t value, MxClient *client,
                       unsigned *rank)
{
    static const char *const kinds[] = {
        "drm-total-vram", "drm-memory-vram", "drm-resident-vram",
    };

    for (unsigned i = 0; i < 3; i++) {
        if (behind(key, kinds[i]) && i + 1 >= *rank) {
            client->memory = i + 1 == *rank ? client->memory + value : value;
            client->has_memory = true;
            *rank = i + 1;
            return;
        }
    }
}

static void number_key(const char *key, uint64_t value, MxClient *client,
                       unsigned *rank)
{
    const char *name = behind(key, "drm-engine-capacity-");
    MxEngine *e;

    if (!strcmp(key, "drm-client-id")) {
        client->id = value;
    } else if (name) {
        e = engine_of(client, name);
        if (e && value && value <= 4096) {
            e->capacity = (unsigned)value;
        }
    } else if ((name = behind(key, "drm-engine-"))) {
        e = engine_of(client, name);
        if (e) {
            e->busy_ns = value;
        }
    } else {
        memory_key(key, value, client, rank);
    }
}

bool mx_procs_parse(const char *text, MxClient *client)
{
    unsigned rank = 0;
    bool ours = false;

    while (*text) {
        size_t n = strcspn(text, "\n");
        char line[128], *value;
        uint64_t v;

        if (n < sizeof(line)) {
            memcpy(line, text, n);
            line[n] = '\0';
            value = strchr(line, ':');
            if (value) {
                *value++ = '\0';
                value += strspn(value, " \t");
                value[strcspn(value, "\r")] = '\0';
                if (!strcmp(line, "drm-driver")) {
                    ours = !strcmp(value, DRIVER);
                } else if (!strcmp(line, "drm-pdev")) {
                    snprintf(client->bus, sizeof(client->bus), "%.12s", value);
                } else if (number(value, &v)) {
                    number_key(line, v, client, &rank);
                }
            }
        }
        text += n + (text[n] == '\n');
    }
    client->driver = DRIVER;
    return ours;
}

/* ---- all processes */

static bool read_text(const char *path, char *text, size_t size)
{
    FILE *f = fopen(path, "re");
    size_t n;

    if (!f) {
        return false;
    }
    n = fread(text, 1, size - 1, f);
    text[n] = '\0';
    fclose(f);
    return true;
}

static int add(MxProcs *procs, const MxClient *client)
{
    MxClient *more;

    for (unsigned i = procs->count; i-- > 0; ) {
        const MxClient *c = &procs->client[i];

        if (c->pid != client->pid) {
            break; /* those of one process are in a row */
        }
        if (c->driver == client->driver && c->id == client->id &&
            !strcmp(c->bus, client->bus)) {
            return 0; /* the same by another descriptor */
        }
    }
    more = realloc(procs->client, (procs->count + 1) * sizeof(*more));
    if (!more) {
        return -ENOMEM;
    }
    procs->client = more;
    more[procs->count++] = *client;
    return 0;
}

typedef struct Scan {
    const char *root;
    VfioFunction function[VFIO_MAX_FUNCTIONS];
    unsigned functions;
    char text[MAX_TEXT];
    MxProcs *procs;
} Scan;

/* Whoever has the file of a group has all of its functions; /dev/vfio/devices/
 * has one for each, for users of iommufd. */
static bool opens(const Scan *s, const VfioFunction *f, const char *name)
{
    const char *device = behind(name, "devices/");
    char path[PATH_MAX];

    if (!device) {
        return isdigit((unsigned char)*name) && f->group == atoi(name);
    }
    snprintf(path, sizeof(path), "%s/sys/bus/pci/devices/%s/vfio-dev/%s",
             s->root, f->bdf, device);
    return *device && !strchr(device, '/') && device[0] != '.' &&
           access(path, F_OK) == 0;
}

static int add_vfio(Scan *s, MxClient *client, const char *name)
{
    int err = 0;

    for (unsigned i = 0; i < s->functions && !err; i++) {
        if (opens(s, &s->function[i], name)) {
            snprintf(client->bus, sizeof(client->bus), "%s",
                     s->function[i].bdf);
            client->driver = "vfio";
            err = add(s->procs, client);
        }
    }
    return err;
}

static int scan_file(Scan *s, const MxClient *process, const char *folder,
                     const char *fd)
{
    char path[PATH_MAX], target[64];
    MxClient client = *process;
    ssize_t n;

    if (snprintf(path, sizeof(path), "%s/fd/%s", folder, fd) >=
        (int)sizeof(path)) {
        return 0;
    }
    n = readlink(path, target, sizeof(target) - 1);
    target[n > 0 ? n : 0] = '\0';
    if (behind(target, "/dev/vfio/")) {
        return add_vfio(s, &client, behind(target, "/dev/vfio/"));
    }
    /* Reading fdinfo of every file costs; those of a driver are in /dev. */
    if (!behind(target, "/dev/dri/") && !behind(target, "/dev/accel/")) {
        return 0;
    }
    snprintf(path, sizeof(path), "%.*s/fdinfo/%s", PATH_MAX - 300, folder, fd);
    if (read_text(path, s->text, sizeof(s->text)) &&
        mx_procs_parse(s->text, &client)) {
        return add(s->procs, &client);
    }
    return 0;
}

/* Programs with the simulator loaded have devices of their own. */
static bool has_simulator(const char *folder)
{
    char path[PATH_MAX], line[4400];
    bool found = false;
    FILE *f;

    snprintf(path, sizeof(path), "%.*s/maps", PATH_MAX - 8, folder);
    f = fopen(path, "re");
    while (f && !found && fgets(line, sizeof(line), f)) {
        const char *name = strrchr(line, '/');

        found = name && behind(name + 1, LIBRARY);
    }
    if (f) {
        fclose(f);
    }
    return found;
}

static int scan_process(Scan *s, const char *pid)
{
    MxClient client = { .pid = (unsigned)strtoul(pid, NULL, 10) };
    char folder[PATH_MAX - 64], path[PATH_MAX];
    struct dirent *entry;
    int err = 0;
    DIR *dir;

    snprintf(folder, sizeof(folder), "%s/proc/%s", s->root, pid);
    snprintf(path, sizeof(path), "%s/comm", folder);
    if (read_text(path, client.name, sizeof(client.name))) {
        client.name[strcspn(client.name, "\n")] = '\0';
    }
    if (has_simulator(folder)) {
        MxClient sim = client;

        strcpy(sim.bus, MX_SIMULATED);
        sim.driver = "sim";
        err = add(s->procs, &sim);
    }
    snprintf(path, sizeof(path), "%s/fd", folder);
    dir = opendir(path);
    while (dir && !err && (entry = readdir(dir))) {
        if (isdigit((unsigned char)entry->d_name[0])) {
            err = scan_file(s, &client, folder, entry->d_name);
        }
    }
    if (dir) {
        closedir(dir);
    }
    return err;
}

static int by_pid(const void *a, const void *b)
{
    const MxClient *x = a, *y = b;

    if (x->pid != y->pid) {
        return x->pid < y->pid ? -1 : 1;
    }
    if (strcmp(x->bus, y->bus)) {
        return strcmp(x->bus, y->bus);
    }
    return x->id < y->id ? -1 : x->id > y->id;
}

int mx_procs_scan(const char *root, MxProcs *procs)
{
    char path[PATH_MAX], self[24];
    Scan *s = calloc(1, sizeof(*s));
    struct dirent *entry;
    struct timespec now;
    int err = 0;
    DIR *dir;

    *procs = (MxProcs){ 0 };
    if (!s) {
        return -ENOMEM;
    }
    s->root = root;
    s->procs = procs;
    s->functions = kmd_vfio_scan(s->function, VFIO_MAX_FUNCTIONS);
    snprintf(self, sizeof(self), "%d", (int)getpid());
    snprintf(path, sizeof(path), "%s/proc", root);
    dir = opendir(path);
    while (dir && !err && (entry = readdir(dir))) {
        if (isdigit((unsigned char)entry->d_name[0]) &&
            (*root || strcmp(entry->d_name, self))) {
            err = scan_process(s, entry->d_name);
        }
    }
    if (dir) {
        closedir(dir);
    }
    free(s);
    if (procs->count) {
        qsort(procs->client, procs->count, sizeof(*procs->client), by_pid);
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
    procs->at_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    return err;
}

void mx_procs_free(MxProcs *procs)
{
    free(procs->client);
    *procs = (MxProcs){ 0 };
}

/* ---- what follows from them */

/* A file that a child inherited shows in both: each client counts once. */
static bool first_of_client(const MxProcs *procs, unsigned index)
{
    const MxClient *c = &procs->client[index];

    for (unsigned i = 0; i < index; i++) {
        if (procs->client[i].driver == c->driver &&
            procs->client[i].id == c->id &&
            !strcmp(procs->client[i].bus, c->bus)) {
            return false;
        }
    }
    return true;
}

static uint64_t busy_before(const MxProcs *before, const MxClient *c,
                            const char *engine)
{
    for (unsigned i = 0; i < before->count; i++) {
        const MxClient *b = &before->client[i];

        if (b->id != c->id || b->driver != c->driver ||
            strcmp(b->bus, c->bus)) {
            continue;
        }
        for (unsigned k = 0; k < b->engines; k++) {
            if (!strcmp(b->engine[k].name, engine)) {
                return b->engine[k].busy_ns;
            }
        }
    }
    return 0;
}

static void add_use(MxUse *use, const MxEngine *e, double percent)
{
    unsigned i = 0;

    while (i < use->engines && strcmp(use->engine[i].name, e->name)) {
        i++;
    }
    if (i == MX_ENGINES) {
        return;
    }
    if (i == use->engines) {
        memcpy(use->engine[use->engines++].name, e->name, MX_NAME);
    }
    use->engine[i].percent += percent;
    if (use->engine[i].percent > 100) {
        use->engine[i].percent = 100; /* a moment between two readings */
    }
    if (use->engine[i].percent > use->most) {
        use->most = use->engine[i].percent;
    }
}

void mx_procs_use(const MxProcs *before, const MxProcs *now, const char *bus,
                  MxUse *use)
{
    double time = now->at_ns > before->at_ns ?
                  (double)(now->at_ns - before->at_ns) : 0;

    *use = (MxUse){ 0 };
    for (unsigned i = 0; i < now->count; i++) {
        const MxClient *c = &now->client[i];

        if (strcmp(c->bus, bus) || !first_of_client(now, i)) {
            continue;
        }
        for (unsigned k = 0; k < c->engines; k++) {
            const MxEngine *e = &c->engine[k];
            uint64_t old = busy_before(before, c, e->name);
            /* a counter that went back was reset */
            uint64_t busy = e->busy_ns > old ? e->busy_ns - old : 0;

            add_use(use, e, time ? 100 * (double)busy / time / e->capacity :
                    0);
        }
    }
}

bool mx_procs_memory(const MxProcs *procs, const char *bus, uint64_t *bytes)
{
    bool known = false;

    *bytes = 0;
    for (unsigned i = 0; i < procs->count; i++) {
        const MxClient *c = &procs->client[i];

        if (c->has_memory && !strcmp(c->bus, bus) &&
            first_of_client(procs, i)) {
            *bytes = c->memory > UINT64_MAX - *bytes ? UINT64_MAX :
                     *bytes + c->memory;
            known = true;
        }
    }
    return known;
}

const MxClient *mx_procs_of(const MxProcs *procs, const char *bus, unsigned n)
{
    if (!strcmp(bus, MX_SIMULATED)) {
        return NULL; /* each has simulated devices of its own */
    }
    for (unsigned i = 0; i < procs->count; i++) {
        const MxClient *c = &procs->client[i];

        if (!strcmp(c->bus, bus) && (!i || c->pid != c[-1].pid ||
                                     strcmp(c[-1].bus, bus)) && n-- == 0) {
            return c;
        }
    }
    return NULL;
}
