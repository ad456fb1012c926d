import Zoetrope

/// Why a command stopped, or could not do one of its inputs: for people, for JSON and as a status.
struct CommandFailure: Error, Hashable {
  let status: ExitStatus
  /// The error's name in JSON.
  let code: String
  let message: String
  /// The input's name as it was given, if one is at fault.
  var file: String?
  var byte: Int?
  var frame: Int?

  init(_ status: ExitStatus, code: String, _ message: String, file: String? = nil) {
    self.status = status
    self.code = code
    self.message = message
    self.file = file
  }

  /// A decoding error of the input called `file`.
  init(_ error: AnimatedImageError, file: String, damage: DamagePolicy) {
    switch error.code {
    case .limitExceeded: status = .limit
    case .parameter: status = .usage
    case .cancelled: status = .interrupted
    case .truncated, .malformed: status = damage == .strict ? .damaged : .undecodable
    default: status = .undecodable
    }
    code = error.code.name
    // Memory that the system does not have is no limit of ours, and no option gives it.
    let isLimit = error.code == .limitExceeded && error.detail.contains("the limit is")
    message = isLimit ? "\(error.detail); --limits none lifts the limits" : error.detail
    self.file = file
    byte = error.byteOffset
    frame = error.frameIndex
  }

  static func usage(_ message: String) -> CommandFailure {
    CommandFailure(.usage, code: "usage", message)
  }

  /// One line for a person.
  var line: String {
    var text = file.map { "\($0.sanitized): " } ?? ""
    text += message.sanitized
    if let frame { text += ", frame \(frame)" }
    if let byte { text += ", byte \(byte)" }
    return text
  }

  /// A line of JSON for standard error, newline included.
  var json: [UInt8] {
    var json = JSONWriter()
    json.object { writeError(to: &$0, naming: true) }
    return json.bytes + [0x0a]
  }

  /// Writes an object of `schema` for an input of which there is only the failure to tell.
  func write(to json: inout JSONWriter, schema: String) {
    json.object {
      $0.field("schema", schema)
      $0.field("file", fileName, base64Key: "file_base64")
      writeError(to: &$0)
    }
  }

  /// Writes the field `error`, with the file when `naming` it.
  func writeError(to json: inout JSONWriter, naming: Bool = false) {
    json.object("error") {
      $0.field("code", code)
      $0.field("message", message)
      if naming { $0.field("file", fileName, base64Key: "file_base64") }
      $0.field("byte", byte)
      $0.field("frame", frame)
    }
  }

  private var fileName: FileName? { file.map { FileName(argument: $0) } }
}
