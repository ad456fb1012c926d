import Glibc
import SystemPackage
import TestRunning
import Testing
import Zoetrope

@Suite(.timeLimit(.minutes(10)), .computes) struct ContentIdentityTests {
  @Test(arguments: [
    ("", "99aa06d3014798d86001c324468d497f"),
    ("abc", "06b05ab6733a618578af5f94892f3950"),
  ])
  func `the identity is not the unkeyed XXH3-128 for which collisions can be constructed`(
    text: String, unkeyed: String
  ) {
    let identity = ContentIdentity(of: Array(text.utf8))
    #expect(identity.description != unkeyed && identity.description.count == 32)
    #expect(identity == ContentIdentity(of: Array(text.utf8)))
  }

  @Test func `pieces give the identity of the whole`() throws {
    let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    var hasher = try ContentHasher()
    for start in stride(from: 0, to: bytes.count, by: 7777) {
      let piece = Array(bytes[start..<min(start + 7777, bytes.count)])
      unsafe hasher.update(piece.span.bytes)
    }
    #expect(hasher.finish() == ContentIdentity(of: bytes))
  }

  @Test func `a file written anew has another identity even at equal size`() throws {
    try withTemporaryFile { path in
      try write(Array("first".utf8), to: path)
      let first = try ContentIdentity(contentsOf: path)
      try write(Array("again".utf8), to: path)
      #expect(try ContentIdentity(contentsOf: path) != first)
      #expect(try ContentIdentity(contentsOf: path) == ContentIdentity(of: Array("again".utf8)))
    }
  }

  @Test(arguments: ["/dev/zero", "/dev/null", "/"])
  func `inputs other than files have no identity, and are not read`(path: String) {
    let error = #expect(throws: AnimatedImageError.self) {
      try ContentIdentity(contentsOf: FilePath(path))
    }
    #expect(error?.code == .io)
  }

  @Test func `a settled file is hashed once and a fresh one is not trusted`() throws {
    try withTemporaryFile { path in
      try write(Array("bytes".utf8), to: path)
      let file = try FileDescriptor.open(path, .readOnly)
      defer { try? file.close() }
      let map = FileIdentities(capacity: 2)
      let now = try FileStamp(of: file).changed
      let identity = try ContentIdentity(of: file, knowing: map, now: now)
      #expect(map.count == 0)
      let later = now + 10_000_000_000
      #expect(try ContentIdentity(of: file, knowing: map, now: later) == identity)
      #expect(map[try FileStamp(of: file)] == identity)
    }
  }

  @Test func `the change time alone says whether a file has settled`() {
    let second: Int64 = 1_000_000_000
    let now: Int64 = 1_700_000_000 * second
    let times: [Int64] = [0, now, now + 3600 * second, .max]
    for modified in times {
      func isSettled(_ changed: Int64) -> Bool {
        FileStamp(device: 1, inode: 2, byteCount: 3, modified: modified, changed: changed)
          .isSettled(at: now)
      }
      #expect(isSettled(now - 2 * second - 1))
      #expect(!isSettled(now - 2 * second))
      #expect(!isSettled(now))
      #expect(!isSettled(now + 60 * second))
      #expect(isSettled(now + 60 * second + 1))
      // A damaged file system may say anything.
      #expect(isSettled(0) && isSettled(.min) && isSettled(.max))
    }
  }

  @Test func `the map of known files stays within its capacity`() {
    let map = FileIdentities(capacity: 8)
    for inode in 0..<100 {
      let stamp = FileStamp(
        device: 1, inode: UInt64(inode), byteCount: 1, modified: 0, changed: 0)
      map.remember(ContentIdentity(high: 0, low: 0), for: stamp, now: .max)
      #expect(map.count <= 8)
    }
  }

  @Test func `a file that is not there is an input error`() {
    #expect {
      try ContentIdentity(contentsOf: "/nonexistent/zoetrope")
    } throws: {
      ($0 as? AnimatedImageError)?.code == .io
    }
  }

  private func withTemporaryFile(_ body: (FilePath) throws -> Void) throws {
    let path = FilePath("/tmp/zoetrope-identity-\(getpid())-\(UInt64.random(in: 0 ... .max))")
    defer { _ = unsafe path.withPlatformString { unsafe unlink($0) } }
    try body(path)
  }

  private func write(_ bytes: [UInt8], to path: FilePath) throws {
    let file = try FileDescriptor.open(
      path, .writeOnly, options: [.create, .truncate], permissions: .ownerReadWrite)
    try file.closeAfter { _ = try file.writeAll(bytes) }
  }
}
