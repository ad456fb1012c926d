/*
 * Zoetrope for C: decodes GIF and APNG with browser-exact frames, and writes them.
 *
 * Link with -lzoetrope (pkg-config zoetrope), or with the file libzoetrope.a and -lstdc++ -lm -lpthread -ldl.
 * At run time, the shared library needs only libc and libm. It stays loaded until the process exits: dlclose()
 * returns but unloads nothing, because the library has threads.
 *
 * Errors. Functions return ZOETROPE_OK or an error code. They describe a failure in *error unless error is
 * NULL, and leave *error unchanged on success. NULL pointers, sizes, strides, indices and options are
 * checked, and invalid ones give ZOETROPE_PARAMETER. Dangling pointers, buffers smaller than stated and freed
 * handles cannot be detected. After a failure, output handles are NULL, *found is 0, and pixels are
 * unspecified.
 *
 * Threads. Any function may be called from any thread. Calls that decode frames of the same animation run one
 * at a time, which bounds their memory. A single call already uses all processors for large frames. To run
 * several such calls at the same time, open the animation several times. Free a handle only when no other
 * call uses it. Callbacks must not call functions on their own animation, except where stated.
 *
 * Time. zoetrope_cancel, zoetrope_options.cancel_opening and zoetrope_options.timeout_ns end calls that take
 * too long. Such a call returns without waiting for the current frame: a thread of the library finishes that
 * frame without touching the caller's memory. The animation stays usable, but the next call that decodes
 * waits until the frame is finished. Exceptions are calls that need less than about ten milliseconds of
 * decoding, and the hashing of a file for a store: they run on the caller's thread, and nothing ends them while
 * the file system does not answer.
 *
 * Processes. After fork() without exec(), a child cannot use the library if its parent has already used it,
 * because the library's threads do not exist in the child. Calls then return ZOETROPE_FORKED, and functions
 * that free or stop something do nothing. A parent that has not called the library may fork freely.
 *
 * Structs. Structs that begin with `size` can grow in later versions. Set that field to the sizeof of the
 * struct. A size below that of version 1 of the ABI gives ZOETROPE_PARAMETER. In an input struct, zero in any
 * other field means the default, unless the field says otherwise. So `{.size = sizeof(zoetrope_options)}`
 * means all defaults, and so does a NULL pointer. Set fields named `reserved` to 0. zoetrope_frame_info and
 * zoetrope_edit can grow as well: the functions zoetrope_get_frames and zoetrope_rewrite take the sizes of
 * these structs. zoetrope_error, zoetrope_damage, zoetrope_frame and zoetrope_metadata keep their sizes in
 * version 1 of the ABI. Later versions may use their reserved fields, which this version writes as 0.
 * zoetrope_buffer never changes.
 *
 * Units. Times are in nanoseconds, and widths and heights are in pixels. Fields that are numbers of bytes have
 * `byte` in their names, except `size`. Text is UTF-8 and NUL-terminated. Text that is too long for its array
 * is shortened in the middle with an ellipsis. Paths in messages are quoted, with control characters escaped.
 */
#ifndef ZOETROPE_H
#define ZOETROPE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the functions and structs below. The symbol version is ZOETROPE_1. */
#define ZOETROPE_ABI_VERSION 1

/* The version of this header and of the package that it belongs to. zoetrope_version() returns the version of the
   library that is loaded. */
#define ZOETROPE_VERSION_MAJOR 0
#define ZOETROPE_VERSION_MINOR 1
#define ZOETROPE_VERSION_PATCH 0
#define ZOETROPE_VERSION "0.1.0"

/* ---- Errors ---- */

typedef int32_t zoetrope_status;

enum {
  ZOETROPE_OK = 0,
  ZOETROPE_NOT_AN_IMAGE = 1,   /* neither a GIF nor a PNG */
  ZOETROPE_UNSUPPORTED = 2,    /* the file uses a feature of its format that is not supported */
  ZOETROPE_NO_FRAMES = 3,      /* the start of the file is valid, but it has no frame */
  ZOETROPE_TRUNCATED = 4,      /* the data ends too early */
  ZOETROPE_MALFORMED = 5,      /* the data violates the rules of the format */
  ZOETROPE_LIMIT_EXCEEDED = 6, /* the file exceeds the limit that the message names */
  ZOETROPE_IO = 7,             /* a file cannot be opened, read or written; see system_error */
  ZOETROPE_PARAMETER = 8,      /* an argument is invalid */
  ZOETROPE_CANCELLED = 9,      /* the call was cancelled, or playback was stopped */
  ZOETROPE_FORKED = 10,        /* the process was forked from one that had used the library */
  ZOETROPE_OTHER = 11,         /* another error; see name and message */
  ZOETROPE_TIMED_OUT = 12,     /* the call took longer than zoetrope_options.timeout_ns */
  ZOETROPE_OUT_OF_MEMORY = 13, /* the system cannot provide memory or a thread; a later call may succeed */
  ZOETROPE_UNWRITABLE = 14,    /* the format cannot store the animation; a GIF has no partial alpha */
  ZOETROPE_OVER_BUDGET = 15,   /* no result that was tried meets max_bytes or the preset; see limit */
  /* a store is full, busy, damaged, accessible to other users, or on a file system without locks; zoetrope_error.name
     tells which: storeFull, storeBusy, storeDamaged, storeDenied or storeUnsupported */
  ZOETROPE_STORE = 16
};

/* The limit that an output does not meet, in an error with the code ZOETROPE_OVER_BUDGET. limit_found is the
   output's value, and limit_allowed the allowed value. */
enum {
  /* the size of the file in bytes; limit_found is the smallest size, or -1 if no file was completed */
  ZOETROPE_LIMIT_BYTES = 1,
  ZOETROPE_LIMIT_FRAMES = 2,   /* the number of frames; there are too few if limit_found is less than limit_allowed */
  ZOETROPE_LIMIT_DURATION = 3, /* the duration of one play in nanoseconds */
  ZOETROPE_LIMIT_SIDES = 4     /* the longer side of the pictures; the message names both sides */
};

typedef struct zoetrope_error {
  zoetrope_status code;
  int32_t system_error; /* the errno of the system call that failed; 0 if none failed */
  int64_t frame;       /* the index of the frame with the error; -1 if the error is in no frame */
  int64_t byte_offset; /* the file offset at which the error was detected; -1 if unknown */
  char name[32];       /* the name of the code, such as "malformed" */
  char message[456];   /* one clause that describes the error */
  /* ZOETROPE_LIMIT_... for ZOETROPE_OVER_BUDGET; 0 for other codes. For ZOETROPE_LIMIT_EXCEEDED, only limit_found
     and limit_allowed are set. */
  int64_t limit;
  int64_t limit_found, limit_allowed;
  /* 1: zoetrope_rewrite or zoetrope_optimize failed to write the destination; 0 for other errors, such as those of
     reading the animation */
  int32_t of_destination;
  int32_t reserved[1];
} zoetrope_error;

