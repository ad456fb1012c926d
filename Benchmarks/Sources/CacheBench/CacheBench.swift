import Glibc
import SystemPackage
import Zoetrope

/// Measures the memory cache and seeking. `bench-cache FILE` only seeks in that file, `bench-cache scroll` only
/// scrolls, `bench-cache stream` only streams, and `bench-cache remote` only reads files by range. `bench-cache store
/// [DIRECTORY]` only measures the store on disk; with a directory, it leaves the table of 640x480 at 200x150 there.
///
/// Prints one line per figure: `NAME VALUE UNIT`. Exits with status 1 if a hit allocates, or if scrolling hits less
/// than 0.8 times as often as the best policy.
@main
struct CacheBench {
  static func main() async throws {
    if CommandLine.arguments.dropFirst() == ["scroll"] {
      if try await !ScrollBench.run() { exit(1) }
      return
    }
    if CommandLine.arguments.dropFirst() == ["stream"] { return try await StreamBench.run() }
    if CommandLine.arguments.dropFirst() == ["remote"] { return try await RemoteBench.run() }
    if CommandLine.arguments.dropFirst().first == "store" {
      return try StoreBench.run(
        keeping: CommandLine.arguments.dropFirst(2).first.map { FilePath($0) })
    }
    for path in CommandLine.arguments.dropFirst() {
      try await SeekBench.run(path) { options throws(AnimatedImageError) in
        try AnimatedImage(contentsOf: FilePath(path), options: options)
      }
    }
    guard CommandLine.arguments.count == 1 else { return }
    let isClean = HitBench.run()
    await HitBench.runOnTwoThreads()
    LoopBench.run()
    IdentityBench.run()
    try StoreBench.run()
    try await SeekBench.run()
    try await StreamBench.run()
    try await RemoteBench.run()
    let scrollsWell = try await ScrollBench.run()
    if !isClean || !scrollsWell { exit(1) }
  }

  static func report(_ name: String, _ value: Double, _ unit: String) {
    let tenths = (value * 10).rounded() / 10
    print(name, tenths, unit)
  }

  /// Returns the time that `body` takes, in nanoseconds.
  static func nanoseconds(_ body: () throws -> Void) rethrows -> Double {
    let begin = ContinuousClock.now
    try body()
    let parts = begin.duration(to: .now).components
    return Double(parts.seconds) * 1e9 + Double(parts.attoseconds) / 1e9
  }

  static func median(_ values: [Double]) -> Double {
    values.sorted()[values.count / 2]
  }

  static func animation(_ number: Int) -> AnimationKey {
    AnimationKey(
      content: ContentIdentity(high: UInt64(number), low: 1),
      rendition: Rendition(Rendering(), of: PixelSize(width: 16, height: 16)))
  }

  static let bitmap = bitmap(PixelSize(width: 16, height: 16))

  /// Returns a transparent picture.
  static func bitmap(_ size: PixelSize) -> Bitmap {
    do { return try Bitmap(size: size) { _, _ in } } catch { fatalError("\(error)") }
  }
}
