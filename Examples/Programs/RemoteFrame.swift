import Zoetrope

/// Writes one frame of a file as if it were remote, and prints how much of it was read:
///
///     zoetrope info --save-index party.index party.gif
///     examples remote-frame party.gif 500 frame.png party.index
enum RemoteFrame {
  static func run(_ arguments: [String]) async throws {
    guard (3...4).contains(arguments.count), let number = Int(arguments[1]) else {
      throw Usage("remote-frame FILE FRAME OUTPUT [INDEX]")
    }
    let ranges = try FileRanges(arguments[0])
    var index: ImageIndex?
    if arguments.count == 4 {
      let stored = try FileRanges(arguments[3])
      index = try ImageIndex(bytes: try await stored.read(0..<stored.byteCount))
    }
    let image = try await RemoteImage(reading: ranges, index: index)
    print("opened: \(image.statistics.readCount) reads, \(image.statistics.byteCount) bytes")
    let png = try await PNGEncoder.encode(image.bitmap(at: number))
    let output = try FileDescriptor.open(
      FilePath(arguments[2]), .writeOnly, options: [.create, .truncate],
      permissions: .ownerReadWrite)
    _ = try output.closeAfter { try output.writeAll(png) }
    let (reads, bytes) = (image.statistics.readCount, image.statistics.byteCount)
    print("frame \(number): \(reads) reads, \(bytes) of \(image.byteCount) bytes")
  }
}

/// The ranges of a local file; for remote files, a program makes requests in `read`.
final class FileRanges: ByteRangeReading {
  let byteCount: Int
  private let file: FileDescriptor

  init(_ path: String) throws {
    file = try FileDescriptor.open(FilePath(path), .readOnly)
    byteCount = Int(try file.seek(offset: 0, from: .end))
  }

  deinit { try? file.close() }

  func read(_ range: Range<Int>) async throws -> [UInt8] {
    try unsafe [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
      count = try unsafe file.read(
        fromAbsoluteOffset: Int64(range.lowerBound), into: UnsafeMutableRawBufferPointer(buffer))
    }
  }
}
