/* SPDX-License-Identifier: MIT */
/* JSON and CSV. Names are foreign: any byte may stand in them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fields.h"

static void json_text(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        if (c == '"' || c == '\\') {
            printf("\\%c", c);
        } else if (c < ' ' || c >= 0x7f) {
            printf("\\u%04x", c);
        } else {
            putchar(c);
        }
    }
    putchar('"');
}

/* What stands in a list of numbers or of names. */
static void list(const MxReport *r, const MxReportDevice *d, MxKind kind,
                 const char *between, bool quoted)
{
    const MxClient *c;

    for (unsigned i = 0; kind == MX_TOPOLOGY && i < r->count; i++) {
        printf(quoted ? "%s\"%s\"" : "%s%s", i ? between : "",
               mx_fields_reach(r, (unsigned)(d - r->device), i));
    }
    for (unsigned i = 0;
         kind == MX_PIDS && (c = mx_procs_of(r->procs, d->bus, i)); i++) {
        printf("%s%u", i ? between : "", c->pid);
    }
}

static void json_field(const MxReport *r, const MxReportDevice *d,
                       const MxField *f)
{
    printf("\"%s\": ", f->name);
    switch (f->kind) {
    case MX_STRING:
        json_text(f->text);
        break;
    case MX_NUMBER:
        printf("%" PRIu64, f->number);
        break;
    case MX_PERCENT:
        printf("%.1f", f->percent);
        break;
    case MX_MODELLED:
        printf("{\"value\": %" PRIu64 ", \"modelled\": true}", f->number);
        break;
    case MX_TOPOLOGY:
    case MX_PIDS:
        putchar('[');
        list(r, d, f->kind, ", ", true);
        putchar(']');
        break;
    default:
        printf("null");
    }
}

static void json_object(const MxReport *r, const MxReportDevice *d,
                        const MxField *fields, unsigned n, bool first)
{
    printf("%s\n    {", first ? "" : ",");
    for (unsigned i = 0; i < n; i++) {
        printf("%s\n      ", i ? "," : "");
        json_field(r, d, &fields[i]);
    }
    printf("\n    }");
}

void mx_report_json(const MxReport *r)
{
    MxField fields[MX_FIELDS];

    printf("{\n  \"version\": \"%s\",\n  \"driver\": \"%s\",\n"
           "  \"devices\": [", MX_VERSION, r->back_end);
    for (unsigned i = 0; i < r->count; i++) {
        json_object(r, &r->device[i], fields,
                    mx_fields_device(r, &r->device[i], fields), !i);
    }
    printf("\n  ],\n  \"processes\": [");
    for (unsigned i = 0; i < r->procs->count; i++) {
        json_object(r, NULL, fields,
                    mx_fields_process(&r->procs->client[i], fields), !i);
    }
    printf("\n  ]\n}\n");
}

/* ---- CSV, as RFC 4180 has it */

static void csv_text(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        if (*text == '"') {
            putchar('"');
        }
        putchar(*text);
    }
    putchar('"');
}

static void csv_row(const MxReport *r, const MxReportDevice *d,
                    const MxField *fields, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        const MxField *f = &fields[i];

        printf("%s", i ? "," : "");
        if (f->kind == MX_STRING) {
            csv_text(f->text);
        } else if (f->kind == MX_NUMBER || f->kind == MX_MODELLED) {
            printf("%" PRIu64, f->number);
        } else if (f->kind == MX_PERCENT) {
            printf("%.1f", f->percent);
        } else if (f->kind != MX_UNKNOWN) {
            putchar('"');
            list(r, d, f->kind, " ", false);
            putchar('"');
        }
    }
    printf("\n");
}

static void csv_head(const MxField *fields, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        printf("%s%s%s", i ? "," : "", fields[i].name,
               fields[i].modelled ? "_modelled" : "");
    }
    printf("\n");
}

void mx_report_csv(const MxReport *r, bool head)
{
    MxField fields[MX_FIELDS];

    for (unsigned i = 0; i < r->count; i++) {
        unsigned n = mx_fields_device(r, &r->device[i], fields);

        if (head && !i) {
            csv_head(fields, n);
        }
        csv_row(r, &r->device[i], fields, n);
    }
}

void mx_report_csv_processes(const MxReport *r, bool head)
{
    static const MxClient nobody = { .driver = "" };
    MxField fields[MX_FIELDS];

    if (head) {
        csv_head(fields, mx_fields_process(&nobody, fields));
    }
    for (unsigned i = 0; i < r->procs->count; i++) {
        csv_row(r, NULL, fields,
                mx_fields_process(&r->procs->client[i], fields));
    }
}
