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
    if case .object(let fields) = root, case .words(let words)? = fields.list.first?.node {
      return words.first
    }
    if case .either(let nodes) = root, case .object(let fields)? = nodes.first,
      let (name, node) = fields.list.first, case .words(let words) = node, "\(name)" == "schema"
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
  static let file: SchemaFields = [
    "file": .string.orNull.about("the name as given; invalid UTF-8 is replaced"),
    "file_base64": .optional(
      .string.about("the bytes of the name in Base64, if it is not valid UTF-8")),
  ]

  private static let conditions = SchemaNode.words(InputCondition.allCases.map(\.rawValue))

  /// Returns the type of what a command prints for each input: an object with `fields`, or one that says why the input
  /// failed. `names` are the fields that name the files.
  static func report(
    _ identifier: String, naming names: SchemaFields = file, _ fields: SchemaFields
  ) -> SchemaNode {
    let schema: SchemaFields = ["schema": .words([identifier])]
    return .either([
      .fields(schema, names, fields),
      .fields(schema, file, ["status": conditions, "error": .reference("error")]),
    ])
  }

  private static let damage = SchemaNode.object(damageFields)

  private static let damageFields: SchemaFields = [
    "kind": .string.about("the name by which the documentation calls this damage"),
    "tolerated": .boolean.about("whether nothing is lost"),
    "frame": .integer.orNull.about("counted from 0"), "byte_offset": .integer,
    "valid_rows": .integer.orNull, "reason": .string,
  ]

  private static let errorFields: SchemaFields = [
    "code": .string, "message": .string.about("for people; may change"),
    "byte_offset": .integer.orNull, "frame": .integer.orNull.about("counted from 0"),
  ]

  private static let error = SchemaNode.object(errorFields)

  static let fraction = SchemaNode.object(["num": .integer, "den": .integer])

  private static let duration = SchemaNode.object([
    "stored": .number.about("one play with the stored delays"),
    "shown": .number.about("one play under the policy of --timing"), "policy": .string,
    "by_policy": .optional(.map(.number)),
  ])

  private static let output: SchemaFields = [
    "output": .optional(.string.about("the file that was written; - for standard output")),
    "output_base64": .optional(.string), "output_bytes": .optional(.integer),
  ]
}

// MARK: - The schemas

extension OutputSchema {
  private static let animation = OutputSchema(
    name: "animation", summary: "What info --json prints, and each line of a manifest of extract.",
    root: report(
      AnimationReport.schema,
      [
        "status": conditions.about("without decoding, only damage to the structure is known"),
        "error": .optional(.reference("error")), "format": .string, "byte_count": .integer,
        "width": .integer, "height": .integer, "raw": .optional(.boolean),
        "output_size": .optional(.integers(2)), "frame_count": .integer,
        "default_image": .optional(.fields(["is_frame_0": .boolean], output)),
        "loop": .object([
          "raw": .integer.orNull, "raw_present": .boolean,
          "plays": .integer.orNull.about("null when forever"), "forever": .boolean,
        ]),
        "duration_ms": duration, "hash_algorithm": .optional(.string),
        "color": .object([
          "srgb_intent": .integer.orNull, "gamma": .number.orNull,
          "chromaticities": .optional(.integers(8)), "icc_name": .string.orNull,
          "icc_bytes": .integer, "cicp": .optional(.integers(4)),
        ]),
        "density": .optional(
          .object(["x": .integer, "y": .integer, "unit": .words(["metre", "unknown"])])),
        "text": .array(of: .object(["key": .string, "value": .string])),
        "application_blocks": .optional(
          .array(
            of: .object(["identifier": .string, "byte_count": .integer, "byte_offset": .integer]))),
        "xmp_bytes": .integer, "exif_bytes": .integer, "damage": .array(of: .reference("damage")),
        "frames": .array(of: frame),
        "picture_rate": .optional(fraction.about("the rate of --fps, in pictures per second")),
        "pictures": .optional(.array(of: picture).about("the pictures that --fps makes")),
      ]))

