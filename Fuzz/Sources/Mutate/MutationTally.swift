import Zoetrope

import ZoetropeCodec
import ZoetropeCore
import ZoetropeFrames

/// What became of the mutations of some files.
struct MutationTally: CustomStringConvertible {
  var files = 0
  var inputs = 0
  var failures = 0
  var slowest = Duration.zero
  /// Sound frames of all cut files, and those that Chromium decodes of them.
  var framesKept = 0
  var browserFrames = 0

  var description: String {
    "\(files) files, \(inputs) inputs, \(failures) failures, slowest \(slowest), "
      + "\(framesKept) sound frames of cut files where Chromium has \(browserFrames)"
  }

  mutating func add(_ other: MutationTally) {
    files += 1
    inputs += other.inputs
    failures += other.failures
    slowest = max(slowest, other.slowest)
    framesKept += other.framesKept
    browserFrames += other.browserFrames
  }

  /// Cuts after every byte, or after `places` of them.
  ///
  /// What is left has every sound frame that lies whole before the cut, and no fewer than Chromium
  /// decodes, by ``BrowserRule``.
  mutating func cut(_ bytes: [UInt8], _ image: AnimatedImage, places: Int, _ path: String) {
    let ends = image.frames.map(\.byteRange.upperBound)
    let good = soundFrames(bytes)
    let rule = BrowserRule(of: bytes)
    for length in stride(from: 0, to: bytes.count, by: max(1, bytes.count / places)) {
      let rest = Array(bytes[..<length])
      // Frames whose bytes are all there, as many as are sound in the whole file.
      let whole = zip(ends, good).prefix { $0.0 <= length }.count { $0.1 }
      let browser = good.prefix(rule.completeFrames(in: length)).count { $0 }
      let kept = read(rest, "\(path) cut to \(length)").count { $0 }
      framesKept += kept
      browserFrames += browser
      if kept < max(whole, browser) {
        failures += 1
        print(
          "\(path) cut to \(length): \(kept) sound frames, \(whole) lie before the cut, "
            + "a browser shows \(browser)")
      }
    }
  }

  /// Turns bytes over, wholly and by one bit.
  mutating func flip(_ bytes: [UInt8], places: Int, _ path: String) {
    var bytes = bytes
    for place in stride(from: 0, to: bytes.count, by: max(1, bytes.count / places)) {
      for flip: UInt8 in [0xff, 1 << UInt8(place % 8)] {
        bytes[place] ^= flip
        _ = read(bytes, "\(path) byte \(place) exclusive or \(flip)")
        bytes[place] ^= flip
      }
    }
  }

  private mutating func soundFrames(_ bytes: [UInt8]) -> [Bool] { read(bytes, "whole") }

  /// Reads every frame; tells which are sound.
  private mutating func read(_ bytes: [UInt8], _ name: String) -> [Bool] {
    inputs += 1
    var sound: [Bool] = []
    let time = ContinuousClock().measure {
      guard let image = try? AnimatedImage(bytes: bytes, options: Mutate.options) else { return }
      let reader = FrameReader(image)
      while let frame = try? reader.next() {
        sound.append(frame.damage?.kind.isTolerated ?? true)
      }
    }
    if time > .seconds(1) { print("\(name): \(time)") }
    slowest = max(slowest, time)
    return sound
  }
}
