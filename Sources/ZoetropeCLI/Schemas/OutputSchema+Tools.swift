import Zoetrope

// The schemas of JSON that is not about one input: caches, atlases, the terminal and traces.

extension OutputSchema {
  static let atlas = OutputSchema(
    name: "atlas", summary: "What sheet --atlas writes, in TexturePacker's format.",
    root: .object([
      SchemaField(
        "frames",
        .either([
          .map(.object(sprite)), .array(of: .object([SchemaField("filename", .string)] + sprite)),
        ])),
      SchemaField(
        "meta",
        .object([
          SchemaField("app", .string), SchemaField("version", .string),
          SchemaField("image", .string), SchemaField("format", .string),
          SchemaField("size", size), SchemaField("scale", .string),
          SchemaField(
            "frameTags",
            .array(
              of: .object([
                SchemaField("name", .string), SchemaField("from", .integer),
                SchemaField("to", .integer), SchemaField("direction", .string),
              ]))),
        ])),
    ]))

  private static let size = SchemaNode.object([
    SchemaField("w", .integer), SchemaField("h", .integer),
  ])

  private static let rect = SchemaNode.object([
    SchemaField("x", .integer), SchemaField("y", .integer), SchemaField("w", .integer),
    SchemaField("h", .integer),
  ])

  private static let sprite: [SchemaField] = [
    SchemaField("frame", rect), SchemaField("rotated", .boolean),
    SchemaField("trimmed", .boolean), SchemaField("spriteSourceSize", rect),
    SchemaField("sourceSize", size), SchemaField("duration", .integer, "milliseconds"),
  ]

  static let conversion = OutputSchema(
    name: "conversion", summary: "What convert and make print with --json.",
    root: report(
      ConversionReport.schema,
      naming: [.optional("file", .string), .optional("file_base64", .string)],
      [
        SchemaField("output", .string.orNull), .optional("output_base64", .string),
        SchemaField("written", .boolean), SchemaField("format", .string),
        SchemaField("bytes_before", .integer, "the size of the input, or of all inputs together"),
        SchemaField("byte_count", .integer.orNull), SchemaField("width", .integer),
        SchemaField("height", .integer),
        SchemaField(
          "loop",
          .object([SchemaField("plays", .integer.orNull), SchemaField("forever", .boolean)])),
        SchemaField("frame_count", .integer), SchemaField("copied", .integer),
        SchemaField("patched", .integer), SchemaField("encoded", .integer),
        .optional(
          "reduced", .integer, "the encoded frames with reduced colours, unless not known yet"),
        SchemaField("exact", .boolean),
        SchemaField("departures", .array(of: .words(Departure.Code.allCases.map(\.rawValue)))),
        .optional("lossy", .integer, "how far colours may differ, from 1 to 200"),
        .optional("colors", .integer, "the maximum number of colours in a palette"),
        SchemaField("damage", .array(of: .reference("damage"))),
        .optional(
          "frames",
          .array(
            of: .object([
              SchemaField("index", .integer, "counted from 0"),
              SchemaField("source", .integer.orNull),
              SchemaField("delay", fraction), SchemaField("action", .string),
              .optional("rect", .array(of: .integer, count: 4)), .optional("reason", .string),
              .optional("reduced", .boolean, "whether the colours of a new frame are reduced"),
            ])), "with --plan"),
      ]))

  static let optimization = OutputSchema(
    name: "optimization", summary: "What optimize prints with --json.",
    root: report(
      OptimizeRequest.schema,
      [
        SchemaField("output", .string), .optional("output_base64", .string),
        SchemaField("format", .string), SchemaField("bytes_before", .integer),
        SchemaField("byte_count", .integer), SchemaField("frame_count", .integer),
        SchemaField("copy", .boolean, "whether the output is the input, byte for byte"),
        SchemaField("exact", .boolean, "whether every picture is the same as in the input"),
        SchemaField("departures", .array(of: .words(Departure.Code.allCases.map(\.rawValue)))),
        .optional("lossy", .integer, "how far colours may differ, from 1 to 200"),
        .optional("colors", .integer, "the maximum number of colours in a palette"),
        SchemaField("damage", .array(of: .reference("damage"))),
      ]))

  static let probe = OutputSchema(
    name: "probe", summary: "What probe --json prints.",
    root: .object([
      schema("zoetrope.terminal/1"), SchemaField("name", .string),
      SchemaField("protocol", .string), SchemaField("glyphs", .string),
      SchemaField("utf8", .boolean), SchemaField("colors", .string),
      SchemaField("kitty_graphics", .boolean), SchemaField("kitty_edits", .boolean),
      SchemaField("iterm2_images", .boolean), SchemaField("sixel", .boolean),
      SchemaField("sixel_registers", .integer), SchemaField("sixel_registers_kept", .boolean),
      SchemaField("synchronized_output", .boolean), SchemaField("in_band_resize", .boolean),
      SchemaField("kitty_keyboard", .boolean), SchemaField("status_reports", .boolean),
      SchemaField("sextants", .boolean), SchemaField("octants", .boolean),
      SchemaField("cell", .array(of: .integer, count: 2).orNull),
      SchemaField("background", .string.orNull), SchemaField("multiplexer", .string),
      SchemaField("remote", .boolean), SchemaField("dumb", .boolean),
      SchemaField(
        "answered", .boolean, "false if only the environment was examined"),
    ]))

  static let trace = OutputSchema(
    name: "trace", summary: "What play --trace writes. Times are in nanoseconds.",
    root: .object([
      schema("zoetrope.trace/1"), SchemaField("unit", .words(["ns"])),
      SchemaField(
        "frames",
        .array(
          of: .object([
            SchemaField("index", .integer, "counted from 0"),
            SchemaField("play", .integer, "counted from 0"),
            SchemaField("deadline", .integer), SchemaField("decoded", .integer),
            SchemaField("yielded", .integer), SchemaField("lateness", .integer),
            SchemaField("skipped", .integer),
          ]))),
    ]))

  static let cache = OutputSchema(
    name: "cache", summary: "What cache stat, verify, prune and clear print with --json.",
    root: .object([
      schema(StoreReport.schema), SchemaField("directory", .string.orNull),
      .optional("directory_base64", .string), SchemaField("frame_count", .integer),
      SchemaField("byte_count", .integer), SchemaField("byte_limit", .integer),
      SchemaField("record_count", .integer), SchemaField("record_bytes", .integer),
      .optional("removed_frames", .integer.orNull), .optional("removed_bytes", .integer.orNull),
      .optional("intact", .integer), .optional("dropped", .integer.orNull),
      SchemaField(
        "tables",
        .array(
          of: .object([
            .optional("name", .string), SchemaField("width", .integer),
            SchemaField("height", .integer), SchemaField("pixel_format", .string),
            SchemaField("frame_count", .integer), SchemaField("capacity", .integer),
            SchemaField("byte_count", .integer),
          ]))),
    ]))

  static let warm = OutputSchema(
    name: "warm", summary: "What cache warm --json prints for each file.",
    root: report(
      WarmReport.schema,
      [
        SchemaField("width", .integer), SchemaField("height", .integer),
        SchemaField("pixel_format", .string), SchemaField("frame_count", .integer),
        SchemaField("stored", .integer, "new frames"),
        SchemaField("known", .integer, "frames that were already in the cache"),
        SchemaField("kept", .integer, "frames that are in the cache now"),
        SchemaField("damaged", .integer, "frames with damaged pixels"),
      ]))
}
