import Zoetrope

// The schemas of JSON that is not about one input: caches, atlases, the terminal and traces.

extension OutputSchema {
  static let atlas = OutputSchema(
    name: "atlas", summary: "What sheet --atlas writes, in TexturePacker's format.",
    root: .object([
      "frames": .either([
        .map(.object(sprite)), .array(of: .fields(["filename": .string], sprite)),
      ]),
      "meta": .object([
        "app": .string, "version": .string, "image": .string, "format": .string, "size": size,
        "scale": .string,
        "frameTags": .array(
          of: .object(["name": .string, "from": .integer, "to": .integer, "direction": .string])),
      ]),
    ]))

  private static let size = SchemaNode.object(["w": .integer, "h": .integer])

  private static let rect = SchemaNode.object([
    "x": .integer, "y": .integer, "w": .integer, "h": .integer,
  ])

  private static let sprite: SchemaFields = [
    "frame": rect, "rotated": .boolean, "trimmed": .boolean, "spriteSourceSize": rect,
    "sourceSize": size, "duration": .integer.about("milliseconds"),
  ]

  static let conversion = OutputSchema(
    name: "conversion", summary: "What convert and make print with --json.",
    root: report(
      ConversionReport.schema,
      naming: ["file": .optional(.string), "file_base64": .optional(.string)],
      [
        "output": .string.orNull, "output_base64": .optional(.string), "written": .boolean,
        "format": .string,
        "bytes_before": .integer.about("the size of the input, or of all inputs together"),
        "byte_count": .integer.orNull, "width": .integer, "height": .integer,
        "loop": .object(["plays": .integer.orNull, "forever": .boolean]), "frame_count": .integer,
        "copied": .integer, "patched": .integer, "encoded": .integer,
        "reduced": .optional(
          .integer.about("the encoded frames with reduced colours, unless not known yet")),
        "exact": .boolean,
        "departures": .array(of: .words(Departure.Code.allCases.map(\.rawValue))),
        "lossy": .optional(.integer.about("how far colours may differ, from 1 to 200")),
        "colors": .optional(.integer.about("the maximum number of colours in a palette")),
        "damage": .array(of: .reference("damage")),
        "frames": .optional(
          .array(
            of: .object([
              "index": .integer.about("counted from 0"), "source": .integer.orNull,
              "delay": fraction, "action": .string, "rect": .optional(.integers(4)),
              "reason": .optional(.string),
              "reduced": .optional(
                .boolean.about("whether the colours of a new frame are reduced")),
            ])
          ).about("with --plan")),
      ]))

  static let optimization = OutputSchema(
    name: "optimization", summary: "What optimize prints with --json.",
    root: report(
      OptimizeRequest.schema,
      [
        "output": .string, "output_base64": .optional(.string), "format": .string,
        "bytes_before": .integer, "byte_count": .integer, "frame_count": .integer,
        "copy": .boolean.about("whether the output is the input, byte for byte"),
        "exact": .boolean.about("whether every picture is the same as in the input"),
        "departures": .array(of: .words(Departure.Code.allCases.map(\.rawValue))),
        "lossy": .optional(.integer.about("how far colours may differ, from 1 to 200")),
        "colors": .optional(.integer.about("the maximum number of colours in a palette")),
        "damage": .array(of: .reference("damage")),
      ]))

  static let probe = OutputSchema(
    name: "probe", summary: "What probe --json prints.",
    root: .object([
      "schema": .words(["zoetrope.terminal/1"]), "name": .string, "protocol": .string,
      "glyphs": .string, "utf8": .boolean, "colors": .string, "kitty_graphics": .boolean,
      "kitty_edits": .boolean, "iterm2_images": .boolean, "sixel": .boolean,
      "sixel_registers": .integer, "sixel_registers_kept": .boolean,
      "synchronized_output": .boolean, "in_band_resize": .boolean, "kitty_keyboard": .boolean,
      "status_reports": .boolean, "sextants": .boolean, "octants": .boolean,
      "cell": .array(of: .integer, count: 2).orNull, "background": .string.orNull,
      "multiplexer": .string, "remote": .boolean, "dumb": .boolean,
      "answered": .boolean.about("false if only the environment was examined"),
    ]))

  static let trace = OutputSchema(
    name: "trace", summary: "What play --trace writes. Times are in nanoseconds.",
    root: .object([
      "schema": .words(["zoetrope.trace/1"]), "unit": .words(["ns"]),
      "frames": .array(
        of: .object([
          "index": .integer.about("counted from 0"), "play": .integer.about("counted from 0"),
          "deadline": .integer, "decoded": .integer, "yielded": .integer, "lateness": .integer,
          "skipped": .integer,
        ])),
    ]))

  static let cache = OutputSchema(
    name: "cache", summary: "What cache stat, verify, prune and clear print with --json.",
    root: .object([
      "schema": .words([StoreReport.schema]), "directory": .string.orNull,
      "directory_base64": .optional(.string), "frame_count": .integer, "byte_count": .integer,
      "byte_limit": .integer, "record_count": .integer, "record_bytes": .integer,
      "removed_frames": .optional(.integer.orNull), "removed_bytes": .optional(.integer.orNull),
      "intact": .optional(.integer), "dropped": .optional(.integer.orNull),
      "tables": .array(
        of: .object([
          "name": .optional(.string), "width": .integer, "height": .integer,
          "pixel_format": .string, "frame_count": .integer, "capacity": .integer,
          "byte_count": .integer,
        ])),
    ]))

  static let warm = OutputSchema(
    name: "warm", summary: "What cache warm --json prints for each file.",
    root: report(
      WarmReport.schema,
      [
        "width": .integer, "height": .integer, "pixel_format": .string, "frame_count": .integer,
        "stored": .integer.about("new frames"),
        "known": .integer.about("frames that were already in the cache"),
        "kept": .integer.about("frames that are in the cache now"),
        "damaged": .integer.about("frames with damaged pixels"),
      ]))
}
