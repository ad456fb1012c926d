import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeWriting

/// `DamagePolicy.strict` where compressed pixels are copied, so that nothing else would decode them.
@Suite(.timeLimit(.minutes(10)), .startsThreads) struct StrictEditTests {
  private static func image(
    _ bytes: [UInt8], _ policy: DamagePolicy
  ) throws -> AnimatedImage {
    try AnimatedImage(bytes: bytes, options: DecodingOptions(damage: policy))
  }

  @Test(arguments: ["lzw-bad-code.gif", "crc-fdat.png", "zlib-short.png"])
  func `damage in a frame that would be copied is rejected`(_ name: String) async throws {
    let bytes = try FixtureLibrary().file("Bad/\(name)")
    let (salvaged, strict) = (try Self.image(bytes, .salvage), try Self.image(bytes, .strict))
    let edits = [AnimationEdit.speed(0.5)]
    let plan = try await salvaged.plan(edits)
    #expect(plan.isCopy)
    let found = await #expect(throws: AnimatedImageError.self) { try await strict.plan(edits) }
    #expect(found?.frameIndex == 1)
    for budget in [nil, ByteBudget(byteLimit: .max)] {
      let sink = MemorySink()
      let options = EditOptions(budget: budget)
      let error = await #expect(throws: AnimatedImageError.self) {
        try await strict.write(edits, to: sink, options: options)
      }
      #expect(error?.frameIndex == 1 && sink.bytes.isEmpty)
    }
    // Frames that the output does not have do not count.
    let head = try await strict.plan([.frames(0..<1)])
    #expect(head.isCopy)
  }

  @Test func `damage in a static image that would be copied is rejected`() throws {
    var bytes = try FixtureLibrary().file("APNG/static-hidden.png")
    let hidden = try #require(try AnimatedImage(bytes: bytes).staticImage)
    // The third byte of the compressed data, which follows the length and the type of the chunk.
    bytes[hidden.byteRange.lowerBound + 10] = 0xff
    // The first edit copies all frames, and the second one does not.
    for edits in [[AnimationEdit.playCount(.finite(2))], [.reverse]] {
      let (salvaged, strict) = (try Self.image(bytes, .salvage), try Self.image(bytes, .strict))
      _ = try EditPlan(salvaged, edits, EditOptions())
      let error = #expect(throws: AnimatedImageError.self) {
        try EditPlan(strict, edits, EditOptions())
      }
      #expect(error?.code == .malformed && error?.frameIndex == nil, "\(edits)")
    }
  }

  @Test func `a damaged still picture is not optimized`() throws {
    let bytes = try FixtureLibrary().file("Bad/png-idat-empty.png")
    let copy = try Self.image(bytes, .salvage).optimize(to: MemorySink(), options: .init())
    #expect(copy.isCopy)
    let strict = try Self.image(bytes, .strict)
    #expect(throws: AnimatedImageError.self) {
      try strict.optimize(to: MemorySink(), options: .init())
    }
  }

  @Test func `looking for damage in copied frames can be cancelled`() throws {
    let bytes = try FixtureLibrary().file("Demo/bouncing-ball.gif")
    let strict = try Self.image(bytes, .strict)
    let error = #expect(throws: AnimatedImageError.self) {
      try strict.checkCopies(through: strict.frames.count - 1) { true }
    }
    #expect(error?.code == .cancelled)
    try strict.checkCopies(through: strict.frames.count - 1) { false }
    // Nothing is decoded without need.
    try strict.checkCopies(through: nil) { true }
    try Self.image(bytes, .salvage).checkCopies(through: 0) { true }
  }
}
