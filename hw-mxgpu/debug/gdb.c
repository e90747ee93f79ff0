/* SPDX-License-Identifier: MIT */
#include "gdb.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum GdbState {
    GDB_IDLE,    /* between packets */
    GDB_PACKET,  /* behind '$' */
    GDB_ESCAPE,  /* behind '}' */
    GDB_SUM1,    /* behind '#' */
    GDB_SUM2,
} GdbState;

struct MxgpuGdb {
    const MxgpuGdbOps *ops;
    void *opaque;
    bool attached; /* a debugger has sent a packet */
    bool running;  /* it waits for a stop */
    bool no_ack;
    uint64_t thread; /* chosen by gdb; 0: the one that stopped */
    uint64_t moves;  /* that "s" and "c" are about; 0: likewise */
    MxgpuGdbStop stop; /* the last one */

    GdbState state;
    uint8_t sum, sent_sum;
    bool bad_sum, too_long;
    size_t len;
    char packet[MXGPU_GDB_PACKET + 1]; /* with a 0 behind it */

    /* The last reply with its frame, for a debugger that asks again. */
    size_t reply_len;
    char reply[MXGPU_GDB_PACKET + 8];
};

/* ---- numbers and replies */

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* A number of up to 64 bits at *p, which moves behind it. */
static bool take_long(const char **p, uint64_t *value)
{
    const char *start = *p;
    uint64_t v = 0;

    while (hex_digit(**p) >= 0 && !(v >> 60)) {
        v = v << 4 | (unsigned)hex_digit(*(*p)++);
    }
    *value = v;
    return *p != start && hex_digit(**p) < 0;
}

/* One of up to 32 bits. */
static bool take_hex(const char **p, uint32_t *value)
{
    uint64_t v;
    bool ok = take_long(p, &v);

    *value = (uint32_t)v;
    return ok && v <= UINT32_MAX;
}

static bool take_char(const char **p, char c)
{
    if (**p != c) {
        return false;
    }
    ++*p;
    return true;
}

/* "A,B" */
static bool take_pair(const char **p, uint32_t *a, uint32_t *b)
{
    return take_hex(p, a) && take_char(p, ',') && take_hex(p, b);
}

/* "ADDR,LENGTH" of this machine. */
static bool take_range(const MxgpuGdb *g, const char **p, uint64_t *addr,
                       uint64_t *len)
{
    return take_long(p, addr) && take_char(p, ',') && take_long(p, len) &&
           (g->ops->word == 8 || (*addr | *len) <= UINT32_MAX);
}

/* Bytes in hex; false when there are not exactly len of them. */
static bool take_bytes(const char *p, uint8_t *out, size_t len)
{
    for (size_t i = 0; i < len; i++, p += 2) {
        if (hex_digit(p[0]) < 0 || hex_digit(p[1]) < 0) {
            return false;
        }
        out[i] = (uint8_t)(hex_digit(p[0]) << 4 | hex_digit(p[1]));
    }
    return *p == '\0';
}

static void to_hex(char *out, const void *bytes, size_t len)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t *b = bytes;

    for (size_t i = 0; i < len; i++) {
        out[2 * i] = digits[b[i] >> 4];
        out[2 * i + 1] = digits[b[i] & 15];
    }
    out[2 * len] = '\0';
}

/* Registers are sent in the order of bytes of the target: little-endian. */
static void word_to_hex(char *out, uint64_t value, unsigned size)
{
    uint8_t b[8];

    for (unsigned i = 0; i < size; i++) {
        b[i] = (uint8_t)(value >> 8 * i);
    }
    to_hex(out, b, size);
}

static bool word_from_hex(const char *p, uint64_t *value, unsigned size)
{
    uint8_t b[8];

    if (!take_bytes(p, b, size)) {
        return false;
    }
    *value = 0;
    for (unsigned i = 0; i < size; i++) {
        *value |= (uint64_t)b[i] << 8 * i;
    }
    return true;
}

