import CMalloc
import Glibc
import SystemPackage
import Zoetrope

import ZoetropeCaching
import ZoetropeCodec
import ZoetropeCore
import ZoetropeFrames
import ZoetropePlayback
import ZoetropeStore
import ZoetropeTestSupport

/// Starts, steers, seeks, cancels and drops players at random: `Soak CYCLES [FIXTURES] [SEED]`. Checks
/// the times, pixels and changed rectangles of what they show, then counts what is left: tasks, frames,
/// decodes, descriptors, threads, and resident memory over time.
///
/// `Soak controls OPERATIONS [SEED]` checks what holds of time under random control operations instead;
/// `Soak streams LIVES [SEED]` starts, reads and ends streams, and counts what is left in the same way.
@main
enum Soak {
  static func main() async throws {
    // One arena: otherwise each new thread adds one, which looks like a leak.
    _ = mallopt(M_ARENA_MAX, 1)
    let arguments = CommandLine.arguments
    if arguments.count > 1, arguments[1] == "controls" {
      let numbers = arguments.dropFirst(2).map { Int($0) ?? 0 }
      exit(
        await Controls.run(
          operations: numbers.first ?? 1_000_000, seed: numbers.dropFirst().first ?? 1))
    }
    if arguments.count > 1, arguments[1] == "streams" {
      let numbers = arguments.dropFirst(2).map { Int($0) ?? 0 }
      let files = try fixtures(in: FixtureLibrary(root: "Fixtures"), from: 1).map {
        try FixtureFile.read($0)
      }
      let (lives, seed) = (numbers.first ?? 10_000, numbers.dropFirst().first ?? 1)
      print("\(lives) lives of streams over \(files.count) files, seed \(seed)")
      let isClean = try await repeating(lives, seed: UInt64(seed)) { random in
        let bytes = files[Int.random(in: 0..<files.count, using: &random)]
        return await StreamLife(seed: random.next(), bytes: bytes).run()
      }
      exit(isClean ? 0 : 1)
    }
    let cycles = arguments.count > 1 ? Int(arguments[1]) ?? 0 : 100_000
    let library = FixtureLibrary(root: arguments.count > 2 ? arguments[2] : "Fixtures")
    let seed = arguments.count > 3 ? UInt64(arguments[3]) ?? 1 : 1
    // Several frames, so that there is something to steer.
    let paths = try fixtures(in: library, from: 2)
    print("\(cycles) life cycles over \(paths.count) animations, seed \(seed)")
    let isClean = try await repeating(cycles, seed: seed) { random in
      let path = paths[Int.random(in: 0..<paths.count, using: &random)]
      return await LifeCycle(seed: random.next(), path: path).run()
    }
    exit(isClean ? 0 : 1)
  }

  /// The fixtures with so many frames or more.
  private static func fixtures(in library: FixtureLibrary, from count: Int) throws -> [String] {
    var paths: [String] = []
    for folder in ["GIF", "APNG", "Bad"] {
      for name in try FixtureFile.list("\(library.root)/\(folder)") {
        let path = "\(library.root)/\(folder)/\(name)"
        if let image = try? AnimatedImage(contentsOf: FilePath(path)), image.frames.count >= count {
          paths.append(path)
        }
      }
    }
    guard !paths.isEmpty else { fatalError("no fixtures in \(library.root)") }
    return paths
  }

  /// Runs `life` so often and counts what is left in between; gives whether nothing was wrong.
  private static func repeating(
    _ cycles: Int, seed: UInt64,
    _ life: @escaping @Sendable (inout SplitMix64) async -> [String]
  ) async throws -> Bool {
    let steps = 10
    var memory: [Int] = []
    var files: [Int] = []
    var left = 0
    for step in 0..<steps {
      let share = cycles * (step + 1) / steps - cycles * step / steps
      left += await run(share, seed: seed &* 1000 &+ UInt64(step), life)
      memory.append(residentBytes())
      files.append(try FixtureFile.list("/proc/self/fd").count)
      print(
        "\(cycles * (step + 1) / steps) cycles: \(memory[step] >> 10) KiB, \(files[step]) descriptors, "
          + "\(try FixtureFile.list("/proc/self/task").count) threads, \(left) faults")
    }
    // The first steps warm up: allocators and thread stacks. Slope of the second half.
    let growth = Double(memory[steps - 1] - memory[steps / 2]) / Double(memory[steps / 2]) * 100
    let isFlat = growth <= 1
    // What may stay are the few that the runtime and the playback thread sleep on.
    let open = try openAnimations()
    let isClean = left == 0 && open == 0 && files[steps - 1] <= files[0] + 2
    print(
      "\(open) animations open, resident memory over the second half \(growth) %: "
        + (isFlat && isClean ? "ok" : "FAILED"))
    return isFlat && isClean
  }

  /// Runs cycles on four tasks at a time; tells what was wrong, and gives how much that was.
  private static func run(
    _ count: Int, seed: UInt64,
    _ life: @escaping @Sendable (inout SplitMix64) async -> [String]
  ) async -> Int {
    await withTaskGroup(of: Int.self) { group in
      for lane in 0..<4 {
        group.addTask {
          var random = SplitMix64(seed: seed &* 4 &+ UInt64(lane))
          var left = 0
          for _ in 0..<(count + 3 - lane) / 4 {
            let faults = await life(&random)
            for fault in faults { print(fault) }
            left += faults.count
          }
          return left
        }
      }
      return await group.reduce(0, +)
    }
  }

  /// Descriptors that lead to a file of the library, or a stream's temporary file.
  private static func openAnimations() throws -> Int {
    try FixtureFile.list("/proc/self/fd").count { name in
      var buffer = [CChar](repeating: 0, count: 4096)
      // The length passed leaves the last byte zero.
      let count = unsafe readlink("/proc/self/fd/\(name)", &buffer, buffer.count - 1)
      let path = String(
        decoding: buffer.prefix(max(count, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
      return path.hasSuffix(".gif") || path.hasSuffix(".png") || path.contains(".stream")
    }
  }

  /// From /proc: the second number of `statm` is resident pages. Free heap pages are returned to the
  /// system first, so that fragmentation does not hide or imitate a leak.
  private static func residentBytes() -> Int {
    _ = malloc_trim(0)
    let text = (try? FixtureFile.read("/proc/self/statm")).map {
      String(decoding: $0, as: UTF8.self)
    }
    let fields = (text ?? "").split(separator: " ")
    return fields.count > 1 ? (Int(fields[1]) ?? 0) * Int(getpagesize()) : 0
  }
}
