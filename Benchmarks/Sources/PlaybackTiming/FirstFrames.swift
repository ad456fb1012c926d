import SystemPackage
import Zoetrope

/// Measures microseconds from an image, in memory or in a file, to its first frame, as the median of many runs: opening
/// alone, each reader on the calling thread, and `bitmap(at:)` on the library's threads.
enum FirstFrames {
  static func measure(files: [String], count: Int) async throws {
    for file in files {
      let path = FilePath(file)
      let bytes = try read(path)
      let opening = try median(count) { _ = try AnimatedImage(bytes: bytes) }
      let reading = try median(count) { _ = try FrameReader(AnimatedImage(bytes: bytes)).next() }
      let seeking = try median(count) {
        _ = try SeekingReader(AnimatedImage(bytes: bytes)).frame(at: 0)
      }
      let fromFile = try median(count) {
        _ = try FrameReader(AnimatedImage(contentsOf: path)).next()
      }
      var samples: [Double] = []
      for _ in 0..<count {
        let start = ContinuousClock.now
        _ = try await AnimatedImage(bytes: bytes).bitmap(at: 0)
        samples.append((ContinuousClock.now - start) / .microseconds(1))
      }
      let asking = samples.sorted()[count / 2]
      let values = [opening, reading, seeking, fromFile, asking].map { ($0 * 10).rounded() / 10 }
      print(
        path.lastComponent?.string ?? file,
        "open_us=\(values[0]) reader_us=\(values[1]) seeking_us=\(values[2])",
        "file_us=\(values[3]) bitmap_us=\(values[4])")
    }
  }

  private static func read(_ path: FilePath) throws -> [UInt8] {
    let file = try FileDescriptor.open(path, .readOnly)
    defer { try? file.close() }
    let size = Int(try file.seek(offset: 0, from: .end))
    return try [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      count = try file.read(fromAbsoluteOffset: 0, into: UnsafeMutableRawBufferPointer(buffer))
    }
  }

  private static func median(_ count: Int, _ body: () throws -> Void) rethrows -> Double {
    var samples: [Double] = []
    for _ in 0..<count {
      let start = ContinuousClock.now
      try body()
      samples.append((ContinuousClock.now - start) / .microseconds(1))
    }
    return samples.sorted()[count / 2]
  }
}
