import Zoetrope
import ZoetropeExplain
import ZoetropeProcess

/// The JSON Schema of one kind of JSON that the tool prints.
struct OutputSchema: Sendable {
  /// The name of the schema for `zoetrope schema`.
  let name: String
  /// A sentence that describes the JSON.
  let summary: String
  let root: SchemaNode

  /// The value of the field "schema" in the JSON, or nil if the JSON does not have that field.
  var identifier: String? {
    if case .object(let fields) = root, case .words(let words)? = fields.first?.node {
      return words.first
    }
    if case .either(let nodes) = root, case .object(let fields)? = nodes.first,
      case .words(let words)? = fields.first?.node, "\(fields[0].name)" == "schema"
    {
      return words.first
    }
    return nil
  }

  /// The definitions that several schemas share.
  private static let definitions: [(StaticString, SchemaNode)] = [
    ("damage", damage), ("error", error),
  ]

  /// Writes the schema as one JSON object.
  func write(to json: inout JSONWriter) {
    json.object { json in
      json.field("$schema", "https://json-schema.org/draft/2020-12/schema")
      json.field("title", "zoetrope \(name)")
      json.field("description", summary)
      root.write(to: &json)
      json.object("$defs") { json in
        for (name, node) in Self.definitions { json.object(name) { node.write(to: &$0) } }
      }
    }
  }

  /// All schemas.
  static let all = [
    animation, arrival, atlas, cache, check, conversion, explain, optimization, probe, progress,
    trace,
    warm,
  ]
}

// MARK: - Shared parts

extension OutputSchema {
  static func schema(_ identifier: String) -> SchemaField {
    SchemaField("schema", .words([identifier]))
  }

  static let file: [SchemaField] = [
    SchemaField("file", .string.orNull, "the name as given; invalid UTF-8 is replaced"),
    .optional("file_base64", .string, "the bytes of the name in Base64, if it is not valid UTF-8"),
  ]

  private static let conditions = SchemaNode.words(InputCondition.allCases.map(\.rawValue))

  /// Returns the type of what a command prints for each input: an object with `fields`, or one that says why the input
  /// failed. `names` are the fields that name the files.
  static func report(
    _ identifier: String, naming names: [SchemaField] = file, _ fields: [SchemaField]
  ) -> SchemaNode {
    let failure = [SchemaField("status", conditions), SchemaField("error", .reference("error"))]
    return .either([
      .object([schema(identifier)] + names + fields),
      .object([schema(identifier)] + file + failure),
    ])
  }

  private static let damage = SchemaNode.object(damageFields)

  private static let damageFields: [SchemaField] = [
    SchemaField("kind", .string, "the name by which the documentation calls this damage"),
    SchemaField("tolerated", .boolean, "whether nothing is lost"),
    SchemaField("frame", .integer.orNull, "counted from 0"),
    SchemaField("byte_offset", .integer), SchemaField("valid_rows", .integer.orNull),
    SchemaField("reason", .string),
  ]

  private static let errorFields: [SchemaField] = [
    SchemaField("code", .string), SchemaField("message", .string, "for people; may change"),
    SchemaField("byte_offset", .integer.orNull),
    SchemaField("frame", .integer.orNull, "counted from 0"),
  ]

  private static let error = SchemaNode.object(errorFields)

  static let fraction = SchemaNode.object([
    SchemaField("num", .integer), SchemaField("den", .integer),
  ])

  private static let duration = SchemaNode.object([
    SchemaField("stored", .number, "one play with the stored delays"),
    SchemaField("shown", .number, "one play under the policy of --timing"),
    SchemaField("policy", .string), .optional("by_policy", .map(.number)),
  ])

  private static let output: [SchemaField] = [
    .optional("output", .string, "the file that was written; - for standard output"),
    .optional("output_base64", .string), .optional("output_bytes", .integer),
  ]
}

// MARK: - The schemas