/* ---- Library ---- */

/* Returns the ABI version of the library. It must be at least the ZOETROPE_ABI_VERSION with which the program was
   compiled. */
uint32_t zoetrope_abi_version(void);
/* Returns the version of the library, such as "0.1.0". The string is static. */
const char *zoetrope_version(void);

/* ---- Opening ---- */

typedef struct zoetrope_animation zoetrope_animation;

enum {
  ZOETROPE_DAMAGE_SALVAGE = 0,     /* keep intact frames, and the rows of damaged frames that can be decoded */
  ZOETROPE_DAMAGE_STRICT = 1,      /* fail at the first damage that is found and loses data */
  ZOETROPE_DAMAGE_PARTIAL_ROWS = 2 /* as ZOETROPE_DAMAGE_SALVAGE, and also keep a truncated last frame */
};

enum {
  ZOETROPE_LIMITS_DEFAULT = 0, /* 64 megapixels, 100,000 frames, 1 GiB */
  ZOETROPE_LIMITS_STRICT = 1,  /* for untrusted files: 16 megapixels, 10,000 frames, 256 MiB */
  ZOETROPE_LIMITS_NONE = 2     /* no limits on memory and time */
};

typedef struct zoetrope_options {
  size_t size;
  int32_t damage;      /* ZOETROPE_DAMAGE_... */
  int32_t limits;      /* ZOETROPE_LIMITS_..., which the fields below override */
  /* 1: decode a PNG with 16 bits per sample at full depth, before frames are converted to the requested format */
  int32_t deep;
  int32_t parallelism; /* the number of decoding threads, including the caller's; 0: one per processor */
  /* Limits on the file. 0: the value of the preset that `limits` selects. */
  int64_t canvas_pixels;
  int64_t frame_count;
  int64_t live_bytes;      /* memory that decoding may hold at any time, without the file's bytes */
  int64_t pixels_per_play; /* the pixels of one play, summed over all frames */
  int64_t metadata_bytes;  /* the size of one text or colour profile after inflation */
  int64_t metadata_total_bytes;
  int64_t metadata_count;
  /* The maximum time for opening the file, and for each later call that decodes, including the time that the call
     waits for other calls; 0: no limit. A call that exceeds it fails with ZOETROPE_TIMED_OUT. The limit does not
     apply to players, nor to zoetrope_open_reader without `release`, whose `read` can fail instead. */
  int64_t timeout_ns;
  /* NULL, or the address of an aligned integer that another thread or a signal handler sets to a nonzero value to
     cancel opening, which then fails with ZOETROPE_CANCELLED. The integer is checked a hundred times a second until
     the function returns. This does not apply to zoetrope_open_reader without `release`. */
  const volatile int32_t *cancel_opening;
} zoetrope_options;

/* Opens the file at `path`. This scans the structure of the file and decodes no pixels. The file stays open. */
zoetrope_status zoetrope_open_file(const char *path, const zoetrope_options *options,
                                   zoetrope_animation **animation, zoetrope_error *error);

/* Opens the regular file that `descriptor` refers to, from its start, whatever the current position. The descriptor
   is duplicated and remains the caller's: closing it, reading from it or seeking does not affect the animation. */
zoetrope_status zoetrope_open_descriptor(int descriptor, const zoetrope_options *options,
                                         zoetrope_animation **animation, zoetrope_error *error);

/* Opens the file whose `byte_count` bytes are at `bytes`. The bytes are copied. */
zoetrope_status zoetrope_open_bytes(const void *bytes, size_t byte_count, const zoetrope_options *options,
                                    zoetrope_animation **animation, zoetrope_error *error);

/* A byte source implemented by the caller. `read` is called from any thread, but never concurrently, until
   `release` is called. If `release` is NULL, `read` is called until zoetrope_close; players that need more of the
   file after that end with ZOETROPE_IO. */
typedef struct zoetrope_reader {
  size_t size;
  void *context;
  int64_t byte_count; /* the size of the whole file, which must not change */
  /* Reads up to `count` bytes at `offset`, and returns the number of bytes read: 0 at the end of the file, a
     negative number on failure. */
  int64_t (*read)(void *context, int64_t offset, void *buffer, size_t count);
  /* Called once, on any thread, after the last call of `read`, even if opening fails. If opening is cancelled or
     times out, `release` may be called after the open function has returned. May be NULL. */
  void (*release)(void *context);
} zoetrope_reader;

/* Opens the file that `reader` reads. The struct is copied. `release` is not called if an argument is invalid, or
   in a forked child. */
zoetrope_status zoetrope_open_reader(const zoetrope_reader *reader, const zoetrope_options *options,
                                     zoetrope_animation **animation, zoetrope_error *error);

/* Closes the animation. Its players continue, because they keep what they need. If the animation was opened with a
   zoetrope_reader without `release`, waits for a running call of its `read`. NULL is allowed. */
void zoetrope_close(zoetrope_animation *animation);

/* Cancels all calls that decode frames of this animation, on all threads: zoetrope_frame_at_index,
   zoetrope_frame_at_time, zoetrope_frame_png, zoetrope_read_frames, zoetrope_sample..., zoetrope_store_...,
   zoetrope_rewrite and zoetrope_optimize. Calls in progress, calls that wait for another call, and calls that begin
   before zoetrope_clear_cancel fail with ZOETROPE_CANCELLED. A call that is about to return may still succeed. To
   be able to cancel a single call, make it on a handle of its own.

   Players are not affected. Neither is opening, for which see zoetrope_options.cancel_opening. This function and
   zoetrope_clear_cancel do not wait. They may be called from zoetrope_reader.read, but not from a signal handler.
   NULL is allowed. */
void zoetrope_cancel(zoetrope_animation *animation);

/* Allows calls to decode again after zoetrope_cancel. Calls that were in progress then stay cancelled. NULL is
   allowed. */
void zoetrope_clear_cancel(zoetrope_animation *animation);

/* ---- Structure; no pixels are decoded ---- */

enum { ZOETROPE_GIF = 1, ZOETROPE_APNG = 2, ZOETROPE_PNG = 3 };

