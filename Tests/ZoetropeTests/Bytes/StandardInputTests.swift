import SystemPackage
import TestRunning
import Testing
import Zoetrope

@testable import ZoetropeCodec
@testable import ZoetropeCore
@testable import ZoetropeFrames

/// Input that comes through a pipe.
@Suite(.timeLimit(.minutes(10)), .computes) struct StandardInputTests {
  /// The result of reading a pipe that contains `bytes`, a few thousand at most.
  private func read(
    _ bytes: [UInt8], byteLimit: Int = 1 << 20, stopsAfter stops: Int = .max
  ) throws -> Result<[UInt8], AnimatedImageError> {
    let (output, input) = try FileDescriptor.pipe()
    defer { try? output.close() }
    try input.closeAfter { _ = try input.writeAll(bytes) }
    return read(output, byteLimit: byteLimit, stopsAfter: stops)
  }

  private func read(
    _ descriptor: FileDescriptor, byteLimit: Int = 1 << 20, stopsAfter stops: Int = .max
  ) -> Result<[UInt8], AnimatedImageError> {
    var asked = 0
    return Result { () throws(AnimatedImageError) in
      try StandardInput.readAll(from: descriptor, byteLimit: byteLimit) {
        asked += 1
        return asked > stops
      }
    }
  }

  private func code(_ result: Result<[UInt8], AnimatedImageError>) -> AnimatedImageError.Code? {
    if case .failure(let error) = result { error.code } else { nil }
  }

  @Test(arguments: [PNGScanner.signature, Array("GIF89a".utf8), Array("GIF87a".utf8)])
  func `bytes that begin like an image are read whole`(start: [UInt8]) throws {
    let bytes = start + [UInt8](repeating: 0, count: 3000)
    #expect(try read(bytes).get() == bytes)
    // Input that is too short to judge is passed on unchanged.
    #expect(try read(Array(bytes.prefix(5))).get() == Array(bytes.prefix(5)))
  }

  @Test func `input that does not begin like an image is rejected`() throws {
    let bent = [PNGScanner.signature[0]] + [UInt8](repeating: 0, count: 40)
    #expect(code(try read(bent)) == .notAnImage)
    #expect(code(try read(Array("GIF90a".utf8) + bent)) == .notAnImage)
  }

  @Test func `input past the limit is refused where it passes it`() throws {
    let bytes = Array("GIF89a".utf8) + [UInt8](repeating: 0, count: 94)
    #expect(try read(bytes, byteLimit: 100).get() == bytes)
    let error = AnimatedImageError(
      .limitExceeded, "the input is too long; the limit is 99 bytes", byteOffset: 99,
      limit: LimitExcess(.inputBytes, found: 100, allowed: 99))
    #expect(try read(bytes, byteLimit: 99) == .failure(error))
  }

  @Test func `reading ends when it should stop, and where it cannot begin`() throws {
    #expect(code(try read(Array("GIF89a".utf8), stopsAfter: 1)) == .cancelled)
    let (output, input) = try FileDescriptor.pipe()
    defer { try? input.close() }
    try output.close()
    // The end for writing has nothing to read.
    #expect(code(read(input, stopsAfter: 100)) == .io)
  }
}
