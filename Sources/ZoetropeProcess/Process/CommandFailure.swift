package import Zoetrope

/// The reason why a command stopped or an input failed. It is reported as text or JSON, and as the exit status.
package struct CommandFailure: Error, Hashable {
  package let status: ExitStatus
  /// The error's code in JSON.
  package let code: String
  package var message: String
  /// The input that failed, as named on the command line. Nil if the failure does not concern one input.
  package var file: String?
  package var byte: Int?
  package var frame: Int?
  /// A suggestion for fixing the cause of the failure, or nil if there is none.
  package var advice: String?

  package init(_ status: ExitStatus, code: String, _ message: String, file: String? = nil) {
    self.status = status
    self.code = code
    self.message = message
    self.file = file
  }

  /// Returns the failure of a command that a signal is ending, or nil if none is.
  package static func interruption(
    _ message: String = "interrupted", file: String? = nil
  ) -> CommandFailure? {
    Signals.ending.map { CommandFailure($0, code: "interrupted", message, file: file) }
  }

  /// Creates the failure for `error`, which occurred while decoding the input called `file` under the damage policy
  /// `damage`.
  package init(_ error: AnimatedImageError, file: String, damage: DamagePolicy) {
    switch error.code {
    case .limitExceeded where error.limit?.kind == .outputBytes: status = .budget
    case .limitExceeded, .outOfMemory: status = .limit
    case .parameter: status = .usage
    case .unwritable: status = .cannotWrite
    case .cancelled: status = .interrupted
    case .truncated, .malformed: status = damage == .strict ? .damaged : .undecodable
    default: status = .undecodable
    }
    // A limit on the size of an output says nothing about the input, unlike the limits for opening a file.
    code = status == .budget ? "overBudget" : error.code.name
    message = error.limit?.description ?? error.detail
    if error.limit?.kind.isFixed == false { advice = "--limits none removes the limits" }
    self.file = file
    byte = error.byteOffset
    frame = error.frameIndex
  }

  package static func usage(_ message: String, file: String? = nil) -> CommandFailure {
    CommandFailure(.usage, code: "usage", message, file: file)
  }

  /// The message and the suggestion, if there is one.
  package var messageWithAdvice: String { advice.map { "\(message); \($0)" } ?? message }

  /// The failure as one line of text.
  package var line: String {
    // The name is empty if a script has quoted a variable that is not set.
    var text = file.map { "\($0.isEmpty ? "''" : $0.sanitized): " } ?? ""
    text += message.sanitized
    if let frame { text += ", frame \(frame)" }
    if let byte { text += ", byte \(byte)" }
    if let advice { text += "; \(advice)" }
    return text
  }

  /// The failure as a line of JSON for standard error, including the line break.
  package var json: [UInt8] {
    var json = JSONWriter()
    json.object { writeError(to: &$0, naming: true) }
    return json.bytes + [0x0a]
  }

  /// Reports the failure on standard error, as text or as JSON.
  package func report(asJSON: Bool) {
    guard !asJSON else { return FileDescriptor.note(String(decoding: json, as: UTF8.self)) }
    // An interruption, for example by Ctrl-C, is not an error.
    FileDescriptor.note("zoetrope: \(code == "interrupted" ? "" : "error: ")\(line)\n")
  }

  /// Writes the field `error`. It includes the name of the file if `naming`.
  package func writeError(to json: inout JSONWriter, naming: Bool = false) {
    json.object("error") {
      $0.field("code", code)
      $0.field("message", messageWithAdvice)
      if naming { $0.field("file", fileName, base64Key: "file_base64") }
      $0.field("byte_offset", byte)
      $0.field("frame", frame)
    }
  }

  private var fileName: FileName? { file.map { FileName(argument: $0) } }
}

extension JSONWriter {
  /// Writes the field `key` with a file's name. If the name is not valid UTF-8, also writes the field `base64Key` with
  /// the bytes of the name.
  package mutating func field(_ key: StaticString, _ name: FileName?, base64Key: StaticString) {
    field(key, name?.text)
    guard let bytes = name?.bytes else { return }
    var text: [UInt8] = []
    Base64.append(bytes[...], to: &text)
    field(base64Key, String(decoding: text, as: UTF8.self))
  }
}