  private static let frame = SchemaNode.fields(
    [
      "index": .integer.about("counted from 0"), "start_ms": .number,
      "delay": fraction.about("the stored delay in seconds, as a fraction"),
      "stored_ms": .number.about("the stored delay"),
      "shown_ms": .number.about("how long the frame is shown under the policy of --timing"),
      "rect": .integers(4).about("x, y, width, height"),
      "dispose": .words(["none", "background", "previous"]), "blend": .words(["source", "over"]),
      "independent": .boolean, "interlaced": .boolean,
      "byte_range": .integers(2).about("offset and length"),
      "by_policy": .optional(
        .map(.number).about("how long the frame is shown under each named policy")),
      "hash": .optional(.string),
    ], output,
    [
      "shown_by": .optional(.array(of: .integer).about("the frames that show this picture")),
      "same_as": .optional(.integer.about("the frame that shows the same picture")),
      "changed_rect": .optional(.integers(4)),
    ])

  private static let picture = SchemaNode.fields(
    [
      "number": .integer.about("counted from 0"),
      "frame": .integer.about("the frame that the picture shows"), "start_ms": .number,
    ], output)

  private static let arrival = OutputSchema(
    name: "arrival", summary: "What info --follow --json prints while frames arrive.",
    root: .fields(
      ["schema": .words([ArrivalReport.schema])], file,
      [
        "format": .string, "width": .integer, "height": .integer, "bytes_received": .integer.orNull,
        "frame_count": .integer, "announced_frames": .integer.orNull, "duration_ms": duration,
      ]))

  private static let check = OutputSchema(
    name: "check", summary: "What check --json prints for each file.",
    root: report(
      DamageReport.schema,
      [
        "format": .string, "byte_count": .integer, "width": .integer, "height": .integer,
        "frame_count": .integer, "plays": .integer.orNull.about("null when forever"),
        "forever": .boolean, "duration_ms": duration, "status": conditions,
        "has_deviations": .boolean, "damage": .array(of: .reference("damage")),
      ]))

  private static let explain = OutputSchema(
    name: "explain", summary: "What explain --json prints for each file.",
    root: report(
      ExplanationReport.schema,
      [
        "format": .string, "width": .integer, "height": .integer, "frame_count": .integer,
        "programs": .array(of: program),
      ]))

  private static let program = SchemaNode.object([
    "id": .string, "name": .string, "animates": .boolean, "plays": .integer.orNull,
    "forever": .boolean, "stored_loop": .optional(.integer.orNull),
    "duration_ms": .number.orNull.about("the duration of one play in this program"),
    "changed_delays": .array(
      of: .object([
        "frame": .integer, "stored_ms": .number.about("the frame's stored delay"),
        "shown_ms": .number.orNull.about("how long this program shows it"),
      ])),
    "difference": .object([
      "outcome": .words(["none", "differs", "unpredicted", "unknown"]), "frame": .integer.orNull,
      "cause": .string.orNull, "detail": .string.orNull,
    ]),
    "rules": .array(
      of: .object([
        "subject": .string, "text": .string, "applies": .boolean,
        "evidence": .words(["measured", "reported"]), "version": .string.orNull, "source": .string,
      ])),
  ])

  private static let progress = OutputSchema(
    name: "progress", summary: "The lines on standard error with --progress json.",
    root: .either([
      .fields(
        ["phase": .words(["open", "extract", "fit", "write", "done"])], optionalFile,
        [
          "position": .optional(.integer.about("the number of the file, from 1")),
          "files": .optional(.integer.about("how many files there are")),
          "attempt": .optional(
            .integer.about("the number of the attempt to meet --max-bytes or --for, from 1")),
          "sample": .optional(
            .boolean.about("whether that attempt only estimates the size of a file")),
          "done": .integer.orNull.about("frames"), "total": .integer.orNull.about("frames"),
          "bytes": .integer.orNull, "frames_received": .optional(.integer),
          "bytes_received": .optional(.integer),
        ]),
      .object([
        "phase": .words(["summary"]), "files": .integer, "ok": .integer, "damaged": .integer,
        "unreadable": .integer, "failed": .integer, "not_reached": .integer, "frames": .integer,
        "bytes": .integer.orNull,
      ]),
      .object(["error": .fields(errorFields, file)]),
      .object(["damage": .fields(file, damageFields)]),
      .object([
        "warning": .object([
          "code": .string, "message": .string, "cache": .string.orNull,
          "cache_base64": .optional(.string),
        ])
      ]),
    ]))

  private static let optionalFile: SchemaFields = [
    "file": .optional(.string.orNull), "file_base64": .optional(.string),
  ]
}