typedef struct zoetrope_info {
  size_t size;
  int32_t format; /* ZOETROPE_GIF, _APNG, or _PNG for a still PNG; 0: a format unknown to this header */
  int32_t has_static_image; /* 1: the file is an APNG whose static image is not a frame */
  int64_t width, height;    /* the size of the canvas, and so of every composited frame */
  int64_t frame_count;      /* at least 1 */
  int64_t plays;            /* the total number of plays; 0: until stopped */
  int64_t stored_loop_count; /* the loop count as stored in the file; -1 if there is none */
  int64_t byte_count;        /* the size of the file */
  int64_t damage_count;      /* see zoetrope_get_damage */
  int64_t metadata_count;    /* see zoetrope_get_metadata */
  int64_t largest_frame_work; /* the number of pixels plus bytes of data of the most expensive frame */
} zoetrope_info;

zoetrope_status zoetrope_get_info(zoetrope_animation *animation, zoetrope_info *info, zoetrope_error *error);

enum {
  ZOETROPE_DELAYS_BROWSER = 0,  /* the rule of Chromium: 10 ms or less is shown as 100 ms */
  ZOETROPE_DELAYS_EXACT = 1,    /* delays are shown as stored, including zero */
  ZOETROPE_DELAYS_FFMPEG = 2,   /* less than 20 ms is shown as 100 ms */
  ZOETROPE_DELAYS_IMAGE_IO = 3  /* less than 11 ms is shown as 100 ms */
};

enum { ZOETROPE_KEEP = 0, ZOETROPE_BACKGROUND = 1, ZOETROPE_PREVIOUS = 2 };
enum { ZOETROPE_SOURCE = 0, ZOETROPE_OVER = 1 };

typedef struct zoetrope_frame_info {
  int64_t x, y, width, height; /* the frame's rectangle on the canvas, as stored */
  uint32_t delay_numerator, delay_denominator; /* the stored delay in seconds, as a fraction */
  int64_t start_ns;    /* when the frame is shown, relative to the start of the play, rounded up */
  int64_t duration_ns; /* how long the frame is shown: until start_ns of the next frame */
  int32_t disposal;    /* ZOETROPE_KEEP, ... */
  int32_t blend;       /* ZOETROPE_SOURCE or ZOETROPE_OVER */
  int32_t is_independent; /* 1: decoding can start at this frame */
  int32_t is_interlaced;
  int64_t byte_offset, byte_count; /* the position of the frame's data in the file */
} zoetrope_frame_info;

/* Writes a description of each of `count` frames, beginning with frame `first`, to `frames`. `element_size` is
   sizeof(zoetrope_frame_info). `delays` is ZOETROPE_DELAYS_..., here and in the functions below. The time that a
   call takes is linear in the number of frames in the file, so request all frames with one call. */
zoetrope_status zoetrope_get_frames(zoetrope_animation *animation, int32_t delays, int64_t first, size_t count,
                                    zoetrope_frame_info *frames, size_t element_size, zoetrope_error *error);

/* Writes the duration of one play to *duration_ns. It is start_ns plus duration_ns of the last frame. */
zoetrope_status zoetrope_get_duration(zoetrope_animation *animation, int32_t delays, int64_t *duration_ns,
                                      zoetrope_error *error);

/* Writes the index of the frame that is shown `time_ns` after the start of the first play to *index. A frame is
   shown from its start_ns until that of the next frame. Plays follow one another without a gap. A negative time
   gives frame 0. A time past the last play gives the last frame. */
zoetrope_status zoetrope_frame_index_at(zoetrope_animation *animation, int32_t delays, int64_t time_ns,
                                        int64_t *index, zoetrope_error *error);

/* A deviation from the file format. */
typedef struct zoetrope_damage {
  int64_t frame;        /* the index of the damaged frame; -1 if the damage is in no frame */
  int64_t byte_offset;  /* the file offset at which the damage was detected */
  int64_t valid_rows;   /* the number of complete rows of a damaged frame; -1 if all are, or if unknown */
  int32_t is_tolerated; /* 1: the damage loses nothing */
  int32_t is_present;   /* 0: there is no damage; ignore the other fields */
  char kind[48];        /* the kind of damage, such as "gif.lzw.truncated" */
  char detail[176];     /* one clause that describes the damage */
  int64_t reserved[4];
} zoetrope_damage;

/* Describes item `index` of the damage found in the structure of the file. `index` must be below
   zoetrope_info.damage_count. */
zoetrope_status zoetrope_get_damage(zoetrope_animation *animation, int64_t index, zoetrope_damage *damage,
                                    zoetrope_error *error);

enum {
  ZOETROPE_TEXT = 1,        /* a comment of a GIF or a text chunk; the key is "Comment" or the chunk's keyword */
  ZOETROPE_XMP = 2,
  ZOETROPE_EXIF = 3,        /* the value is binary */
  ZOETROPE_ICC_PROFILE = 4, /* the value is binary; the key is the profile's name */
  ZOETROPE_APPLICATION = 5, /* the key is the identifier of an application block of a GIF, the value its size */
  /* the key is gamma, chromaticities, srgb_intent, cicp or density; the value is the decimal numbers as stored,
     separated by spaces */
  ZOETROPE_COLOR = 6
};

typedef struct zoetrope_metadata {
  int32_t kind;
  int32_t reserved;
  size_t byte_count; /* the size of the whole value */
  char key[176];
  int64_t reserved2[4];
} zoetrope_metadata;

/* Describes item `index` of the metadata, and copies up to `capacity` bytes of its value to `value`. `index` must
   be below zoetrope_info.metadata_count. The value is not NUL-terminated. `value` may be NULL if `capacity` is
   0. */
zoetrope_status zoetrope_get_metadata(zoetrope_animation *animation, int64_t index, zoetrope_metadata *item,
                                      void *value, size_t capacity, zoetrope_error *error);

/* ---- Pixels ---- */

enum {
  ZOETROPE_RGBA8 = 0, /* 4 bytes, straight alpha */
  ZOETROPE_RGBA8_PREMULTIPLIED = 1,
  ZOETROPE_BGRA8 = 2,
  ZOETROPE_BGRA8_PREMULTIPLIED = 3,
  ZOETROPE_RGBX8 = 4,  /* 4 bytes, blended over black; the fourth byte is 255 */
  ZOETROPE_RGB8 = 5,   /* 3 bytes, blended over black; not for playback */
  ZOETROPE_RGB565 = 6, /* one 16-bit word, blended over black */
  ZOETROPE_GRAY8 = 7,  /* 1 byte of BT.709 luma, blended over black */
  ZOETROPE_RGBA16 = 8  /* 4 words of 16 bits, straight alpha */
};

enum { ZOETROPE_FIT = 0, ZOETROPE_FILL = 1, ZOETROPE_STRETCH = 2, ZOETROPE_INTEGER = 3 };

enum {
  ZOETROPE_BILINEAR = 0,
  ZOETROPE_NEAREST = 1,
  ZOETROPE_BOX = 2,
  ZOETROPE_BICUBIC = 3,
  ZOETROPE_LANCZOS3 = 4
};