extension OutputSchema {
  private static let animation = OutputSchema(
    name: "animation", summary: "What info --json prints, and each line of a manifest of extract.",
    root: report(
      AnimationReport.schema,
      [
        SchemaField(
          "status", conditions, "without decoding, only damage to the structure is known"),
        .optional("error", .reference("error")),
        SchemaField("format", .string), SchemaField("byte_count", .integer),
        SchemaField("width", .integer), SchemaField("height", .integer),
        .optional("raw", .boolean), .optional("output_size", .integers(2)),
        SchemaField("frame_count", .integer),
        .optional(
          "default_image", .object([SchemaField("is_frame_0", .boolean)] + output)),
        SchemaField(
          "loop",
          .object([
            SchemaField("raw", .integer.orNull), SchemaField("raw_present", .boolean),
            SchemaField("plays", .integer.orNull, "null when forever"),
            SchemaField("forever", .boolean),
          ])),
        SchemaField("duration_ms", duration), .optional("hash_algorithm", .string),
        SchemaField(
          "color",
          .object([
            SchemaField("srgb_intent", .integer.orNull), SchemaField("gamma", .number.orNull),
            .optional("chromaticities", .integers(8)), SchemaField("icc_name", .string.orNull),
            SchemaField("icc_bytes", .integer), .optional("cicp", .integers(4)),
          ])),
        .optional(
          "density",
          .object([
            SchemaField("x", .integer), SchemaField("y", .integer),
            SchemaField("unit", .words(["metre", "unknown"])),
          ])),
        SchemaField(
          "text",
          .array(of: .object([SchemaField("key", .string), SchemaField("value", .string)]))),
        .optional(
          "application_blocks",
          .array(
            of: .object([
              SchemaField("identifier", .string), SchemaField("byte_count", .integer),
              SchemaField("byte_offset", .integer),
            ]))),
        SchemaField("xmp_bytes", .integer), SchemaField("exif_bytes", .integer),
        SchemaField("damage", .array(of: .reference("damage"))),
        SchemaField("frames", .array(of: frame)),
        .optional("picture_rate", fraction, "the rate of --fps, in pictures per second"),
        .optional("pictures", .array(of: picture), "the pictures that --fps makes"),
      ]))

  private static let frame = SchemaNode.object(
    [
      SchemaField("index", .integer, "counted from 0"), SchemaField("start_ms", .number),
      SchemaField("delay", fraction, "the stored delay in seconds, as a fraction"),
      SchemaField("stored_ms", .number, "the stored delay"),
      SchemaField("shown_ms", .number, "how long the frame is shown under the policy of --timing"),
      SchemaField("rect", .integers(4), "x, y, width, height"),
      SchemaField("dispose", .words(["none", "background", "previous"])),
      SchemaField("blend", .words(["source", "over"])), SchemaField("independent", .boolean),
      SchemaField("interlaced", .boolean),
      SchemaField("byte_range", .integers(2), "offset and length"),
      .optional("by_policy", .map(.number), "how long the frame is shown under each named policy"),
      .optional("hash", .string),
    ] + output + [
      .optional("shown_by", .array(of: .integer), "the frames that show this picture"),
      .optional("same_as", .integer, "the frame that shows the same picture"),
      .optional("changed_rect", .integers(4)),
    ])

  private static let picture = SchemaNode.object(
    [
      SchemaField("number", .integer, "counted from 0"),
      SchemaField("frame", .integer, "the frame that the picture shows"),
      SchemaField("start_ms", .number),
    ] + output)

  private static let arrival = OutputSchema(
    name: "arrival", summary: "What info --follow --json prints while frames arrive.",
    root: .object(
      [schema(ArrivalReport.schema)] + file + [
        SchemaField("format", .string), SchemaField("width", .integer),
        SchemaField("height", .integer), SchemaField("bytes_received", .integer.orNull),
        SchemaField("frame_count", .integer), SchemaField("announced_frames", .integer.orNull),
        SchemaField("duration_ms", duration),
      ]))

