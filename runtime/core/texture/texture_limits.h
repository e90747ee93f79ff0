/* SPDX-License-Identifier: MIT */
/* The largest textures and surfaces, in texels but where it says bytes. The
 * coordinates are floats: larger ones could not name each texel. */
#ifndef MC_CORE_TEXTURE_LIMITS_H
#define MC_CORE_TEXTURE_LIMITS_H

#define MC_TEXTURE_WIDTH    131072 /* of one and two dimensions */
#define MC_TEXTURE_HEIGHT   65536
#define MC_TEXTURE_CUBE     16384  /* three dimensions */
#define MC_MIPMAP_WIDTH     32768
#define MC_GATHER_WIDTH     32768
#define MC_LAYERED_WIDTH    32768  /* and height; cubemaps too */
#define MC_LAYERS           2048
#define MC_CUBEMAP_LAYERS   2046   /* faces of all layers */

#define MC_LINEAR_WIDTH     (1 << 28) /* by number */
#define MC_PITCHED_WIDTH    131072
#define MC_PITCHED_HEIGHT   65536
#define MC_PITCHED_BYTES    (1 << 21) /* of a row */

#define MC_TEXTURE_ALIGN    256 /* bytes, of memory */
#define MC_TEXTURE_ROWS     32  /* bytes, of the distance of rows */

#endif
