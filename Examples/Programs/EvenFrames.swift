import Foundation
import Zoetrope

/// Writes frames that are evenly spaced in time, for example for a model or a preview:
///
///     examples even-frames party.gif 8 frames
enum EvenFrames {
  static func run(_ arguments: [String]) async throws {
    guard arguments.count == 3, let count = Int(arguments[1]), (1...1000).contains(count) else {
      throw Usage("even-frames FILE COUNT DIRECTORY")
    }
    let image = try await AnimatedImage.open(arguments[0])
    let directory = URL(filePath: arguments[2], directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    let wanted = indices(of: image, count: count)
    // One pass over the animation, decoded ahead; skipped frames are not scaled.
    for try await frame in image.bitmaps(0...wanted[wanted.count - 1])
    where wanted.contains(frame.index) {
      let picture = try frame.bitmap.scaled(to: TargetSize(width: 224, height: 224), fit: .fill)
      let file = directory.appending(path: "frame-\(frame.index).png")
      let png = try await PNGEncoder.encode(picture, effort: .fast)
      try Data(png).write(to: file, options: .atomic)
    }
    try Task.checkCancellation()
    print(wanted.map(String.init).joined(separator: " "))
  }

  /// The frames on screen in the middle of `count` equal parts of a play, without repetitions.
  static func indices(of image: AnimatedImage, count: Int) -> [Int] {
    let duration = image.duration()
    let times = (0..<count).map { duration * (2 * $0 + 1) / (2 * count) }
    return Set(times.map { image.frameIndex(at: $0) }).sorted()
  }
}