typedef struct zoetrope_rendering {
  size_t size;
  int32_t format;        /* ZOETROPE_RGBA8, ... */
  int32_t fit;           /* ZOETROPE_FIT, ... */
  int32_t filter;        /* ZOETROPE_BILINEAR, ... */
  int32_t linear_light;  /* 1: resample in linear light */
  int32_t width, height; /* the box to scale into, with sides of at most 65535; 0: derived from the other side */
  int32_t no_enlarging;  /* 1: do not enlarge smaller canvases (for ZOETROPE_FIT and ZOETROPE_INTEGER only) */
  int32_t reserved;      /* 0 */
} zoetrope_rendering;

typedef struct zoetrope_layout {
  size_t size;
  int64_t width, height;
  size_t bytes_per_pixel;
  size_t bytes_per_row; /* the size of a row without padding */
  size_t byte_count;    /* the size of one frame without padding */
} zoetrope_layout;

/* Describes the layout of frames that are drawn with `rendering`. */
zoetrope_status zoetrope_get_layout(zoetrope_animation *animation, const zoetrope_rendering *rendering,
                                    zoetrope_layout *layout, zoetrope_error *error);

/* A decoded frame. */
typedef struct zoetrope_frame {
  int64_t index;
  /* The area in which the frame may differ from the frame that zoetrope_frame_at_index or zoetrope_frame_at_time drew
     last with this handle and the same rendering. After a jump, it is the whole frame. */
  int64_t dirty_x, dirty_y, dirty_width, dirty_height;
  zoetrope_damage damage; /* the damage to the frame's own pixels, not to pixels left by earlier frames */
  int64_t reserved[4];
} zoetrope_frame;

/* The memory to which frames are drawn. */
typedef struct zoetrope_buffer {
  void *pixels;
  size_t byte_count;      /* the number of bytes at `pixels` */
  size_t bytes_per_row;   /* the distance from row to row; 0: rows without padding */
  size_t bytes_per_frame; /* the distance from frame to frame, if there are several; 0: rows times bytes_per_row */
} zoetrope_buffer;

/* Draws the composited frame `index` into `buffer`, and describes it in `frame`, which may be NULL.

   If frames are read in order, each is decoded once. A jump to another frame replays the frames from the nearest
   checkpoint. */
zoetrope_status zoetrope_frame_at_index(zoetrope_animation *animation, int64_t index,
                                        const zoetrope_rendering *rendering, const zoetrope_buffer *buffer,
                                        zoetrope_frame *frame, zoetrope_error *error);

/* Does the same as zoetrope_frame_at_index, for the frame that zoetrope_frame_index_at finds. */
zoetrope_status zoetrope_frame_at_time(zoetrope_animation *animation, int32_t delays, int64_t time_ns,
                                       const zoetrope_rendering *rendering, const zoetrope_buffer *buffer,
                                       zoetrope_frame *frame, zoetrope_error *error);

/* Draws `count` frames, using all processors if the frames are large. `indices` may be in any order and may repeat;
   NULL means 0, 1, 2, ... `frames` is NULL, or an array of `count` descriptions, whose dirty rectangles cover whole
   frames. The call stops at the first frame that cannot be decoded, which the error names. `count` is at most
   16,777,216; 0 does nothing. */
zoetrope_status zoetrope_read_frames(zoetrope_animation *animation, const int64_t *indices, size_t count,
                                     const zoetrope_rendering *rendering, const zoetrope_buffer *buffer,
                                     zoetrope_frame *frames, zoetrope_error *error);

enum {
  ZOETROPE_BY_TIME = 0,    /* divide a play into `count` equal parts, and take the frame in the middle of each */
  ZOETROPE_BY_INDEX = 1,   /* divide the list of frames into `count` parts in the same way */
  /* take the first frame and those that look least like it and like each other; decodes all frames, and may find
     fewer */
  ZOETROPE_BY_DISTINCT = 2
};

/* Chooses up to `count` frames, and writes their indices in ascending order to `indices` and their number to
   *found. `by` is ZOETROPE_BY_..., and `count` is 1 to 16,777,216. With ZOETROPE_BY_TIME and ZOETROPE_BY_INDEX,
   *found equals `count`, and indices repeat if there are fewer frames. */
zoetrope_status zoetrope_sample_indices(zoetrope_animation *animation, int32_t by, int32_t delays, size_t count,
                                        int64_t *indices, size_t *found, zoetrope_error *error);

/* Chooses frames like zoetrope_sample_indices, and draws them like zoetrope_read_frames. `frames` may be NULL. */
zoetrope_status zoetrope_sample(zoetrope_animation *animation, int32_t by, int32_t delays, size_t count,
                                const zoetrope_rendering *rendering, const zoetrope_buffer *buffer,
                                zoetrope_frame *frames, size_t *found, zoetrope_error *error);

typedef struct zoetrope_bytes zoetrope_bytes;

/* Encodes frame `index` as a PNG file, and describes it in `frame`, which may be NULL. Equal frames give equal
   bytes. If `rendering` has a format other than ZOETROPE_RGBA8 and ZOETROPE_RGBA16, pixels are converted to
   ZOETROPE_RGBA8. */
zoetrope_status zoetrope_frame_png(zoetrope_animation *animation, int64_t index,
                                   const zoetrope_rendering *rendering, zoetrope_bytes **bytes,
                                   zoetrope_frame *frame, zoetrope_error *error);

/* Returns the number of bytes, or 0 for NULL. */
size_t zoetrope_bytes_count(const zoetrope_bytes *bytes);
/* Copies up to `capacity` bytes to `buffer`, and returns the number of bytes copied. */
size_t zoetrope_bytes_copy(const zoetrope_bytes *bytes, void *buffer, size_t capacity);
/* Frees the bytes. NULL is allowed. */
void zoetrope_bytes_free(zoetrope_bytes *bytes);

/* ---- Frames on disk ---- */

/* A directory of decoded frames. Any number of processes may use it at the same time, and a process may be killed
   at any moment. A stored frame is neither decoded nor copied again: its pixels are pages of a file, which all
   processes share. Frames are found by the content of the animation's file, so the old frames of a changed file are
   never found. */
typedef struct zoetrope_store zoetrope_store;

typedef struct zoetrope_store_options {
  size_t size;
  /* The maximum number of bytes on disk; 0: 256 MiB. The least recently used frames are evicted to make room for
     others. Use the same limit in all processes, because a process with a smaller limit evicts frames down to its
     own limit. */
  int64_t byte_limit;
} zoetrope_store_options;

