import Foundation
import Synchronization
import Zoetrope

/// Writes animations, for `compare_writers.py` and `check_writers.py`:
///
///     bench-write copy IN OUT EFFORT [THREADS] [deep]   seconds, bytes and frames
///     bench-write dump IN [libpng] [deep]               the pixels of all frames, RGBA, to standard output
///     bench-write facts IN                              plays, then the delay of each frame
///     bench-write frames IN FOLDER                      each frame as a PNG, and its delay in a text file
///     bench-write long OUT COUNT WIDTH HEIGHT [THREADS] frames of moving noise, for measuring memory
///     bench-write endings FOLDER COUNT                  writers that end in every way, and what they leave behind
@main
enum WriteBench {
  static func main() async throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    guard arguments.count > 1 else { return }
    do {
      switch arguments[0] {
      case "long": try long(arguments)
      case "endings": try endings(in: arguments[1], count: Int(arguments[2]) ?? 0)
      default: try await run(arguments, isDeep: arguments.last == "deep")
      }
    } catch {
      FileHandle.standardError.write(Data("\(error)\n".utf8))
      exit(1)
    }
  }

  private static func run(_ arguments: [String], isDeep: Bool) async throws {
    let image = try AnimatedImage(
      contentsOf: FilePath(arguments[1]),
      options: DecodingOptions(
        decoder: arguments.contains("libpng") ? .reference : .fast, keeps16Bit: isDeep))
    switch arguments[0] {
    case "copy":
      var options = AnimationWriterOptions(copying: image)
      let efforts: [String: EncodingEffort] = [
        "fast": .fast, "balanced": .balanced, "small": .small,
      ]
      options.effort = efforts[arguments[3]] ?? .balanced
      // Merge equal frames and drop metadata, as the other programs do.
      if arguments.contains("merge") {
        options.identicalFrames = .merge
        options.metadata = nil
      }
      options.parallelism = arguments.count > 4 ? Int(arguments[4]) ?? 0 : 0
      let start = ContinuousClock.now
      let written = try await image.reencode(to: FileSink(FilePath(arguments[2])), options: options)
      let time = start.duration(to: .now) / .seconds(1)
      print(time, written.byteCount, written.frameCount)
    case "dump":
      let reader = FrameReader(image)
      while let frame = try reader.next() {
        for y in 0..<frame.bitmap.height {
          let row = frame.bitmap.row(y)
          FileHandle.standardOutput.write(unsafe row.withUnsafeBytes { unsafe Data($0) })
        }
      }
    case "facts":
      print(
        image.playCount == .indefinite ? 0 : image.storedPlays, image.canvasSize.width,
        image.canvasSize.height)
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

  /// Writes frames of a block of noise that moves over a gradient.
  private static func long(_ arguments: [String]) throws {
    let numbers = arguments.dropFirst(2).compactMap { Int($0) }
    guard numbers.count >= 3 else { return }
    let writer = try AnimationWriter(
      to: FileSink(FilePath(arguments[1])),
      options: AnimationWriterOptions(
        effort: .fast, parallelism: numbers.count > 3 ? numbers[3] : 0))
    let pictures = Pictures(PixelSize(width: numbers[1], height: numbers[2]))
    for index in 0..<numbers[0] {
      try writer.append(
        pictures.picture(index), delay: FrameDelay(numerator: 1, denominator: 30))
    }
    let written = try writer.finish()
    print(written.byteCount, written.frameCount)
  }

  /// Finishes, cancels, drops and fails writers in turn, at a random frame. Counts what they leave behind.
  private static func endings(in folder: String, count: Int) throws {
    func descriptors() throws -> Int {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    }
    func threads() throws -> Int {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
    }
    let pictures = Pictures(PixelSize(width: 80, height: 60))
    let film = try (0..<6).map { try pictures.picture($0) }
    var random = SystemRandomNumberGenerator()
    var (finished, started) = (0, (descriptors: 0, threads: 0))
    for round in 0..<count {
      // By then the library has started its threads.
      if round == count / 10 { started = (try descriptors(), try threads()) }
      let file = FilePath(folder).appending("\(round).png")
      let frames = Int.random(in: 1...6, using: &random)
      let options = AnimationWriterOptions(parallelism: round % 3)
      let writer =
        round % 4 == 3
        ? try AnimationWriter(to: FailingSink(after: .random(in: 0..<4000)), options: options)
        : try AnimationWriter(to: FileSink(file), options: options)
      if try end(writer, Array(film.prefix(frames)), way: round % 4) { finished += 1 }
    }
    let deadline = ContinuousClock.now + .seconds(60)
    var names: [String] = []
    repeat {
      names = try FileManager.default.contentsOfDirectory(atPath: folder)
    } while names.count > finished && ContinuousClock.now < deadline
    print(
      "\(count) writers: \(names.count) files for \(finished) that finished,",
      "\(try descriptors() - started.descriptors) descriptors and",
      "\(max(0, try threads() - started.threads)) threads more than after a tenth of them")
    if names.count != finished { exit(1) }
  }
}

/// Ends a writer in one of four ways. Returns whether it completed its file.
private func end(_ writer: AnimationWriter, _ film: [Bitmap], way: Int) throws -> Bool {
  do throws(AnimatedImageError) {
    for picture in film {
      try writer.append(picture, delay: FrameDelay(numerator: 1, denominator: 30))
    }
    if way == 1 { writer.cancel() }
    if way == 0 || way == 3 { try writer.finish() }
    return way == 0
  } catch {
    if error.code != .io { throw error }
    return false
  }
}

/// Pictures of a block of noise that moves over a gradient.
private final class Pictures {
  let size: PixelSize
  private var seed: UInt32 = 1

  init(_ size: PixelSize) { self.size = size }

  func picture(_ index: Int) throws -> Bitmap {
    let side = min(64, size.width / 2)
    let left = index * 7 % (size.width - side)
    return try Bitmap(size: size) { y, row in
      for x in 0..<size.width {
        seed = seed &* 1_664_525 &+ 1_013_904_223
        let isNoise = (left..<left + side).contains(x) && y < side
        let color =
          isNoise
          ? seed | 0xff00_0000 : UInt32(x & 255) | UInt32(y & 255) << 8 | 0xff00_0000
        row.storeBytes(of: color, toByteOffset: x * 4, as: UInt32.self)
      }
    }
  }
}

/// A sink that takes some bytes and then fails.
private final class FailingSink: AnimationSink {
  private let rest: Mutex<Int>

  init(after count: Int) { rest = Mutex(count) }

  var canPatch: Bool { false }

  func write(_ bytes: [UInt8]) throws(AnimatedImageError) {
    let rest = self.rest.withLock { rest in
      rest -= bytes.count
      return rest
    }
    if rest < 0 { throw AnimatedImageError(.io, "full") }
  }

  func patch(_ bytes: [UInt8], at offset: Int) throws(AnimatedImageError) {
    throw AnimatedImageError(.io, "not patched")
  }

  func finish() {}
  func abandon() {}
}

extension AnimatedImage {
  fileprivate var storedPlays: Int {
    if case .finite(let count) = playCount { return count }
    return 0
  }
}
