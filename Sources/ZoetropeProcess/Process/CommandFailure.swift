package import SystemPackage
package import Zoetrope
internal import ZoetropeTerminal

/// Why a command stopped or an input failed, as text, as JSON and as an exit status.
package struct CommandFailure: Error, Hashable {
  package let status: ExitStatus
  /// The error's code in JSON.
  package let code: String
  package let message: String
  /// The input that failed, as named on the command line, if there is one.
  package var file: String?
  package var byte: Int?
  package var frame: Int?

  package init(_ status: ExitStatus, code: String, _ message: String, file: String? = nil) {
    self.status = status
    self.code = code
    self.message = message
    self.file = file
  }

  /// A decoding error of the input called `file`.
  package init(_ error: AnimatedImageError, file: String, damage: DamagePolicy) {
    switch error.code {
    case .limitExceeded, .outOfMemory: status = .limit
    case .parameter: status = .usage
    case .unwritable: status = .cannotWrite
    case .cancelled: status = .interrupted
    case .truncated, .malformed: status = damage == .strict ? .damaged : .undecodable
    default: status = .undecodable
    }
    code = error.code.name
    let hasOption = error.limit.map { !$0.kind.isFixed } ?? false
    message = hasOption ? "\(error.detail); --limits none removes the limits" : error.detail
    self.file = file
    byte = error.byteOffset
    frame = error.frameIndex
  }

  package static func usage(_ message: String) -> CommandFailure {
    CommandFailure(.usage, code: "usage", message)
  }

  /// One line of text.
  package var line: String {
    var text = file.map { "\($0.sanitized): " } ?? ""
    text += message.sanitized
    if let frame { text += ", frame \(frame)" }
    if let byte { text += ", byte \(byte)" }
    return text
  }

  /// A line of JSON for standard error, newline included.
  package var json: [UInt8] {
    var json = JSONWriter()
    json.object { writeError(to: &$0, naming: true) }
    return json.bytes + [0x0a]
  }

  /// Reports it on standard error, as text or as JSON.
  package func report(asJSON: Bool) {
    FileDescriptor.note(asJSON ? String(decoding: json, as: UTF8.self) : "zoetrope: \(line)\n")
  }

  /// Writes an object of `schema` for an input that failed.
  package func write(to json: inout JSONWriter, schema: String) {
    json.object {
      $0.field("schema", schema)
      $0.field("file", fileName, base64Key: "file_base64")
      writeError(to: &$0)
    }
  }

  /// Writes the field `error`, with the file if `naming`.
  package func writeError(to json: inout JSONWriter, naming: Bool = false) {
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

/// The name of a file for reports: text, and its bytes where they are not valid UTF-8.
package struct FileName: Hashable, Sendable {
  package let text: String
  /// Nil when `text` is the whole name.
  package let bytes: [UInt8]?

  package init(_ bytes: [UInt8]) {
    text = String(decoding: bytes, as: UTF8.self)
    self.bytes = bytes.elementsEqual(text.utf8) ? nil : bytes
  }

  package init(_ path: FilePath) { self.init(path.bytes) }

  /// The name given as `argument` (see ``RawArguments``).
  package init(argument: String) { self.init(RawArguments.bytes(of: argument)) }
}

extension JSONWriter {
  /// Writes the field `key` with a file's name and, if that is not valid UTF-8, `base64Key` with
  /// its bytes.
  package mutating func field(_ key: StaticString, _ name: FileName?, base64Key: StaticString) {
    field(key, name?.text)
    guard let bytes = name?.bytes else { return }
    var text: [UInt8] = []
    Base64.append(bytes[...], to: &text)
    field(base64Key, String(decoding: text, as: UTF8.self))
  }
}