/* Opens the store in the directory `path`. If the directory is missing, it is created with access for this user
   only. A NULL path means the directory that the command-line tool uses: zoetrope/frames in $XDG_CACHE_HOME or
   ~/.cache. A relative path refers to the directory that is current now. Fails with ZOETROPE_STORE if other users may
   read or write the directory. If this user may read the directory but not write to it, the store finds frames but
   stores none.

   While a store or a lease exists, a SIGBUS handler is installed. It keeps the process alive if another program
   truncates a file of the store; the missing pixels then become 0. The handler passes other faults on to the
   previous handler. */
zoetrope_status zoetrope_store_open(const char *path, const zoetrope_store_options *options, zoetrope_store **store,
                                    zoetrope_error *error);

/* Closes the store. Leases stay valid. NULL is allowed. */
void zoetrope_store_close(zoetrope_store *store);

/* Keeps the pixels of one frame valid. */
typedef struct zoetrope_lease zoetrope_lease;

typedef struct zoetrope_stored_frame {
  size_t size;
  const void *pixels;   /* read-only, and valid until zoetrope_lease_free */
  size_t bytes_per_row; /* a multiple of 64, as is the address `pixels` */
  int64_t width, height;
  int32_t is_stored;    /* 0: the frame could not be stored, and its pixels are in the memory of this process */
  int32_t reserved;
  zoetrope_damage damage; /* the damage to the frame's own pixels */
} zoetrope_stored_frame;

/* Describes frame `index` in `frame`, with a pointer to its pixels. If the store does not have the frame, it is
   decoded and stored first. `rendering` is as in zoetrope_frame_at_index, except that ZOETROPE_RGB8 is rejected:
   use ZOETROPE_RGBX8.

   A store may be used from any thread. A stored frame is found without waiting for calls that decode the same
   animation, unless the animation was opened with zoetrope_open_reader. A call that has to decode a missing frame
   counts as a call that decodes: zoetrope_cancel and zoetrope_options.timeout_ns end it. The first call for an
   animation reads its whole file, unless the store already knows the file. Free the lease after use: until then, no
   process can replace the frame, and the store may become too busy to store others. */
zoetrope_status zoetrope_store_frame(zoetrope_store *store, zoetrope_animation *animation, int64_t index,
                                     const zoetrope_rendering *rendering, zoetrope_stored_frame *frame,
                                     zoetrope_lease **lease, zoetrope_error *error);

/* Does the same as zoetrope_store_frame, but decodes nothing. If the frame is missing, *lease is NULL. */
zoetrope_status zoetrope_store_find(zoetrope_store *store, zoetrope_animation *animation, int64_t index,
                                    const zoetrope_rendering *rendering, zoetrope_stored_frame *frame,
                                    zoetrope_lease **lease, zoetrope_error *error);

/* Ends the use of a frame. This function may be called on any thread, even after the store and the animation are
   closed. NULL is allowed. */
void zoetrope_lease_free(zoetrope_lease *lease);

/* Decodes and stores all missing frames. Writes their number to *stored_count, unless stored_count is NULL. Fails
   with ZOETROPE_STORE if the frames do not fit, or if there are more than 8,192. Frames that have been stored by
   then remain. */
zoetrope_status zoetrope_store_fill(zoetrope_store *store, zoetrope_animation *animation,
                                    const zoetrope_rendering *rendering, int64_t *stored_count,
                                    zoetrope_error *error);

/* Removes the frames of `animation` in all sizes and formats. If `animation` is NULL, removes the frames of all
   animations. Frames in use stay valid. */
zoetrope_status zoetrope_store_remove(zoetrope_store *store, zoetrope_animation *animation, zoetrope_error *error);

/* Evicts the least recently used frames until at most `byte_count` bytes remain on disk; 0 evicts all frames. */
zoetrope_status zoetrope_store_prune(zoetrope_store *store, int64_t byte_count, zoetrope_error *error);

typedef struct zoetrope_store_statistics {
  size_t size;
  int64_t frame_count; /* the number of frames of all animations, in all sizes and formats */
  int64_t byte_count;  /* the number of bytes on disk */
  int64_t byte_limit;
  /* Counted for this handle: lookups that found a frame, frames that zoetrope_store_frame did not find and decoded,
     and frames that were stored. */
  int64_t hits, misses, insertions;
  int32_t is_read_only; /* 1: this user may not write to the directory */
  int32_t reserved;
} zoetrope_store_statistics;

/* Describes the store. This reads a little of each file of the store. */
zoetrope_status zoetrope_store_get_statistics(zoetrope_store *store, zoetrope_store_statistics *statistics,
                                              zoetrope_error *error);

/* ---- Writing ---- */

/* The destination of a file. If `path` is not NULL, the file is written to that path. Otherwise, if `write` is set,
   the file is passed to the functions below. Otherwise it is written to memory, and zoetrope_written.bytes contains
   it. A NULL destination also means memory.

   A file is written under a temporary name in the directory of `path`, and renamed once it is complete, so it may
   replace the file of an open animation. A relative path refers to the directory that is current when the writer is
   created, or when the call that writes the file begins. Pipes and devices are written to directly. A program that writes to pipes
   must ignore SIGPIPE, which would end it when the reader goes away; it then gets ZOETROPE_IO.

   The functions are called from any thread, but never concurrently. They are not called after the call that writes
   the file has returned, or, with a writer, after zoetrope_writer_free has returned. They return 0, or any other
   number to make the call fail with ZOETROPE_IO. */
typedef struct zoetrope_destination {
  size_t size;
  const char *path;
  void *context;
  /* Receives the next `count` bytes of the file. */
  int32_t (*write)(void *context, const void *bytes, size_t count);
  /* Overwrites `count` bytes that have already been written, starting at `offset`. NULL if that is impossible, as
     in a pipe. The writer then keeps the frames of an APNG in memory until the end, unless
     zoetrope_writer_options.frame_count is set. */
  int32_t (*patch)(void *context, int64_t offset, const void *bytes, size_t count);
  /* Called last, exactly once. `is_complete` is 1 if all bytes have been written, and 0 if they are to be
     discarded. A call that fails before it begins to write, for example because an argument is invalid, may return
     without calling `end`. May be NULL. */
  int32_t (*end)(void *context, int32_t is_complete);
} zoetrope_destination;

/* How pixels whose colour is not in the palette are drawn. */
enum {
  ZOETROPE_DITHERING_AUTO = 0,     /* with a light pattern where the palette has gaps */
  ZOETROPE_DITHERING_NONE = 1,     /* in the nearest colour */
  ZOETROPE_DITHERING_ORDERED = 2,  /* with an 8x8 pattern */
  ZOETROPE_DITHERING_DIFFUSION = 3 /* with error diffusion */
};