/* data may hold any byte; len is at most MXGPU_GDB_PACKET when escaped. */
static void send_bytes(MxgpuGdb *g, const char *data, size_t len)
{
    static const char digits[] = "0123456789abcdef";
    uint8_t sum = 0;
    size_t n = 0;

    g->reply[n++] = '$';
    for (size_t i = 0; i < len && n + 6 < sizeof(g->reply); i++) {
        char c = data[i];

        if (c == '$' || c == '#' || c == '}' || c == '*') {
            g->reply[n++] = '}';
            sum += '}';
            c ^= 0x20;
        }
        g->reply[n++] = c;
        sum += (uint8_t)c;
    }
    g->reply[n++] = '#';
    g->reply[n++] = digits[sum >> 4];
    g->reply[n++] = digits[sum & 15];
    g->reply_len = n;
    g->ops->output(g->opaque, g->reply, n);
}

static void send_text(MxgpuGdb *g, const char *text)
{
    send_bytes(g, text, strlen(text));
}

static void send_ok(MxgpuGdb *g, bool ok)
{
    send_text(g, ok ? "OK" : "E01");
}

/* Text for the user, as many packets as it takes. */
static void send_console(void *opaque, const char *text, size_t len)
{
    enum { PIECE = MXGPU_GDB_PACKET / 2 - 8 };
    char hex[2 * PIECE + 2] = "O";
    MxgpuGdb *g = opaque;

    while (len) {
        size_t n = len < PIECE ? len : PIECE;

        to_hex(hex + 1, text, n);
        send_text(g, hex);
        text += n;
        len -= n;
    }
}

static void send_stop(MxgpuGdb *g)
{
    static const char *const names[] = {
        [MXGPU_GDB_BREAK_SOFTWARE] = "swbreak:;",
        [MXGPU_GDB_BREAK_HARDWARE] = "hwbreak:;",
        [MXGPU_GDB_WATCH_WRITE] = "watch",
        [MXGPU_GDB_WATCH_READ] = "rwatch",
        [MXGPU_GDB_WATCH_ACCESS] = "awatch",
    };
    const MxgpuGdbStop *s = &g->stop;
    char text[128];
    int n = snprintf(text, sizeof(text), "T%02xthread:%llx;%s",
                     s->signal & 0xff,
                     g->ops->threads ? (unsigned long long)s->thread : 1,
                     s->library ? "library:;"
                     : s->oldest ? "replaylog:begin;"
                                 : "");

    if (s->point < MXGPU_GDB_WATCH_WRITE) {
        snprintf(text + n, sizeof(text) - (size_t)n, "%s", names[s->point]);
    } else if (s->point < MXGPU_GDB_POINTS) {
        snprintf(text + n, sizeof(text) - (size_t)n, "%s:%llx;",
                 names[s->point], (unsigned long long)s->addr);
    }
    send_text(g, text);
}

/* ---- run control */

static void resume(MxgpuGdb *g, const MxgpuGdbResume *how)
{
    g->thread = 0;
    g->running = true;
    g->ops->resume(g->opaque, how);
}

/* c, s: "[ADDR]"; C, S: "SIGNAL[;ADDR]". Addresses are for other debuggers than
 * gdb, which writes pc. */
static void do_resume(MxgpuGdb *g, const char *p)
{
    char kind = p[-1];
    MxgpuGdbResume how = {.step = kind == 's' || kind == 'S'};
    uint32_t signal = 0;

    if (((kind == 'C' || kind == 'S') && !take_hex(&p, &signal)) || *p) {
        send_ok(g, false);
        return;
    }
    how.signal = signal;
    how.others = true;
    how.thread = how.step || how.signal ? g->moves ? g->moves : g->stop.thread
                                        : 0;
    resume(g, &how);
}

