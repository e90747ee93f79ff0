/* SPDX-License-Identifier: MIT */
/* Lines of text to the console register, and for the host to SRAM. */
#include "fw.h"

#define LOG_SIZE 8192u

/* As HELLO tells (msg.h). Another reads it: a line is there before its number. */
static struct {
    uint32_t written;
    char text[LOG_SIZE];
} ring;

static uint32_t next; /* ring.written of the line under way */

void log_init(void)
{
    fw.log_level = FW_LOG_INFO;
    next = 0;
    __atomic_store_n(&ring.written, 0, __ATOMIC_RELEASE);
}

void log_where(uint32_t *offset, uint32_t *size)
{
    *offset = bus_sram_offset(&ring);
    *size = LOG_SIZE;
}

static inline void put_char(char c)
{
    reg_write(MXGPU_CONSOLE, (uint8_t)c);
    ring.text[next++ % LOG_SIZE] = c;
}

static void put_string(const char *s)
{
    while (*s) {
        put_char(*s++);
    }
}

static void put_hex(uint64_t value)
{
    int shift = 60;

    while (shift && !(value >> shift)) {
        shift -= 4;
    }
    for (; shift >= 0; shift -= 4) {
        put_char("0123456789abcdef"[value >> shift & 15]);
    }
}

static void put_decimal(uint32_t value)
{
    char digits[10];
    unsigned n = 0;

    do {
        digits[n++] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    while (n) {
        put_char(digits[--n]);
    }
}

static void put_signed(int32_t value)
{
    if (value < 0) {
        put_char('-');
        put_decimal(-(uint32_t)value);
    } else {
        put_decimal((uint32_t)value);
    }
}

void fw_log(FwLogLevel level, const char *format, ...)
{
    static const char *const names[FW_LOG_LEVELS] = {
        [FW_LOG_ERROR] = "error: ",
        [FW_LOG_WARNING] = "warning: ",
        [FW_LOG_INFO] = "",
        [FW_LOG_DEBUG] = "debug: ",
    };
    va_list args;

    if (level > fw.log_level) {
        return;
    }
    put_string(names[level]);
    va_start(args, format);
    for (; *format; format++) {
        if (*format != '%') {
            put_char(*format);
            continue;
        }
        switch (*++format) {
        case 'c':
            put_char((char)va_arg(args, int));
            break;
        case 'd':
            put_signed(va_arg(args, int));
            break;
        case 's':
            put_string(va_arg(args, const char *));
            break;
        case 'u':
            put_decimal(va_arg(args, unsigned));
            break;
        case 'x':
            put_hex(va_arg(args, unsigned));
            break;
        case 'l': /* %llx */
            format += 2;
            put_hex(va_arg(args, unsigned long long));
            break;
        default:
            put_char(*format);
            break;
        }
    }
    va_end(args);
    put_char('\n');
    __atomic_store_n(&ring.written, next, __ATOMIC_RELEASE);
}
