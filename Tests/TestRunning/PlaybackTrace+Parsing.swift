package import Zoetrope

extension PlaybackTrace {
  /// Reads what ``json`` wrote; unknown members are ignored.
  ///
  /// Reads flat objects of whole numbers, not JSON at large. Throws `malformed` with the byte.
  package init(json: String) throws(AnimatedImageError) {
    var scanner = TraceScanner(json)
    self.init(entries: try scanner.frames())
  }
}

/// Walks over the bytes of a trace.
private struct TraceScanner {
  private let bytes: [UInt8]
  private var position = 0

  init(_ text: String) { bytes = Array(text.utf8) }

  mutating func frames() throws(AnimatedImageError) -> [PlaybackTrace.Entry] {
    try skip(past: "[")
    var entries: [PlaybackTrace.Entry] = []
    while let byte = nextByte() {
      switch byte {
      case UInt8(ascii: "]"): return entries
      case UInt8(ascii: "{"): entries.append(try entry())
      case UInt8(ascii: ","): continue
      default: throw fault("an object or the end of the list was expected")
      }
    }
    throw fault("the list of frames does not end")
  }

  private mutating func entry() throws(AnimatedImageError) -> PlaybackTrace.Entry {
    var members: [String: Int64] = [:]
    while let byte = nextByte() {
      switch byte {
      case UInt8(ascii: "}"):
        func member(_ name: String) throws(AnimatedImageError) -> Int64 {
          guard let value = members[name] else { throw fault("a frame has no \(name)") }
          return value
        }
        return PlaybackTrace.Entry(
          index: Int(try member("index")), play: Int(try member("play")),
          deadline: try member("deadline"), decoded: try member("decoded"),
          yielded: try member("yielded"), lateness: try member("lateness"),
          skipped: Int(try member("skipped")))
      case UInt8(ascii: "\""):
        let start = position
        try skip(past: "\"")
        let name = String(decoding: bytes[start..<position - 1], as: UTF8.self)
        try skip(past: ":")
        members[name] = try number()
      case UInt8(ascii: ","): continue
      default: throw fault("a member or the end of the object was expected")
      }
    }
    throw fault("a frame does not end")
  }

  private mutating func number() throws(AnimatedImageError) -> Int64 {
    let start = position
    while position < bytes.count, "-0123456789 ".utf8.contains(bytes[position]) { position += 1 }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    guard let value = Int64(text.filter { $0 != " " }) else {
      throw fault("a whole number was expected")
    }
    return value
  }

  /// The next byte that is not white space.
  private mutating func nextByte() -> UInt8? {
    while position < bytes.count {
      defer { position += 1 }
      if bytes[position] > UInt8(ascii: " ") { return bytes[position] }
    }
    return nil
  }

  private mutating func skip(past text: Unicode.Scalar) throws(AnimatedImageError) {
    guard let end = bytes[position...].firstIndex(of: UInt8(ascii: text)) else {
      throw fault("'\(text)' was expected")
    }
    position = end + 1
  }

  private func fault(_ detail: String) -> AnimatedImageError {
    AnimatedImageError(.malformed, "trace: \(detail)", byteOffset: position)
  }
}