/* "s", "c" after a "b": the same in reverse. */
static void do_reverse(MxgpuGdb *g, const char *p)
{
    MxgpuGdbResume how = {.step = *p == 's', .back = true, .others = true};

    if (!g->ops->reverses) {
        send_text(g, "");
    } else if (strcmp(p, "s") && strcmp(p, "c")) {
        send_ok(g, false);
    } else {
        resume(g, &how);
    }
}

/* An action of vCont; its kind, or 0 when it is none. */
static char take_action(MxgpuGdb *g, const char **p, MxgpuGdbResume *how)
{
    char kind = **p;
    uint32_t signal = 0;
    bool ok = true;

    *p += kind != '\0';
    *how = (MxgpuGdbResume){.step = kind == 's' || kind == 'S' || kind == 'r'};
    switch (kind) {
    case 'c':
    case 's':
        break;
    case 'C':
    case 'S':
        ok = take_hex(p, &signal);
        break;
    case 'r':
        ok = take_range(g, p, &how->low, &how->high);
        how->range = true;
        break;
    default:
        ok = false;
    }
    how->signal = signal;
    return ok ? kind : 0;
}

/* ";ACTION[:THREAD]..." For each thread its first action counts. Of those that
 * name a thread the first is done; the others run when an action names all. */
static void do_vcont(MxgpuGdb *g, const char *p)
{
    MxgpuGdbResume how = {0}, one;
    bool any = false, all = false, ok = true;

    while (ok && *p) {
        uint64_t thread = 0;

        ok = take_char(&p, ';') && take_action(g, &p, &one);
        if (ok && take_char(&p, ':') &&
            !(take_char(&p, '-') && take_char(&p, '1'))) {
            ok = take_long(&p, &thread) &&
                 (g->ops->threads || thread <= 1);
        }
        if (ok && !any) {
            any = true;
            how = one;
            /* A step of all is one of the thread that gdb looks at. */
            how.thread = thread || !(one.step || one.signal) ? thread
                                                            : g->stop.thread;
        }
        all |= ok && !thread;
    }
    if (!ok || !any) {
        send_ok(g, false);
        return;
    }
    how.others = all;
    resume(g, &how);
}

static void detach(MxgpuGdb *g)
{
    g->attached = g->running = g->no_ack = false;
    g->ops->detach(g->opaque);
}

/* ---- registers and memory */

static void do_read_all(MxgpuGdb *g)
{
    char text[MXGPU_GDB_PACKET + 1];
    unsigned n = g->ops->registers, size = g->ops->word;
    uint64_t value;

    text[0] = '\0';
    for (unsigned i = 0; i < n && 2 * size * (i + 1) < sizeof(text); i++) {
        value = 0;
        g->ops->read_register(g->opaque, i, &value);
        word_to_hex(text + 2 * size * i, value, size);
    }
    send_text(g, text);
}

static void do_write_all(MxgpuGdb *g, const char *p)
{
    unsigned digits = 2 * g->ops->word;
    char word[17] = "";
    uint64_t value;

    if (strlen(p) < digits * (size_t)g->ops->registers) {
        send_ok(g, false);
        return;
    }
    for (unsigned i = 0; i < g->ops->registers; i++) {
        memcpy(word, p + digits * i, digits);
        /* "xxxxxxxx" leaves the register as it is. */
        if (word_from_hex(word, &value, g->ops->word)) {
            g->ops->write_register(g->opaque, i, value);
        }
    }
    send_ok(g, true);
}

static void do_read_register(MxgpuGdb *g, const char *p)
{
    uint32_t number;
    uint64_t value = 0;
    char text[17];

    if (!take_hex(&p, &number) || *p ||
        !g->ops->read_register(g->opaque, number, &value)) {
        send_ok(g, false);
        return;
    }
    word_to_hex(text, value, g->ops->word);
    send_text(g, text);
}

