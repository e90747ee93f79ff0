/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Those of the ioctls of DRM itself that the tests use. The header that has them
 * comes with a library for screens, which these programs do not need.
 */
#ifndef CORE_H
#define CORE_H

#include <stdint.h>
#include <sys/ioctl.h>

struct core_close {
	uint32_t handle, pad;
};

struct core_prime {
	uint32_t handle, flags;
	int32_t fd;
};

struct core_syncobj {
	uint32_t handle, flags;
};

struct core_syncobj_fd {
	uint32_t handle, flags;	/* 1: fd is a sync_file */
	int32_t fd;
	uint32_t pad;
};

struct core_transfer {
	uint32_t from, to;
	uint64_t from_point, to_point;
	uint32_t flags, pad;
};

struct core_wait {
	uint64_t handles, points;
	int64_t deadline;
	uint32_t count, flags, first, pad;
};

struct core_create_dumb {
	uint32_t height, width, bits, flags;
	uint32_t handle, pitch;
	uint64_t size;
};

struct core_map_dumb {
	uint32_t handle, pad;
	uint64_t offset;
};

#define CORE_CLOSE	   _IOW('d', 0x09, struct core_close)
#define CORE_TO_FD	   _IOWR('d', 0x2d, struct core_prime)
#define CORE_FROM_FD	   _IOWR('d', 0x2e, struct core_prime)
#define CORE_CREATE_DUMB   _IOWR('d', 0xb2, struct core_create_dumb)
#define CORE_MAP_DUMB	   _IOWR('d', 0xb3, struct core_map_dumb)
#define CORE_SYNCOBJ	   _IOWR('d', 0xbf, struct core_syncobj)
#define CORE_SYNCOBJ_FD	   _IOWR('d', 0xc2, struct core_syncobj_fd)
#define CORE_TIMELINE_WAIT _IOWR('d', 0xca, struct core_wait)
#define CORE_TRANSFER	   _IOWR('d', 0xcc, struct core_transfer)

#endif