  private static let check = OutputSchema(
    name: "check", summary: "What check --json prints for each file.",
    root: report(
      DamageReport.schema,
      [
        SchemaField("format", .string), SchemaField("byte_count", .integer),
        SchemaField("width", .integer), SchemaField("height", .integer),
        SchemaField("frame_count", .integer),
        SchemaField("plays", .integer.orNull, "null when forever"),
        SchemaField("forever", .boolean), SchemaField("duration_ms", duration),
        SchemaField("status", conditions), SchemaField("has_deviations", .boolean),
        SchemaField("damage", .array(of: .reference("damage"))),
      ]))

  private static let explain = OutputSchema(
    name: "explain", summary: "What explain --json prints for each file.",
    root: report(
      ExplanationReport.schema,
      [
        SchemaField("format", .string), SchemaField("width", .integer),
        SchemaField("height", .integer), SchemaField("frame_count", .integer),
        SchemaField("programs", .array(of: program)),
      ]))

  private static let program = SchemaNode.object([
    SchemaField("id", .string), SchemaField("name", .string), SchemaField("animates", .boolean),
    SchemaField("plays", .integer.orNull), SchemaField("forever", .boolean),
    .optional("stored_loop", .integer.orNull),
    SchemaField("duration_ms", .number.orNull, "the duration of one play in this program"),
    SchemaField(
      "changed_delays",
      .array(
        of: .object([
          SchemaField("frame", .integer),
          SchemaField("stored_ms", .number, "the frame's stored delay"),
          SchemaField("shown_ms", .number.orNull, "how long this program shows it"),
        ]))),
    SchemaField(
      "difference",
      .object([
        SchemaField("outcome", .words(["none", "differs", "unpredicted", "unknown"])),
        SchemaField("frame", .integer.orNull), SchemaField("cause", .string.orNull),
        SchemaField("detail", .string.orNull),
      ])),
    SchemaField(
      "rules",
      .array(
        of: .object([
          SchemaField("subject", .string), SchemaField("text", .string),
          SchemaField("applies", .boolean),
          SchemaField("evidence", .words(["measured", "reported"])),
          SchemaField("version", .string.orNull), SchemaField("source", .string),
        ]))),
  ])

  private static let progress = OutputSchema(
    name: "progress", summary: "The lines on standard error with --progress json.",
    root: .either([
      .object(
        [SchemaField("phase", .words(["open", "extract", "fit", "write", "done"]))] + optionalFile
          + [
            .optional("position", .integer, "the number of the file, from 1"),
            .optional("files", .integer, "how many files there are"),
            .optional(
              "attempt", .integer, "the number of the attempt to meet --max-bytes or --for, from 1"),
            .optional("sample", .boolean, "whether that attempt only estimates the size of a file"),
            SchemaField("done", .integer.orNull, "frames"),
            SchemaField("total", .integer.orNull, "frames"), SchemaField("bytes", .integer.orNull),
            .optional("frames_received", .integer), .optional("bytes_received", .integer),
          ]),
      .object([
        SchemaField("phase", .words(["summary"])), SchemaField("files", .integer),
        SchemaField("ok", .integer), SchemaField("damaged", .integer),
        SchemaField("unreadable", .integer), SchemaField("failed", .integer),
        SchemaField("not_reached", .integer), SchemaField("frames", .integer),
        SchemaField("bytes", .integer.orNull),
      ]),
      .object([
        SchemaField("error", .object(errorFields + file))
      ]),
      .object([SchemaField("damage", .object(file + damageFields))]),
      .object([
        SchemaField(
          "warning",
          .object([
            SchemaField("code", .string), SchemaField("message", .string),
            SchemaField("cache", .string.orNull), .optional("cache_base64", .string),
          ]))
      ]),
    ]))

  private static let optionalFile: [SchemaField] = [
    .optional("file", .string.orNull), .optional("file_base64", .string),
  ]
}