static void do_write_register(MxgpuGdb *g, const char *p)
{
    uint32_t number;
    uint64_t value;

    send_ok(g, take_hex(&p, &number) && take_char(&p, '=') &&
                   word_from_hex(p, &value, g->ops->word) &&
                   g->ops->write_register(g->opaque, number, value));
}

static void do_read_memory(MxgpuGdb *g, const char *p)
{
    uint8_t bytes[MXGPU_GDB_PACKET / 2];
    char text[MXGPU_GDB_PACKET + 1];
    uint64_t addr, len;
    size_t n;

    if (!take_range(g, &p, &addr, &len) || *p) {
        send_ok(g, false);
        return;
    }
    len = len < sizeof(bytes) ? len : sizeof(bytes);
    n = g->ops->read_memory(g->opaque, addr, bytes, len);
    if (!n && len) {
        send_text(g, "E0e"); /* EFAULT */
        return;
    }
    to_hex(text, bytes, n < len ? n : len);
    send_text(g, text);
}

/* M: in hex; X: as they are. */
static void do_write_memory(MxgpuGdb *g, const char *p, bool binary)
{
    uint8_t bytes[MXGPU_GDB_PACKET];
    uint64_t addr, len;
    bool ok;

    ok = take_range(g, &p, &addr, &len) && take_char(&p, ':') &&
         len <= sizeof(bytes);
    if (ok && binary) {
        ok = (size_t)(g->packet + g->len - p) == len;
        if (ok) {
            memcpy(bytes, p, len);
        }
    } else if (ok) {
        ok = take_bytes(p, bytes, len);
    }
    if (ok && len && !g->ops->write_memory(g->opaque, addr, bytes, len)) {
        send_text(g, "E0e");
        return;
    }
    send_ok(g, ok);
}

/* An expression, "XLENGTH,BYTES" at *p, as MxgpuGdbConditions has it. */
static bool take_condition(const char **p, uint8_t *code, size_t size,
                           size_t *len)
{
    uint32_t n;

    if (!take_char(p, 'X') || !take_hex(p, &n) || !take_char(p, ',') ||
        n > size || size - n < *len + 2 || strlen(*p) < 2 * n) {
        return false;
    }
    code[(*len)++] = (uint8_t)n;
    code[(*len)++] = (uint8_t)(n >> 8);
    for (; n; n--, *p += 2) {
        if (hex_digit((*p)[0]) < 0 || hex_digit((*p)[1]) < 0) {
            return false;
        }
        code[(*len)++] = (uint8_t)(hex_digit((*p)[0]) << 4 |
                                   hex_digit((*p)[1]));
    }
    return true;
}

/* What follows a point: nothing, or ";" and expressions. Commands of a point
 * were not offered. */
static bool take_conditions(const char *p, uint8_t *code, size_t size,
                            size_t *len)
{
    bool ok = *p == '\0' || take_char(&p, ';');

    *len = 0;
    while (ok && *p) {
        ok = take_condition(&p, code, size, len);
    }
    return ok;
}

static void do_point(MxgpuGdb *g, const char *p, bool insert)
{
    uint8_t code[MXGPU_GDB_PACKET / 2];
    MxgpuGdbConditions when = {code, 0};
    uint64_t addr, len;
    uint32_t type;

    if (!take_hex(&p, &type) || !take_char(&p, ',') ||
        !take_range(g, &p, &addr, &len)) {
        send_ok(g, false);
    } else if (type >= MXGPU_GDB_POINTS) {
        send_text(g, "");
    } else if (!insert) {
        send_ok(g, g->ops->remove(g->opaque, (MxgpuGdbPoint)type, addr, len));
    } else {
        send_ok(g, (!g->ops->evaluates ||
                    take_conditions(p, code, sizeof(code), &when.len)) &&
                       g->ops->insert(g->opaque, (MxgpuGdbPoint)type, addr,
                                      len, when));
    }
}

/* ---- queries */

