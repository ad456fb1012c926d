/// The name of an output file with places for the frame's number and times.
///
/// `{stem}` `{index}` `{index:04}` `{time_ms}` `{delay_ms}` `{ext}`, and `%d` or `%04d` for the
/// index, as ffmpeg and ImageMagick have it; `{{` and `%%` stand for themselves.
struct OutputTemplate: Hashable, Sendable {
  enum Token: Hashable, Sendable {
    case text([UInt8])
    case stem
    case index(width: Int)
    case time
    case delay
    case fileExtension
  }

  /// The values that the places take for one frame.
  struct Values {
    var stem: [UInt8]
    /// Nil for the static image, whose place in names is the word `static`.
    var index: Int?
    var timeMilliseconds: Int
    var delayMilliseconds: Int
    var fileExtension: String
  }

  let tokens: [Token]

  init(tokens: [Token]) { self.tokens = tokens }

  /// Whether two frames of a file can have different names.
  var tellsFramesApart: Bool {
    tokens.contains { if case .index = $0 { true } else { $0 == .time } }
  }

  /// Whether two files can have different names.
  var tellsFilesApart: Bool { tokens.contains(.stem) }

  /// Whether there is any place to fill.
  var hasTokens: Bool { tokens.contains { if case .text = $0 { false } else { true } } }

  /// The name for `values`.
  func name(_ values: Values) -> [UInt8] {
    tokens.flatMap { token -> [UInt8] in
      switch token {
      case .text(let bytes): bytes
      case .stem: values.stem
      case .index(let width):
        Array((values.index.map(String.init) ?? "static").paddedLeft(to: width, with: "0").utf8)
      case .time: Array(String(values.timeMilliseconds).utf8)
      case .delay: Array(String(values.delayMilliseconds).utf8)
      case .fileExtension: Array(values.fileExtension.utf8)
      }
    }
  }
}

extension OutputTemplate {
  /// - Throws: A usage failure that names the place that is not known.
  init(parsing bytes: [UInt8]) throws(CommandFailure) {
    var tokens: [Token] = []
    var text: [UInt8] = []
    func flush() {
      if !text.isEmpty { tokens.append(.text(text)) }
      text = []
    }
    var rest = bytes[...]
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "{"), UInt8(ascii: "%"):
        if rest.first == byte {
          text.append(byte)
          rest.removeFirst()
          continue
        }
        flush()
        tokens.append(byte == UInt8(ascii: "{") ? try Self.place(&rest) : try Self.number(&rest))
      case UInt8(ascii: "}"):
        if rest.first == byte { rest.removeFirst() }
        text.append(byte)
      default: text.append(byte)
      }
    }
    flush()
    self.init(tokens: tokens)
  }

  private static func place(_ rest: inout ArraySlice<UInt8>) throws(CommandFailure) -> Token {
    guard let end = rest.firstIndex(of: UInt8(ascii: "}")) else {
      throw .usage("a { in the output name has no }; {{ stands for a plain {")
    }
    let name = String(decoding: rest[..<end], as: UTF8.self)
    rest = rest[(end + 1)...]
    switch name {
    case "stem": return .stem
    case "index": return .index(width: 0)
    case "time_ms": return .time
    case "delay_ms": return .delay
    case "ext": return .fileExtension
    default:
      if name.hasPrefix("index:"), let width = UInt8(name.dropFirst(6)), width <= 20 {
        return .index(width: Int(width))
      }
      throw .usage(
        "{\(name)} is not known in an output name; "
          + "there are {stem} {index} {index:04} {time_ms} {delay_ms} {ext}")
    }
  }

  private static func number(_ rest: inout ArraySlice<UInt8>) throws(CommandFailure) -> Token {
    let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    rest = rest[digits.endIndex...]
    let width = digits.isEmpty ? 0 : Int(String(decoding: digits, as: UTF8.self)) ?? 99
    guard rest.popFirst() == UInt8(ascii: "d"), width <= 20 else {
      throw .usage("only %d or %04d may follow a % in an output name; %% stands for a plain %")
    }
    return .index(width: width)
  }
}