enum { ZOETROPE_EFFORT_BALANCED = 0, ZOETROPE_EFFORT_FAST = 1, ZOETROPE_EFFORT_SMALL = 2 };

typedef struct zoetrope_writer_options {
  size_t size;
  /* ZOETROPE_GIF or ZOETROPE_APNG. 0: the format for the extension of the destination's path, which must be .gif,
     .png or .apng. If there is no path, 0 means APNG; for zoetrope_rewrite, it means the animation's own format. */
  int32_t format;
  int32_t effort;        /* ZOETROPE_EFFORT_...: how much time to spend on making the file small */
  /* the total number of plays; 0: until stopped. Ignored by zoetrope_rewrite, which has an edit for it */
  int64_t plays;
  /* 1: store a picture that equals the previous one, instead of adding its delay to that picture. No pictures are
     merged then, as if exact_delays were 1 */
  int32_t keep_identical;
  /* Browsers show a delay of 10 ms or less for 100 ms. 1: store such delays all the same. 0: merge frames of a GIF
     with delays below 20 ms without changing the total duration; a delay of 0 then counts as 100 ms, as in browsers.
     In an APNG, 0 merges only frames that edits of zoetrope_rewrite would make shorter than 11 ms; a writer stores
     all delays of an APNG as they are given */
  int32_t exact_delays;
  /* 1: keep the colours of fully transparent pixels in an APNG; 0: give them all the same colour, mostly black */
  int32_t keep_hidden;
  int32_t parallelism;   /* the number of encoding threads, including the caller's; 0: one per processor */
  /* the number of pictures that will be appended; 0: unknown. If it is known, no pictures are merged, as if
     keep_identical and exact_delays were 1 */
  int64_t frame_count;
  int64_t memory_bytes;  /* the memory that may be used besides the output; 0: eight canvases plus 16 MiB */
  int32_t delays;        /* ZOETROPE_DELAYS_...: how zoetrope_rewrite interprets the delays that it changes */
  int32_t strip;         /* 1: zoetrope_optimize leaves out metadata */
  /* 0: keep all colours of an APNG, and reduce the colours of frames that have too many for a GIF. 2 to 256: use
     palettes of at most this many colours. An APNG has one palette for all frames, which may include partly
     transparent colours. -1: fail with ZOETROPE_UNWRITABLE if the format cannot store the colours, or partly
     transparent pixels. */
  int32_t colors;
  int32_t dithering;     /* ZOETROPE_DITHERING_... */
  /* In a GIF, pixels with this alpha or more become opaque, and pixels with less become transparent. The
     range is 1 to 255; 0 means 128. */
  int32_t alpha_threshold;
  int32_t has_matte;     /* 1: partly transparent pixels of a GIF are blended with `matte` instead */
  uint32_t matte;        /* a colour, as 0xRRGGBB */
  uint32_t reserved;     /* 0 */
  /* How much colours may differ from the original to save bytes, from 0 (exact) to 200. The unit is an eighth of a
     step of 8-bit grey. Differences of hue are weighted by their visibility. 40 is hard to see; 120 is obvious in
     gradients. Errors do not add up from frame to frame. */
  int32_t tolerance;
  /* 1: max_bytes and preset must not change the size of pictures (keep_size), or must not drop frames
     (keep_frame_rate). If the preset requires just that, the call fails with ZOETROPE_OVER_BUDGET. */
  int32_t keep_size, keep_frame_rate;
  int32_t reserved2;     /* 0 */
  /* The fields below must be 0 for zoetrope_writer_create, and `preset` must be empty for zoetrope_optimize; otherwise
     the call fails with ZOETROPE_PARAMETER.

     The maximum size of the file in bytes; 0: no limit. The library searches for the mildest change with which the
     file fits: it estimates sizes from samples, and encodes up to six whole files. It takes these measures, in this
     order: it drops metadata; spends more time on compression; allows similar colours; uses fewer colours; drops
     frames, down to 10 per second, without changing the duration; scales pictures, down to a fifth. Colours stay as
     they are if `colors` is -1. Finally it adds the metadata back if there is room for it. zoetrope_optimize only
     drops metadata, spends more time and changes colours. The file is kept in memory until it is complete. If no file
     fits, the call fails with ZOETROPE_OVER_BUDGET. */
  int64_t max_bytes;
  /* Empty, or the name of an upload preset, which sets a site's limits on picture size, bytes, frames, duration and
     plays: "slack-emoji", "discord-emoji", "discord-sticker", "signal-sticker", "line-sticker", "imessage-small",
     "imessage-medium", "imessage-large" or "twitch-emote". The limits may change in later versions of the library.
     Pictures are not cropped, and time is not cut: if only that would help, the call fails with
     ZOETROPE_OVER_BUDGET. */
  char preset[32];
} zoetrope_writer_options;

/* A description of the written file. */
typedef struct zoetrope_written {
  size_t size;
  /* the file if it was written to memory, to be freed with zoetrope_bytes_free; otherwise NULL */
  zoetrope_bytes *bytes;
  int64_t byte_count;
  int64_t frame_count;
  int64_t merged_count; /* the number of pictures that were merged into others because they were equal or too short */
  int64_t copied_count; /* the number of frames whose compressed pixels were copied */
  int32_t has_exact_delays; /* 1: all delays are stored exactly; 0: delays were rounded, without drift */
  int32_t format;       /* ZOETROPE_GIF, _APNG or _PNG */
  int64_t reduced_count; /* the number of frames whose colours were reduced to a palette */
  /* the share of pixels in the changed rectangles that were partly transparent and became opaque or fully
     transparent, from 0 to 1 */
  double partial_alpha_share;
  int64_t width, height; /* the size of the pictures */
  int32_t tolerance;    /* as zoetrope_writer_options.tolerance, or more if max_bytes or preset required it */
  /* the maximum number of colours in a palette, if it was limited; otherwise 0. It may be less than was asked for
     where max_bytes or preset required it. For a GIF of scaled pictures whose colours were reduced it is 256, or less
     where the file would otherwise have become larger than its source. */
  int32_t colors;
  /* the maximum number of frames per second, if the rate was limited to save bytes; otherwise 0. Frames that are
     dropped for the greatest number of frames of a preset are only in dropped_count. */
  int32_t frame_rate;
  /* 1: zoetrope_rewrite or zoetrope_optimize left out metadata that was to be kept: for max_bytes or preset, because
     the format cannot store it, or because it may not apply to pixels that are stored in another way */
  int32_t is_stripped;
  int64_t dropped_count; /* the number of frames dropped for max_bytes or preset, before short ones are merged */
} zoetrope_written;

typedef struct zoetrope_writer zoetrope_writer;