/* A piece of a document: "OFFSET,LENGTH" at p. */
static void send_piece(MxgpuGdb *g, const char *document, const char *p)
{
    char piece[MXGPU_GDB_PACKET / 2];
    uint32_t offset, len;
    size_t size, n;

    if (!document || !take_pair(&p, &offset, &len)) {
        send_text(g, document ? "E01" : "E00");
        return;
    }
    size = strlen(document);
    n = offset < size ? size - offset : 0;
    /* Every byte may become two. */
    n = n < len ? n : len;
    n = n < sizeof(piece) - 1 ? n : sizeof(piece) - 1;
    piece[0] = offset + n < size ? 'm' : 'l';
    if (n) {
        memcpy(piece + 1, document + offset, n);
    }
    send_bytes(g, piece, n + 1);
}

static void do_command(MxgpuGdb *g, const char *p)
{
    char text[MXGPU_GDB_PACKET / 2 + 1];
    size_t len = strlen(p) / 2;

    if (!take_bytes(p, (uint8_t *)text, len)) {
        send_ok(g, false);
        return;
    }
    text[len] = '\0';
    g->ops->monitor(g->opaque, text, (MxgpuGdbText){send_console, g});
    send_ok(g, true);
}

/* Moves *p behind the word, if it begins with it. */
static bool take_word(const char **p, const char *word)
{
    size_t n = strlen(word);

    if (strncmp(*p, word, n)) {
        return false;
    }
    *p += n;
    return true;
}

/* Whether a document is asked for from its beginning. */
static bool begins(const char *p)
{
    uint32_t offset;

    return !take_hex(&p, &offset) || !offset;
}

static unsigned long long current_thread(const MxgpuGdb *g)
{
    return !g->ops->threads ? 1 : g->thread ? g->thread : g->stop.thread;
}

/* "gTHREAD", "cTHREAD": the one that others packets are about. */
static void do_choose(MxgpuGdb *g, const char *p)
{
    char kind = *p;
    uint64_t thread = 0;
    bool ok = true;

    p += kind != '\0';
    if (!g->ops->threads) {
        send_ok(g, true);
        return;
    }
    if (!take_char(&p, '-')) {
        ok = take_long(&p, &thread) && (!thread || g->running ||
                                        g->ops->alive(g->opaque, thread));
    }
    if (ok && kind == 'g') {
        g->thread = thread;
    } else if (ok) {
        g->moves = thread;
    }
    send_ok(g, ok);
}

static void do_query(MxgpuGdb *g, const char *p)
{
    char text[240];

    if (take_word(&p, "Supported")) {
        snprintf(text, sizeof(text),
                 "PacketSize=%x;qXfer:features:read+;qXfer:memory-map:read+;"
                 "vContSupported+;swbreak+;hwbreak+;QStartNoAckMode+%s%s%s%s",
                 MXGPU_GDB_PACKET,
                 g->ops->threads ? ";qXfer:threads:read+" : "",
                 g->ops->libraries ? ";qXfer:libraries:read+" : "",
                 g->ops->evaluates ? ";ConditionalBreakpoints+" : "",
                 g->ops->reverses ? ";ReverseStep+;ReverseContinue+" : "");
        send_text(g, text);
    } else if (take_word(&p, "Xfer:features:read:target.xml:")) {
        send_piece(g, g->ops->description(g->opaque), p);
    } else if (take_word(&p, "Xfer:memory-map:read::")) {
        send_piece(g, g->ops->memory_map(g->opaque), p);
    } else if (g->ops->threads && take_word(&p, "Xfer:threads:read::")) {
        send_piece(g, g->ops->threads(g->opaque, begins(p)), p);
    } else if (g->ops->libraries && take_word(&p, "Xfer:libraries:read::")) {
        send_piece(g, g->ops->libraries(g->opaque, begins(p)), p);
    } else if (take_word(&p, "Rcmd,")) {
        do_command(g, p);
    } else if (take_word(&p, "Attached")) {
        send_text(g, "1"); /* gdb that quits detaches, and kills nothing */
    } else if (take_word(&p, "fThreadInfo")) {
        snprintf(text, sizeof(text), "m%llx", current_thread(g));
        send_text(g, text);
    } else if (take_word(&p, "sThreadInfo")) {
        send_text(g, "l");
    } else if (take_word(&p, "Symbol:")) {
        send_text(g, "OK");
    } else if (!strcmp(p, "C")) {
        snprintf(text, sizeof(text), "QC%llx", current_thread(g));
        send_text(g, text);
    } else {
        send_text(g, "");
    }
}

