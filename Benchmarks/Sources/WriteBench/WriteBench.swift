import Foundation
import Zoetrope

/// Writes animations, for `compare_writers.py`:
///
///     bench-write copy IN OUT EFFORT [THREADS] [deep]   seconds, bytes and frames
///     bench-write dump IN [deep]                        the pixels of all frames, RGBA, to standard output
///     bench-write facts IN                              plays, then the delay of each frame
///     bench-write frames IN FOLDER                      each frame as a PNG, and its delay in a text file
///     bench-write long OUT COUNT WIDTH HEIGHT [THREADS] frames of moving noise, for measuring memory
@main
enum WriteBench {
  static func main() async throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    let isDeep = arguments.last == "deep"
    guard arguments.count > 1 else { return }
    if arguments[0] == "long" { return try long(arguments) }
    let image = try AnimatedImage(
      contentsOf: FilePath(arguments[1]), options: DecodingOptions(keeps16Bit: isDeep))
    switch arguments[0] {
    case "copy":
      var options = AnimationWriterOptions(copying: image)
      let efforts: [String: PNGEncoder.Effort] = ["fast": .fast, "balanced": .balanced, "small": .small]
      options.effort = efforts[arguments[3]] ?? .balanced
      // As the other programs, which merge equal frames.
      if arguments.contains("merge") { options.identicalFrames = .merge }
      options.parallelism = arguments.count > 4 ? Int(arguments[4]) ?? 0 : 0
      let start = ContinuousClock.now
      let written = try await image.write(to: FileSink(FilePath(arguments[2])), options: options)
      let time = start.duration(to: .now) / .seconds(1)
      print(time, written.byteCount, written.frameCount)
    case "dump":
      let reader = FrameReader(image)
      while let frame = try reader.next() {
        for y in 0..<frame.bitmap.height {
          let row = frame.bitmap.row(y)
          FileHandle.standardOutput.write(row.withUnsafeBytes { Data($0) })
        }
      }
    case "facts":
      print(image.playCount == .indefinite ? 0 : image.storedPlays, image.canvasSize.width, image.canvasSize.height)
      for frame in image.frames { print(frame.delay.numerator, frame.delay.denominator) }
    case "frames":
      let (reader, encoder) = (FrameReader(image), PNGEncoder(effort: .fast))
      while let frame = try reader.next() {
        let name = String(1_000_000 + frame.index).dropFirst()
        let base = URL(filePath: arguments[2]).appending(path: "f\(name)")
        try Data(encoder.encode(frame.bitmap)).write(to: base.appendingPathExtension("png"))
        let delay = image.frames[frame.index].delay
        try Data("delay=\(delay.numerator)/\(delay.denominator)\n".utf8)
          .write(to: base.appendingPathExtension("txt"))
      }
    default: break
    }
  }

  /// A block of noise that moves over a gradient, frame after frame.
  private static func long(_ arguments: [String]) throws {
    let (count, width, height) = (Int(arguments[2])!, Int(arguments[3])!, Int(arguments[4])!)
    let threads = arguments.count > 5 ? Int(arguments[5]) ?? 0 : 0
    let writer = try AnimationWriter(
      AnimationWriterOptions(effort: .fast, parallelism: threads), to: FileSink(FilePath(arguments[1])))
    var seed: UInt32 = 1
    for index in 0..<count {
      let left = index * 7 % (width - 64)
      let bitmap = try Bitmap(size: PixelSize(width: width, height: height)) { y, row in
        for x in 0..<width {
          seed = seed &* 1_664_525 &+ 1_013_904_223
          let isNoise = (left..<left + 64).contains(x) && y < 64
          let color = isNoise ? seed | 0xff00_0000 : UInt32(x & 255) | UInt32(y & 255) << 8 | 0xff00_0000
          row.storeBytes(of: color, toByteOffset: x * 4, as: UInt32.self)
        }
      }
      try writer.append(bitmap, delay: FrameDelay(numerator: 1, denominator: 30))
    }
    let written = try writer.finish()
    print(written.byteCount, written.frameCount)
  }
}

extension AnimatedImage {
  var storedPlays: Int {
    if case .finite(let count) = playCount { return count }
    return 0
  }
}
