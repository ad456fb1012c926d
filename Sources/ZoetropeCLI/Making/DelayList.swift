import Zoetrope
import ZoetropeProcess

/// A file of delays: one on each line, as ``DelayArgument`` reads them. Empty lines, and what follows a `#`, are
/// skipped.
enum DelayList {
  /// - Throws: A usage failure that names the line.
  static func delays(in bytes: [UInt8], name: String) throws(CommandFailure) -> [FrameDelay] {
    var delays: [FrameDelay] = []
    let lines = bytes.split(omittingEmptySubsequences: false) { $0 == 0x0a }
    for (number, line) in lines.enumerated() {
      let words = line.prefix { $0 != UInt8(ascii: "#") }.split { blanks.contains($0) }
      guard let word = words.first else { continue }
      let text = String(decoding: word, as: UTF8.self)
      guard words.count == 1, let delay = DelayArgument(text)?.delay else {
        throw .usage("\(name), line \(number + 1): a delay is written as 100ms, 0.1s or 1/30")
      }
      delays.append(delay)
    }
    return delays
  }

  /// Space, tab and carriage return.
  private static let blanks: [UInt8] = [0x20, 0x09, 0x0d]
}