/* ---- packets */

static void do_v(MxgpuGdb *g, const char *p)
{
    if (!strcmp(p, "Cont?")) {
        send_text(g, "vCont;c;C;s;S;r");
    } else if (take_word(&p, "Cont")) {
        do_vcont(g, p);
    } else if (take_word(&p, "Kill")) {
        send_ok(g, true);
        detach(g);
    } else {
        send_text(g, "");
    }
}

/* What changes or shows the machine is for one that stands. */
static bool needs_stop(char kind)
{
    return kind && strchr("bgGpPmMXcCsSvZz", kind);
}

/* Before what is about a thread. */
static bool select_thread(MxgpuGdb *g, char kind)
{
    return !g->ops->threads || g->running || !kind ||
           !strchr("gGpPmMX", kind) ||
           g->ops->select(g->opaque, current_thread(g));
}

static void handle_packet(MxgpuGdb *g)
{
    const char *p = g->packet;
    char kind = *p;
    uint64_t thread;

    p += kind != '\0';
    if (!select_thread(g, kind)) {
        send_ok(g, false);
        return;
    }
    if (g->running && needs_stop(kind) && strcmp(g->packet, "vCont?")) {
        send_ok(g, false);
        return;
    }
    switch (kind) {
    case '?':
        if (g->running) {
            g->running = false;
            g->stop.thread = g->ops->halt(g->opaque);
            g->stop.signal = MXGPU_GDB_SIGINT;
            g->stop.point = MXGPU_GDB_POINTS;
        }
        send_stop(g);
        break;
    case 'g':
        do_read_all(g);
        break;
    case 'G':
        do_write_all(g, p);
        break;
    case 'p':
        do_read_register(g, p);
        break;
    case 'P':
        do_write_register(g, p);
        break;
    case 'm':
        do_read_memory(g, p);
        break;
    case 'M':
    case 'X':
        do_write_memory(g, p, kind == 'X');
        break;
    case 'c':
    case 'C':
    case 's':
    case 'S':
        do_resume(g, p);
        break;
    case 'b':
        do_reverse(g, p);
        break;
    case 'v':
        do_v(g, p);
        break;
    case 'Z':
    case 'z':
        do_point(g, p, kind == 'Z');
        break;
    case 'H':
        do_choose(g, p);
        break;
    case 'T':
        send_ok(g, !g->ops->threads ||
                       (take_long(&p, &thread) &&
                        g->ops->alive(g->opaque, thread)));
        break;
    case 'q':
        do_query(g, p);
        break;
    case 'Q':
        if (!strcmp(p, "StartNoAckMode")) {
            send_ok(g, true);
            g->no_ack = true;
        } else {
            send_text(g, "");
        }
        break;
    case 'D':
        send_ok(g, true);
        detach(g);
        break;
    case 'k': /* the machine is not the debugger's to end; no reply */
        detach(g);
        break;
    default:
        send_text(g, "");
    }
}

static void packet_complete(MxgpuGdb *g)
{
    if (g->bad_sum || g->sent_sum != g->sum) {
        if (!g->no_ack) {
            g->ops->output(g->opaque, "-", 1);
        }
        return;
    }
    if (!g->no_ack) {
        g->ops->output(g->opaque, "+", 1);
    }
    if (!g->attached) {
        g->attached = true;
        g->running = false;
        g->thread = g->moves = 0;
        g->stop = g->ops->attach(g->opaque);
    }
    g->packet[g->len] = '\0';
    if (g->too_long) {
        send_text(g, "E07");
    } else {
        handle_packet(g);
    }
}

