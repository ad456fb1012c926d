import Glibc
import SystemPackage
import Zoetrope

/// Decodes and composites every frame of one file and prints the best of N runs:
///
///     bench-decode FILE [--repeat N] [--jobs K] [--pixels fast|reference]
///     frames=100 ms=12.345 Mpx/s=1866.2 peakMB=12.3
///
/// A run opens the file, draws each frame on the canvas and drops it, as the peers do. Only pixels in the frames' own
/// rectangles are counted.
@main
struct BenchDecode {
  var path = ""
  var repeats = 5
  var jobs = 1
  var decoder = PixelDecoder.fast

  static func main() {
    guard let bench = BenchDecode(arguments: Array(CommandLine.arguments.dropFirst())) else {
      print("usage: bench-decode FILE [--repeat N] [--jobs K] [--pixels fast|reference]")
      exit(2)
    }
    do {
      try bench.run()
    } catch {
      print("bench-decode: \(error)")
      exit(1)
    }
  }

  init?(arguments: [String]) {
    var rest = arguments[...]
    while let word = rest.popFirst() {
      switch word {
      case "--repeat": repeats = max(rest.popFirst().flatMap { Int($0) } ?? 1, 1)
      case "--jobs": jobs = max(rest.popFirst().flatMap { Int($0) } ?? 1, 1)
      case "--pixels":
        guard let name = rest.popFirst(), let named = ["fast": PixelDecoder.fast, "reference": .reference][name] else {
          return nil
        }
        decoder = named
      default: path = word
      }
    }
    if path.isEmpty { return nil }
  }

  func run() throws(AnimatedImageError) {
    let clock = ContinuousClock()
    var best = Duration.seconds(1_000_000)
    var frames = 0
    var pixels = 0
    for _ in 0..<repeats {
      let start = clock.now
      (frames, pixels) = try decodeAll()
      best = min(best, clock.now - start)
    }
    let seconds = best / .seconds(1)
    let milliseconds = Int((seconds * 1_000_000).rounded())
    let rate = Int((Double(pixels) / seconds / 100_000).rounded())
    print(
      "frames=\(frames) ms=\(decimal(milliseconds, 1000)) Mpx/s=\(decimal(rate, 10))"
        + " peakMB=\(decimal(Self.peakKilobytes() / 100, 10))")
  }

  private func decodeAll() throws(AnimatedImageError) -> (frames: Int, pixels: Int) {
    let image = try AnimatedImage(
      contentsOf: FilePath(path), options: DecodingOptions(decoder: decoder, parallelism: jobs))
    let reader = FrameReader(image)
    var frames = 0
    while try reader.next() != nil { frames += 1 }
    return (frames, image.frames.reduce(0) { $0 + $1.rect.size.area })
  }

  /// The peak memory of this process, from the line `VmHWM:   12345 kB` of its status. `getrusage` may report that of
  /// the process that started it.
  private static func peakKilobytes() -> Int {
    guard let file = try? FileDescriptor.open("/proc/self/status", .readOnly) else { return 0 }
    defer { try? file.close() }
    var bytes = [UInt8](repeating: 0, count: 8192)
    let count = (try? bytes.withUnsafeMutableBytes { try file.read(into: $0) }) ?? 0
    let lines = String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n")
    let line = lines.first { $0.hasPrefix("VmHWM:") } ?? ""
    return Int(line.filter(\.isNumber)) ?? 0
  }

  /// Returns `value` / `unit` with as many decimals as the unit has zeros.
  private func decimal(_ value: Int, _ unit: Int) -> String {
    "\(value / unit)." + String(unit + value % unit).dropFirst()
  }
}
