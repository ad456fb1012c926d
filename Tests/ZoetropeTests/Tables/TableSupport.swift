import Foundation
import Glibc
import SystemPackage
import Zoetrope

/// A directory for one test, removed with the value's last copy.
final class ScratchDirectory: Sendable {
  let path: FilePath

  /// Default: in `/tmp`. Tests that make hundreds of files ask for memory, if there is a `/dev/shm`.
  init(inMemory: Bool = false) throws {
    let isThere = inMemory && FileManager.default.isWritableFile(atPath: "/dev/shm")
    let parent = isThere ? "/dev/shm" : "/tmp"
    // Short: every call of a store walks the path, which in a debug build is much of what it costs.
    var template = Array("\(parent)/zs-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw Errno(rawValue: errno) }
    path = FilePath(
      String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self))
  }

  deinit { try? FileManager.default.removeItem(atPath: path.string) }

  var files: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: path.string)) ?? []).sorted()
  }

  /// The tables in it.
  var tables: [FilePath] { Self.tables(in: path) }

  /// The tables in a directory.
  static func tables(in directory: FilePath) -> [FilePath] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.string)) ?? []
    return names.filter { $0.hasSuffix(".frames") }.sorted().map { directory.appending($0) }
  }
}

/// A bitmap with pixels that `seed` decides.
func makePixels(_ size: PixelSize, seed: Int) -> Bitmap {
  var buffer = PixelBuffer(size: size)
  let rowBytes = PixelFormat.rgba8.bytesPerRow(width: size.width)
  var bytes = buffer.mutableBytes
  for y in 0..<size.height {
    for x in 0..<4 * size.width {
      let value = UInt8(truncatingIfNeeded: seed &* 31 &+ y &* 7 &+ x &* (seed | 1))
      bytes.storeBytes(of: value, toByteOffset: y * rowBytes + x, as: UInt8.self)
    }
  }
  return buffer.finish()
}

extension FilePath {
  func setPermissions(_ mode: Int) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: string)
  }

  func truncate(to length: Int) throws {
    let file = try FileDescriptor.open(self, .readWrite)
    defer { try? file.close() }
    try file.resize(to: Int64(length))
  }

  /// Changes the byte at `offset` by `change`.
  func flip(_ offset: Int, by change: UInt8 = 0xff) throws {
    let file = try FileDescriptor.open(self, .readWrite)
    defer { try? file.close() }
    var byte: [UInt8] = [0]
    _ = try unsafe byte.withUnsafeMutableBytes {
      try unsafe file.read(fromAbsoluteOffset: Int64(offset), into: $0)
    }
    byte[0] ^= change
    _ = try file.writeAll(toAbsoluteOffset: Int64(offset), byte)
  }
}

extension FrameStore {
  /// Whether its files take `limit` bytes at most, besides blocks that nobody can foresee: when ext4 writes out a file of
  /// many pieces, half a minute after they were stored, it adds one or two to list them.
  func isWithin(_ limit: Int) -> Bool {
    let found = statistics
    return found.byteCount <= limit + 8192 * found.tables.count
  }
}