/* Creates a writer of an animation. Nothing is written to the destination before the first picture is appended.

   Unless `colors` or `tolerance` of the options allows changes, an APNG stores all pixels exactly, and a GIF stores
   a picture exactly if its changed pixels have at most 256 colours, none of them partly transparent; for other
   pictures, see zoetrope_writer_options.colors. Delays are stored exactly in an APNG if they are fractions of two
   numbers of at most 65,535, and are rounded to hundredths of a second in a GIF. Rounding errors do not add up. For
   delays that browsers do not show as stored, see zoetrope_writer_options.exact_delays.

   Calls on the same writer run one at a time, except for zoetrope_writer_cancel. An error of zoetrope_writer_append
   or zoetrope_writer_finish ends the writer: all later calls of these two functions fail with the same error. A
   picture that does not fit the file, such as one of another size, is such an error. Errors that occur before a
   picture has been copied do not affect the writer: a NULL pointer, an invalid struct, a delay_denominator of 0, or
   too little memory for the copy. */
zoetrope_status zoetrope_writer_create(const zoetrope_destination *destination,
                                       const zoetrope_writer_options *options, zoetrope_writer **writer,
                                       zoetrope_error *error);

/* Further pixel formats of pictures to be written, besides ZOETROPE_RGBA8, _BGRA8, _RGBX8, _RGB8, _GRAY8 and
   _RGBA16. They cannot be used for rendering. Words of 16 bits have the byte order of the processor. */
enum {
  ZOETROPE_RGB16 = 9,  /* 3 words of 16 bits */
  ZOETROPE_GRAY16 = 10 /* 1 word of 16 bits */
};

/* A picture to be written, which covers the whole canvas. The sides of a GIF are at most 65,535 pixels. An APNG has
   at most 268,435,455 pixels. */
typedef struct zoetrope_picture {
  size_t size;
  const void *pixels;
  size_t byte_count;    /* the number of bytes at `pixels` */
  size_t bytes_per_row; /* the distance from row to row; 0: rows without padding */
  int64_t width, height; /* the size of the canvas, which is that of the first picture */
  int32_t format;       /* ZOETROPE_RGBA8, ..., but no format with premultiplied alpha */
  int32_t reserved;     /* 0 */
} zoetrope_picture;

/* Collects the colours of a picture that will be appended later. If all pictures are surveyed before the first one
   is appended, the file uses the smallest pixel format that can store them: a palette, grey or RGB. Without a
   survey, an APNG is stored as RGBA, or, if its colours are limited, with the palette of its first picture. A GIF
   then has a global palette only if the colours of its first picture have to be reduced. */
zoetrope_status zoetrope_writer_survey(zoetrope_writer *writer, const zoetrope_picture *picture,
                                       zoetrope_error *error);

/* Adds a text to the file: a comment to a GIF, or a text chunk with the keyword `key` to an APNG. A NULL key means
   "Comment". This function must be called before the first picture is appended. */
zoetrope_status zoetrope_writer_add_text(zoetrope_writer *writer, const char *key, const char *text,
                                         zoetrope_error *error);

/* Appends a picture that is shown for delay_numerator / delay_denominator seconds. The picture is copied. Encodes
   on all processors, and waits while too many pictures are in progress. */
zoetrope_status zoetrope_writer_append(zoetrope_writer *writer, const zoetrope_picture *picture,
                                       uint32_t delay_numerator, uint32_t delay_denominator,
                                       zoetrope_error *error);

/* Completes the file, and describes it in `written`, which may be NULL unless the file is written to memory. Fails
   with ZOETROPE_PARAMETER if no picture was appended, or if zoetrope_writer_options.frame_count is set and differs
   from the number of pictures. */
zoetrope_status zoetrope_writer_finish(zoetrope_writer *writer, zoetrope_written *written, zoetrope_error *error);

/* Cancels the writer permanently: the file is discarded, and calls that are waiting fail with ZOETROPE_CANCELLED.
   The compression of pictures in progress ends within some rows. Does nothing once the file is complete. This
   function does not wait, and may be called from the functions of the destination. NULL is allowed. */
void zoetrope_writer_cancel(zoetrope_writer *writer);

/* Cancels the writer and frees it. An incomplete file is discarded. NULL is allowed. */
void zoetrope_writer_free(zoetrope_writer *writer);

/* ---- Rewriting ---- */

enum {
  ZOETROPE_EDIT_FRAMES = 1, /* keep frames `start` to `end` - 1, or those at `indices`, in that order */
  ZOETROPE_EDIT_TIME = 2,   /* keep the part shown from `start` until `end`, in nanoseconds */
  ZOETROPE_EDIT_SPEED = 3,  /* play `number` times as fast, 0.001 to 1000 */
  ZOETROPE_EDIT_DURATION = 4, /* scale all delays so that one play takes `end` nanoseconds */
  /* drop frames so that at most `number` per second remain, without changing the duration */
  ZOETROPE_EDIT_FRAME_RATE = 5,
  ZOETROPE_EDIT_REVERSE = 6,
  ZOETROPE_EDIT_BACK_AND_FORTH = 7, /* play forwards, then backwards */
  ZOETROPE_EDIT_CROP = 8,   /* keep the rectangle x, y, width, height of the canvas */
  ZOETROPE_EDIT_PLAYS = 9,  /* play `end` times in total; 0: until stopped */
  ZOETROPE_EDIT_DELAY = 10, /* show every frame for delay_numerator / delay_denominator seconds */
  /* scale into a box of `width` by `height`, as in zoetrope_rendering; must come after crops */
  ZOETROPE_EDIT_RESIZE = 11
};

/* One edit of an animation. Frames and times refer to the result of the previous edits. After each edit there may
   be at most 262,144 frames, or as many as the animation has, and one play may take at most 10^9 seconds. Otherwise
   the call fails with ZOETROPE_LIMIT_EXCEEDED. It also fails if the file would need more frames because long delays
   take several frames each. */
typedef struct zoetrope_edit {
  int32_t kind; /* ZOETROPE_EDIT_... */
  int32_t reserved;
  int64_t start, end;
  double number;
  int64_t x, y, width, height; /* for ZOETROPE_EDIT_RESIZE, one side may be 0 and is then derived from the other */
  int32_t fit, filter, linear_light, no_enlarging; /* as in zoetrope_rendering */
  uint32_t delay_numerator, delay_denominator;
  const int64_t *indices; /* for ZOETROPE_EDIT_FRAMES only; NULL: use `start` and `end` */
  size_t index_count;
} zoetrope_edit;

