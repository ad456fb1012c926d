import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCodec
@testable import ZoetropeCore
@testable import ZoetropeFrames

@Suite(.timeLimit(.minutes(10)), .computes) struct FrameReaderTests {
  /// `count` frames of one pixel that cover the canvas and have no data.
  static func damaged(_ count: Int) -> [UInt8] {
    var bytes = Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0] + [9, 9, 9, 7, 7, 7]
    // The first is whole, the others end before their first pixel.
    bytes += [0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 0x01, 0]
    for _ in 1..<count { bytes += [0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 1, 0x2c, 0] }
    return bytes + [0x3b]
  }

  @Test func `a jump among damaged frames takes no deeper stack the more there are`() throws {
    let image = try AnimatedImage(bytes: Self.damaged(20_000))
    let reader = FrameReader(image)
    let bitmap = try reader.frame(at: 19_999).bitmap
    #expect(bitmap[0, 0] == RGBA(red: 9, green: 9, blue: 9))
  }

  @Test func `a jump is left between two frames when it is cancelled`() throws {
    let bytes = DeltaGIF.make(width: 32, height: 32, frameCount: 20, patch: 8)
    let reader = FrameReader(try AnimatedImage(bytes: bytes))
    var asked = 0
    let error = #expect(throws: AnimatedImageError.self) {
      try reader.frame(at: 15) {
        asked += 1
        return asked > 5
      }
    }
    #expect(error?.code == .cancelled)
    #expect(reader.nextIndex == 5)
  }

  @Test func `a reader asks before each frame whether to stop, also before the next one`() throws {
    let reader = FrameReader(
      try AnimatedImage(bytes: DeltaGIF.make(width: 8, height: 8, frameCount: 3)))
    for index in 0..<3 {
      let error = #expect(throws: AnimatedImageError.self) { try reader.frame(at: index) { true } }
      #expect(error?.code == .cancelled && reader.nextIndex == index)
      #expect(try reader.frame(at: index).index == index)
    }
  }

  @Test(arguments: [false, true])
  func `building what lies below a damaged frame ends when it is cancelled`(
    _ isSeeking: Bool
  ) throws {
    let image = try AnimatedImage(bytes: Self.damaged(2_000))
    func frame(_ isCancelled: @escaping () -> Bool) throws(AnimatedImageError) -> CompositedFrame {
      if isSeeking { return try seeking.frame(at: 1_999, isCancelled: isCancelled) }
      return try reader.frame(at: 1_999, isCancelled: isCancelled)
    }
    let (reader, seeking) = (FrameReader(image), SeekingReader(image))
    // In the search for a whole frame, and in the replay from there.
    for limit in [10, 3_000] {
      var asked = 0
      let error = #expect(throws: AnimatedImageError.self) {
        try frame {
          asked += 1
          return asked > limit
        }
      }
      #expect(error?.code == .cancelled && asked == limit + 1)
    }
    // The reader is still usable.
    #expect(try frame { false }.bitmap[0, 0] == RGBA(red: 9, green: 9, blue: 9))
  }

  @Test func `a range of frames may lie outside the image`() async throws {
    let image = try AnimatedImage(bytes: DeltaGIF.make(width: 32, height: 32, frameCount: 5))
    func indices(_ range: some RangeExpression<Int> & Sendable) async throws -> [Int] {
      var indices: [Int] = []
      for try await frame in image.bitmaps(range) { indices.append(frame.index) }
      return indices
    }
    #expect(try await indices(10...) == [])
    #expect(try await indices(3...) == [3, 4])
    #expect(try await indices(3..<900) == [3, 4])
    #expect(try await indices(..<2) == [0, 1])
    #expect(try await indices(0...900) == [0, 1, 2, 3, 4])
    #expect(try await indices(7...9) == [])
    #expect(try await indices(-3...1) == [0, 1])
    #expect(try await indices(-3..<1) == [0])
  }

  @Test func `cancelling ends a sequence without an error`() async throws {
    let image = try AnimatedImage(bytes: DeltaGIF.make(width: 32, height: 32, frameCount: 5))
    let task = Task {
      unsafe withUnsafeCurrentTask { task in unsafe task?.cancel() }
      var count = 0
      for try await _ in image.bitmaps() { count += 1 }
      return count
    }
    #expect(try await task.value == 0)
  }
}