/* ---- bytes */

static void idle_byte(MxgpuGdb *g, uint8_t c)
{
    switch (c) {
    case '$':
        g->state = GDB_PACKET;
        g->len = g->sum = 0;
        g->too_long = false;
        break;
    case 0x03:
        if (g->attached && g->running) {
            MxgpuGdbStop stop = {.signal = MXGPU_GDB_SIGINT,
                                 .point = MXGPU_GDB_POINTS};

            stop.thread = g->ops->halt(g->opaque);
            mxgpu_gdb_stopped(g, &stop);
        }
        break;
    case '-':
        if (g->attached && !g->no_ack && g->reply_len) {
            g->ops->output(g->opaque, g->reply, g->reply_len);
        }
        break;
    default: /* '+', or nothing of ours */
        break;
    }
}

static void keep_byte(MxgpuGdb *g, uint8_t c)
{
    if (g->len < MXGPU_GDB_PACKET) {
        g->packet[g->len++] = (char)c;
    } else {
        g->too_long = true;
    }
}

static void packet_byte(MxgpuGdb *g, uint8_t c)
{
    int digit = hex_digit((char)c);

    switch (g->state) {
    case GDB_PACKET:
        if (c == '#') {
            g->state = GDB_SUM1;
            return;
        }
        if (c == '$') { /* the end of the one before was lost */
            idle_byte(g, c);
            return;
        }
        g->sum += c;
        if (c == '}') {
            g->state = GDB_ESCAPE;
            return;
        }
        keep_byte(g, c);
        return;
    case GDB_ESCAPE:
        g->state = GDB_PACKET;
        g->sum += c;
        keep_byte(g, c ^ 0x20);
        return;
    case GDB_SUM1:
        g->state = GDB_SUM2;
        g->bad_sum = digit < 0;
        g->sent_sum = (uint8_t)((unsigned)digit << 4);
        return;
    default:
        g->state = GDB_IDLE;
        g->bad_sum |= digit < 0;
        g->sent_sum |= (uint8_t)digit;
        packet_complete(g);
    }
}

void mxgpu_gdb_input(MxgpuGdb *g, const uint8_t *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (g->state == GDB_IDLE) {
            idle_byte(g, bytes[i]);
        } else {
            packet_byte(g, bytes[i]);
        }
    }
}

/* ---- the machine's side */

void mxgpu_gdb_stopped(MxgpuGdb *g, const MxgpuGdbStop *stop)
{
    g->stop = *stop;
    if (g->attached && g->running) {
        g->running = false;
        send_stop(g);
    }
}

void mxgpu_gdb_exited(MxgpuGdb *g)
{
    if (g->attached && g->running) {
        send_text(g, "W00");
        detach(g);
    }
}

void mxgpu_gdb_say(MxgpuGdb *g, const char *text)
{
    if (g->attached && g->running) {
        send_console(g, text, strlen(text));
        send_console(g, "\n", 1);
    }
}

bool mxgpu_gdb_attached(const MxgpuGdb *g)
{
    return g->attached;
}

void mxgpu_gdb_close(MxgpuGdb *g)
{
    if (g->attached) {
        detach(g);
    }
    g->state = GDB_IDLE;
    g->no_ack = false;
    g->reply_len = 0;
}

MxgpuGdb *mxgpu_gdb_new(const MxgpuGdbOps *ops, void *opaque)
{
    MxgpuGdb *g = calloc(1, sizeof(*g));

    if (g) {
        g->ops = ops;
        g->opaque = opaque;
        g->stop.point = MXGPU_GDB_POINTS;
    }
    return g;
}

void mxgpu_gdb_free(MxgpuGdb *g)
{
    free(g);
}
