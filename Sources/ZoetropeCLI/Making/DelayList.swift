import Zoetrope
import ZoetropeProcess

/// Parses a file of delays: one delay on each line, in the form of a ``DelayArgument``. Empty lines are skipped, and so
/// are comments, which begin with `#`, and a byte-order mark at the start, which some editors on Windows write.
enum DelayList {
  /// Returns the delays in the file called `name`, whose contents are `bytes`.
  ///
  /// - Throws: A usage failure with the number of the invalid line, and its beginning.
  static func delays(in bytes: [UInt8], name: String) throws(CommandFailure) -> [FrameDelay] {
    var delays: [FrameDelay] = []
    let mark: [UInt8] = [0xef, 0xbb, 0xbf]
    let text = bytes.dropFirst(bytes.starts(with: mark) ? mark.count : 0)
    let lines = text.split(omittingEmptySubsequences: false) { $0 == 0x0a }
    for (number, line) in lines.enumerated() {
      let words = line.prefix { $0 != UInt8(ascii: "#") }.split { blanks.contains($0) }
      guard let word = words.first else { continue }
      let value = String(decoding: word, as: UTF8.self)
      guard words.count == 1, let delay = DelayArgument(value)?.delay else {
        let content = Array(words.joined(separator: [UInt8(ascii: " ")])).prefix(40)
        throw .usage(
          "\(name), line \(number + 1): a delay is written as 100ms, 0.1s or 1/30, not "
            + String(decoding: content, as: UTF8.self))
      }
      delays.append(delay)
    }
    return delays
  }

  /// The characters between words: space, tab and carriage return.
  private static let blanks: [UInt8] = [0x20, 0x09, 0x0d]
}
