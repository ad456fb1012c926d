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
    message = error.detail
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

  /// The line for `--json`, newline included.
  var json: [UInt8] {
    var json = JSONWriter()
    json.object {
      $0.object("error") {
        $0.field("code", code)
        $0.field("message", message)
        $0.field("file", file)
        $0.field("byte", byte)
        $0.field("frame", frame)
      }
    }
    return json.bytes + [0x0a]
  }
}
