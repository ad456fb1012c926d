/// The name of an output file with places for the frame's number and times.
///
/// `{name}` `{stem}` `{index}` `{time_ms}` `{delay_ms}` `{ext}`, numbers also with a width as in
/// `{index:04}`, and `%d` or `%04d` for the index, as ffmpeg and ImageMagick have it; `{{` and `%%`
/// stand for themselves.
struct OutputTemplate: Hashable, Sendable {
  enum Token: Hashable, Sendable {
    case text([UInt8])
    /// The input's name with its extension.
    case name
    case stem
    case index(width: Int)
    case time(width: Int)
    case delay(width: Int)
    case fileExtension
  }

  /// The values that the places take for one frame.
  struct Values {
    var name: [UInt8]
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
    tokens.contains {
      switch $0 {
      case .index, .time: true
      default: false
      }
    }
  }

  /// Whether two files can have different names.
  var tellsFilesApart: Bool { tokens.contains(.stem) || hasName }

  /// Whether two files can have different names of which only the extensions differ.
  var hasName: Bool { tokens.contains(.name) }

  /// Whether there is any place to fill.
  var hasTokens: Bool { tokens.contains { if case .text = $0 { false } else { true } } }

  /// The name for `values`.
  func name(_ values: Values) -> [UInt8] {
    tokens.flatMap { token -> [UInt8] in
      switch token {
      case .text(let bytes): bytes
      case .name: values.name
      case .stem: values.stem
      case .index(let width):
        // A word has no leading zeros.
        values.index.map { Self.padded(String($0), width) } ?? Array("static".utf8)
      case .time(let width): Self.padded(String(values.timeMilliseconds), width)
      case .delay(let width): Self.padded(String(values.delayMilliseconds), width)
      case .fileExtension: Array(values.fileExtension.utf8)
      }
    }
  }
}

extension OutputTemplate {
  private static func padded(_ text: String, _ width: Int) -> [UInt8] {
    Array(text.paddedLeft(to: width, with: "0").utf8)
  }

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
    let parts = name.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let width: Int? = parts.count > 1 ? UInt8(parts[1]).map { Int($0) } : 0
    switch (parts[0], width) {
    case ("name", 0?) where parts.count == 1: return .name
    case ("stem", 0?) where parts.count == 1: return .stem
    case ("ext", 0?) where parts.count == 1: return .fileExtension
    case ("index", let width?) where width <= 20: return .index(width: width)
    case ("time_ms", let width?) where width <= 20: return .time(width: width)
    case ("delay_ms", let width?) where width <= 20: return .delay(width: width)
    default:
      throw .usage(
        "{\(name)} is not known in an output name; there are {name} {stem} {index} {time_ms} "
          + "{delay_ms} {ext}, and numbers take a width as in {index:04}")
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
