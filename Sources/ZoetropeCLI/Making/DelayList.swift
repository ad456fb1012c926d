import Zoetrope
import ZoetropeProcess

/// Parses a file of delays: one delay on each line, in the form of a ``DelayArgument``. Empty lines are skipped, and so
/// are comments, which begin with `#`.
enum DelayList {
  /// Returns the delays in the file called `name`, whose contents are `bytes`.
  ///
  /// - Throws: A usage failure with the number of the invalid line.
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

  /// The characters between words: space, tab and carriage return.
  private static let blanks: [UInt8] = [0x20, 0x09, 0x0d]
}
