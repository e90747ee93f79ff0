/* SPDX-License-Identifier: MIT */
/*
 * gen-lua HEAD: writes Wireshark's dissector of captures: tables of kinds,
 * registers, fields and packets made of the headers, and then the file HEAD,
 * which uses them.
 */
#include <stddef.h>
#include <stdio.h>

#include "base/host.h"
#include "mxgpu/capture.h"
#include "mxgpu/msg.h"
#include "mxgpu/packets.h"
#include "mxgpu/regs.h"

static const char *const bases[] = {"DEC", "HEX"};
enum { DEC, HEX };

static void put_kinds(void)
{
    printf("local kinds = {\n");
#define F(name, value) printf("  [%d] = \"%s\",\n", value, #name);
    MXGPU_CAPTURE_KINDS(F)
#undef F
    printf("}\n");
}

/* Names of an enum of the headers that are used by number. */
static void put_events(void)
{
    printf("local events = {\n");
#define F(name) printf("  [%d] = \"%s\",\n", MXGPU_TRACE_##name, #name);
    MXGPU_TRACE_EVENTS(F)
#undef F
    printf("}\nlocal queue_events = {\n");
#define F(name) printf("  [%d] = \"%s\",\n", MXGPU_QEV_##name, #name);
    F(CREATE) F(DESTROY) F(ERROR) F(PACKET_START) F(PACKET_END)
#undef F
    printf("}\nlocal messages = {\n");
#define F(name) printf("  [%d] = \"%s\",\n", MXGPU_MSG_##name, #name);
    MXGPU_MSG_OPS(F)
#undef F
    printf("}\n");
}

static void put_registers(void)
{
    printf("local registers = {\n");
#define MXGPU_REG(name, offset, count, stride, host, mcu, reset, doc)          \
    printf("  {\"%s\", 0x%x, %u, %u},\n", #name, offset, count, stride);
#define MXGPU_FIELD(...)
#include "mxgpu/regs.def"
#undef MXGPU_REG
#undef MXGPU_FIELD
    printf("}\nlocal fields = {\n");
#define MXGPU_REG(...)
#define MXGPU_FIELD(reg, name, shift, width, doc)                              \
    printf("  {\"%s\", 0x%x, %u, %u},\n", #name, MXGPU_##reg, shift, width);
#include "mxgpu/regs.def"
#undef MXGPU_REG
#undef MXGPU_FIELD
    printf("}\n");
}

static void put_packets(void)
{
    printf("local packets = {\n");
#define MXGPU_PACKET(name, tag)                                                \
    printf("  [%d] = \"%s\",\n", MXGPU_PKT_##name, #name);
#define MXGPU_PACKET_FIELD(...)
#include "mxgpu/packets.def"
#undef MXGPU_PACKET
#undef MXGPU_PACKET_FIELD
    printf("}\nlocal packet_fields = {\n");
#define MXGPU_PACKET(...)
#define MXGPU_PACKET_FIELD(type, tag, name, count, base)                       \
    printf("  {%d, \"%s\", %zu, %zu, %d, \"%s\"},\n", MXGPU_PKT_##type, #name, \
           offsetof(struct mxgpu_packet_##tag, name),                          \
           sizeof(((struct mxgpu_packet_##tag *)0)->name) / (count), count,    \
           bases[base]);
#include "mxgpu/packets.def"
#undef MXGPU_PACKET
#undef MXGPU_PACKET_FIELD
    printf("}\n");
}

int main(int argc, char **argv)
{
    FILE *head = argc == 2 ? fopen(argv[1], "r") : NULL;
    int c;

    if (!head) {
        fprintf(stderr, "usage: gen-lua HEAD\n");
        return 2;
    }
    printf("-- SPDX-License-Identifier: MIT\n"
           "-- Made by gen-lua: do not edit.\n");
    put_kinds();
    put_events();
    put_registers();
    put_packets();
    while ((c = getc(head)) != EOF) {
        putchar(c);
    }
    fclose(head);
    return ferror(stdout) || fflush(stdout) != 0;
}
