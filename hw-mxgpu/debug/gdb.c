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

/* A number of up to 32 bits at *p, which moves behind it. */
static bool take_hex(const char **p, uint32_t *value)
{
    const char *start = *p;
    uint64_t v = 0;

    while (hex_digit(**p) >= 0 && v <= UINT32_MAX) {
        v = v << 4 | (unsigned)hex_digit(*(*p)++);
    }
    *value = (uint32_t)v;
    return *p != start && v <= UINT32_MAX;
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
static void word_to_hex(char *out, uint32_t value)
{
    uint8_t b[4] = {(uint8_t)value, (uint8_t)(value >> 8),
                    (uint8_t)(value >> 16), (uint8_t)(value >> 24)};

    to_hex(out, b, 4);
}

static bool word_from_hex(const char *p, uint32_t *value)
{
    uint8_t b[4];

    if (!take_bytes(p, b, 4)) {
        return false;
    }
    *value = b[0] | b[1] << 8 | b[2] << 16 | (uint32_t)b[3] << 24;
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
    char text[64];
    int n = snprintf(text, sizeof(text), "T%02xthread:1;", s->signal & 0xff);

    if (s->point < MXGPU_GDB_WATCH_WRITE) {
        snprintf(text + n, sizeof(text) - (size_t)n, "%s", names[s->point]);
    } else if (s->point < MXGPU_GDB_POINTS) {
        snprintf(text + n, sizeof(text) - (size_t)n, "%s:%x;", names[s->point],
                 (unsigned)s->addr);
    }
    send_text(g, text);
}

/* ---- run control */

static void resume(MxgpuGdb *g, const MxgpuGdbResume *how)
{
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
    resume(g, &how);
}

/* ";ACTION[:THREAD]...": there is one thread, and the first action is its. */
static void do_vcont(MxgpuGdb *g, const char *p)
{
    MxgpuGdbResume how = {0};
    uint32_t signal = 0, thread;
    bool ok = take_char(&p, ';');
    char kind = *p;

    p += kind != '\0';
    how.step = kind == 's' || kind == 'S' || kind == 'r';
    switch (kind) {
    case 'c':
    case 's':
        break;
    case 'C':
    case 'S':
        ok = ok && take_hex(&p, &signal);
        break;
    case 'r':
        ok = ok && take_pair(&p, &how.low, &how.high);
        how.range = true;
        break;
    default:
        ok = false;
    }
    if (ok && take_char(&p, ':') && !take_char(&p, '-')) {
        ok = take_hex(&p, &thread) && thread <= 1;
    }
    if (!ok) {
        send_ok(g, false);
        return;
    }
    how.signal = signal;
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
    unsigned n = g->ops->registers;
    uint32_t value;

    for (unsigned i = 0; i < n && 8 * i + 8 < sizeof(text); i++) {
        value = 0;
        g->ops->read_register(g->opaque, i, &value);
        word_to_hex(text + 8 * i, value);
    }
    send_text(g, text);
}

static void do_write_all(MxgpuGdb *g, const char *p)
{
    char word[9] = "";
    uint32_t value;

    if (strlen(p) < 8 * (size_t)g->ops->registers) {
        send_ok(g, false);
        return;
    }
    for (unsigned i = 0; i < g->ops->registers; i++) {
        memcpy(word, p + 8 * i, 8);
        /* "xxxxxxxx" leaves the register as it is. */
        if (word_from_hex(word, &value)) {
            g->ops->write_register(g->opaque, i, value);
        }
    }
    send_ok(g, true);
}

static void do_read_register(MxgpuGdb *g, const char *p)
{
    uint32_t number, value = 0;
    char text[9];

    if (!take_hex(&p, &number) || *p ||
        !g->ops->read_register(g->opaque, number, &value)) {
        send_ok(g, false);
        return;
    }
    word_to_hex(text, value);
    send_text(g, text);
}

static void do_write_register(MxgpuGdb *g, const char *p)
{
    uint32_t number, value;

    send_ok(g, take_hex(&p, &number) && take_char(&p, '=') &&
                   word_from_hex(p, &value) &&
                   g->ops->write_register(g->opaque, number, value));
}

static void do_read_memory(MxgpuGdb *g, const char *p)
{
    uint8_t bytes[MXGPU_GDB_PACKET / 2];
    char text[MXGPU_GDB_PACKET + 1];
    uint32_t addr, len;
    size_t n;

    if (!take_pair(&p, &addr, &len) || *p) {
        send_ok(g, false);
        return;
    }
    len = len < sizeof(bytes) ? len : (uint32_t)sizeof(bytes);
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
    uint32_t addr, len;
    bool ok;

    ok = take_pair(&p, &addr, &len) && take_char(&p, ':') &&
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

static void do_point(MxgpuGdb *g, const char *p, bool insert)
{
    uint32_t type, addr, len;

    if (!take_hex(&p, &type) || !take_char(&p, ',') ||
        !take_pair(&p, &addr, &len)) {
        send_ok(g, false);
    } else if (type >= MXGPU_GDB_POINTS) {
        send_text(g, "");
    } else {
        send_ok(g, (insert ? g->ops->insert : g->ops->remove)(
                       g->opaque, (MxgpuGdbPoint)type, addr, len));
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

static void do_query(MxgpuGdb *g, const char *p)
{
    char text[160];

    if (take_word(&p, "Supported")) {
        snprintf(text, sizeof(text),
                 "PacketSize=%x;qXfer:features:read+;qXfer:memory-map:read+;"
                 "vContSupported+;swbreak+;hwbreak+;QStartNoAckMode+",
                 MXGPU_GDB_PACKET);
        send_text(g, text);
    } else if (take_word(&p, "Xfer:features:read:target.xml:")) {
        send_piece(g, g->ops->description(g->opaque), p);
    } else if (take_word(&p, "Xfer:memory-map:read::")) {
        send_piece(g, g->ops->memory_map(g->opaque), p);
    } else if (take_word(&p, "Rcmd,")) {
        do_command(g, p);
    } else if (take_word(&p, "Attached")) {
        send_text(g, "1"); /* gdb that quits detaches, and kills nothing */
    } else if (take_word(&p, "fThreadInfo")) {
        send_text(g, "m1");
    } else if (take_word(&p, "sThreadInfo")) {
        send_text(g, "l");
    } else if (take_word(&p, "Symbol:")) {
        send_text(g, "OK");
    } else if (!strcmp(p, "C")) {
        send_text(g, "QC1");
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
    return kind && strchr("gGpPmMXcCsSvZz", kind);
}

static void handle_packet(MxgpuGdb *g)
{
    const char *p = g->packet;
    char kind = *p;

    p += kind != '\0';
    if (g->running && needs_stop(kind) && strcmp(g->packet, "vCont?")) {
        send_ok(g, false);
        return;
    }
    switch (kind) {
    case '?':
        if (g->running) {
            g->running = false;
            g->ops->halt(g->opaque);
            g->stop = (MxgpuGdbStop){MXGPU_GDB_SIGINT, MXGPU_GDB_POINTS, 0};
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
    case 'v':
        do_v(g, p);
        break;
    case 'Z':
    case 'z':
        do_point(g, p, kind == 'Z');
        break;
    case 'H': /* the thread that others are about: there is one */
    case 'T':
        send_ok(g, true);
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
            MxgpuGdbStop stop = {MXGPU_GDB_SIGINT, MXGPU_GDB_POINTS, 0};

            g->ops->halt(g->opaque);
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