/* Applies `count` edits to the animation, in order, and writes the result to `destination`. `count` is at most
   1,000; with 0, `edits` may be NULL. `element_size` is sizeof(zoetrope_edit).

   In the animation's own format, a compressed frame is copied, byte for byte or with a new delay, if the canvas
   below it is unchanged. The other frames are encoded without loss. If the format changes or pictures are scaled,
   all frames are encoded, and the colours of a GIF may have to be reduced. The same applies if the options limit
   colours or allow a tolerance. `written` may be NULL, unless the file is written to memory. The fields `plays`,
   keep_identical, frame_count, memory_bytes and strip of the options are ignored. New frames between copied frames
   are encoded on one thread.

   Frames that are copied are not decoded, so damage to their pixels is copied, too, and neither found nor reported:
   decode all frames first, with zoetrope_read_frames, to look for it. With ZOETROPE_DAMAGE_STRICT, all frames up to the
   last one that is copied are decoded, and the call fails if one of them is damaged.

   This function counts as a call that decodes frames. If zoetrope_cancel or zoetrope_options.timeout_ns ends it,
   the file is discarded. */
zoetrope_status zoetrope_rewrite(zoetrope_animation *animation, const zoetrope_edit *edits, size_t count,
                                 size_t element_size, const zoetrope_writer_options *options,
                                 const zoetrope_destination *destination, zoetrope_written *written,
                                 zoetrope_error *error);

/* Writes the same animation, frame for frame, in fewer bytes. If it cannot be made smaller, its file is copied. The
   format does not change: `format` of the options must be 0 or the animation's format. If it is 0, the path of the
   destination must not have the extension of another format; otherwise the call fails with ZOETROPE_PARAMETER. Of the
   other options, only effort, parallelism, memory_bytes, strip, tolerance and max_bytes are used. Pictures do not
   change unless tolerance or max_bytes is set. A damaged animation is copied with its damage, and with
   ZOETROPE_DAMAGE_STRICT the call fails. A still PNG is copied; without ZOETROPE_DAMAGE_STRICT, its pixels are not
   decoded. */
zoetrope_status zoetrope_optimize(zoetrope_animation *animation, const zoetrope_writer_options *options,
                                  const zoetrope_destination *destination, zoetrope_written *written,
                                  zoetrope_error *error);

/* ---- Playback ---- */

typedef struct zoetrope_player zoetrope_player;

enum {
  ZOETROPE_LATE_SKIP = 0,    /* keep the schedule and skip overdue frames */
  ZOETROPE_LATE_STRETCH = 1  /* show every frame exactly once; a late frame shifts the schedule */
};

typedef struct zoetrope_playback {
  size_t size;
  int64_t plays;   /* the total number of plays; 0: as stored in the file; -1: until stopped */
  double rate;     /* 2 is twice as fast; 0 means 1. Clamped to 0.001...1000 */
  int32_t delays;  /* ZOETROPE_DELAYS_... */
  int32_t late;    /* ZOETROPE_LATE_... */
  int64_t start_frame;
} zoetrope_playback;

typedef struct zoetrope_shown_frame {
  size_t size;
  const void *pixels; /* valid during the callback */
  size_t bytes_per_row;
  int64_t width, height;
  int64_t index;
  int64_t play;            /* the number of the play, from 0 */
  int64_t presentation_ns; /* the frame's deadline, relative to that of the first frame, rounded up */
  /* The next frame's presentation_ns minus this frame's, unless frames are skipped, the schedule is stretched, or
     playback is paused, seeks or changes its rate. */
  int64_t duration_ns;
  int64_t lateness_ns; /* how long after its deadline the frame was delivered */
  int64_t skipped;     /* the number of frames skipped since the previous callback */
  int64_t dirty_x, dirty_y, dirty_width, dirty_height; /* the area that may differ from the previous callback's frame */
  int32_t is_last;
  int32_t is_damaged;
} zoetrope_shown_frame;

/* A callback that is called for each frame at its time. Return 0 to continue playback, or any other number to stop
   it. */
typedef int32_t (*zoetrope_shown_callback)(void *context, const zoetrope_shown_frame *frame);
/* A callback that is called once, after the last frame has been shown for its duration, or after playback has ended
   early. The code is ZOETROPE_OK, ZOETROPE_CANCELLED if playback was stopped, or the code of the error with which
   it failed. `error` is valid during the callback. */
typedef void (*zoetrope_ended_callback)(void *context, const zoetrope_error *error);

/* Plays the animation. This needs no run loop: both callbacks are called on the player's own thread, which they may
   block. They may call functions on the player, and all functions except zoetrope_close on the animation. `ended`
   may be NULL. */
zoetrope_status zoetrope_play(zoetrope_animation *animation, const zoetrope_rendering *rendering,
                              const zoetrope_playback *playback, zoetrope_shown_callback shown,
                              zoetrope_ended_callback ended, void *context, zoetrope_player **player,
                              zoetrope_error *error);

/* Stops playback. At most one more call of `shown` runs: one that has started or is about to start. Use
   zoetrope_player_wait to wait until it has returned. */
void zoetrope_player_stop(zoetrope_player *player);
void zoetrope_player_pause(zoetrope_player *player);
void zoetrope_player_resume(zoetrope_player *player);
/* Continues playback with frame `index`. Fails with ZOETROPE_PARAMETER after playback has ended. */
zoetrope_status zoetrope_player_seek(zoetrope_player *player, int64_t index, zoetrope_error *error);
/* Continues playback with the frame that is shown `time_ns` after the start of the first play: the one that
   zoetrope_frame_index_at finds with zoetrope_playback.delays. A time past one play continues into the next play.
   Fails with ZOETROPE_PARAMETER after playback has ended. */
zoetrope_status zoetrope_player_seek_time(zoetrope_player *player, int64_t time_ns, zoetrope_error *error);
/* Changes the rate, which is as in zoetrope_playback, except that 0 is not allowed. The change takes effect
   immediately. Fails with ZOETROPE_PARAMETER after playback has ended. */
zoetrope_status zoetrope_player_set_rate(zoetrope_player *player, double rate, zoetrope_error *error);

enum { ZOETROPE_PLAYING = 0, ZOETROPE_PAUSED = 1, ZOETROPE_ENDED = 2 };

/* Returns ZOETROPE_PLAYING, _PAUSED or _ENDED. The state _ENDED is final. */
int32_t zoetrope_player_state(zoetrope_player *player);
/* Waits until `ended` has returned, and returns the error with which it was called. Fails with ZOETROPE_PARAMETER
   if called from a callback of the player. */
zoetrope_status zoetrope_player_wait(zoetrope_player *player, zoetrope_error *error);
/* Stops the player, waits until no callback is running (unless called from a callback), and frees the handle. NULL
   is allowed. */
void zoetrope_player_free(zoetrope_player *player);

#ifdef __cplusplus
}
#endif

#endif
