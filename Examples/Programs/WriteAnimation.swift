import Foundation
import Zoetrope

/// Writes every second frame of an animation as an APNG, each shown for twice as long:
///
///     examples write-animation party.gif half.png
enum WriteAnimation {
  static func run(_ arguments: [String]) async throws {
    guard arguments.count == 2 else { throw Usage("write-animation FILE OUTPUT") }
    let image = try await AnimatedImage.open(FilePath(arguments[0]))
    let isKept: @Sendable (Int) -> Bool = { $0 % 2 == 0 }

    // A first pass over the colours: the file takes the smallest form that holds them.
    var options = AnimationWriterOptions(copying: image)
    var survey = ColorSurvey()
    for try await frame in image.bitmaps() where isKept(frame.index) {
      try survey.add(frame.bitmap)
      if survey.isSettled { break }
    }
    options.survey = survey

    let writer = try AnimationWriter(to: FileSink(FilePath(arguments[1])), options: options)
    for try await frame in image.bitmaps() where isKept(frame.index) {
      let delay = image.frames[frame.index].delay
      try await writer.append(
        frame, delay: FrameDelay(numerator: delay.numerator * 2, denominator: delay.denominator))
    }
    try Task.checkCancellation()
    let written = try await writer.finish()
    print("\(arguments[1]): \(written.frameCount) frames, \(written.byteCount) bytes")
  }
}
