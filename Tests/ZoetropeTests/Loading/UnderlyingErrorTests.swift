import Testing
import ZoetropeTestSupport

@testable import Zoetrope
@testable import ZoetropeFrames
@testable import ZoetropeRemote

/// An error of the caller's own code reaches the caller again, whichever door it took.
@Suite(.timeLimit(.minutes(10))) struct UnderlyingErrorTests {
  private struct Offline: Error, Hashable { let station: Int }

  private static let gif = DeltaGIF.make(width: 32, height: 24, frameCount: 4, patch: 6)

  /// Checks that `error` reports ``Offline`` of `station`.
  private func expect(
    _ error: AnimatedImageError?, _ station: Int,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(error?.code == .io, sourceLocation: sourceLocation)
    #expect(
      error?.underlyingError as? Offline == Offline(station: station),
      sourceLocation: sourceLocation)
    #expect(
      error?.detail.contains("Offline(station: \(station))") == true,
      sourceLocation: sourceLocation)
  }

  @Test func `of a reader of byte ranges`() async throws {
    let reader = CountedRanges(Self.gif)
    reader.answer { _, _ in throw Offline(station: 1) }
    let error = await #expect(throws: AnimatedImageError.self) {
      _ = try await RemoteImage(reading: reader)
    }
    expect(error, 1)
    #expect(error?.byteOffset == 0)
  }

  @Test func `of a fetch, and of opening a stream`() async {
    let budget = MemoryBudget(byteLimit: 8 << 20)
    let loader = FrameLoader(
      cache: MemoryFrameCache(budget: budget), budget: budget, playback: .everyFrame,
      clock: ManualClock(.jumping))
    var fetched: AnimatedImageError?
    for await phase in loader.phases(for: 1, data: { _ in throw Offline(station: 2) }) {
      if case .failed(let error) = phase { fetched = error }
    }
    expect(fetched, 2)
    var opened: AnimatedImageError?
    let open: @Sendable () async throws -> AsyncStream<[UInt8]> = { throw Offline(station: 3) }
    for await phase in loader.phases(for: 2, chunks: open) {
      if case .failed(let error) = phase { opened = error }
    }
    expect(opened, 3)
  }

  @Test func `of the chunks of a stream`() async throws {
    let (chunks, producer) = AsyncThrowingStream.makeStream(of: [UInt8].self)
    producer.yield(Array(Self.gif.prefix(Self.gif.count / 2)))
    producer.finish(throwing: Offline(station: 4))
    let stream = try await StreamedImage(chunks)
    expect(await stream.waitUntilEnded()?.error, 4)
    let error = await #expect(throws: AnimatedImageError.self) { try await stream.bitmap(at: 3) }
    expect(error, 4)
  }

  @Test func `of the closure of a sink`() async throws {
    let image = try AnimatedImage(bytes: Self.gif)
    let sink = CallbackSink { _ in throw Offline(station: 5) }
    let encoding = await #expect(throws: AnimatedImageError.self) {
      try await image.reencode(to: sink)
    }
    expect(encoding, 5)
    let editing = await #expect(throws: AnimatedImageError.self) {
      try await image.write([.reverse], to: sink)
    }
    expect(editing, 5)
  }

  @Test func `of a sequence of frames`() async {
    let frames = AsyncThrowingStream<WritableFrame, any Error> { stream in
      stream.finish(throwing: Offline(station: 6))
    }
    let error = await #expect(throws: AnimatedImageError.self) {
      for try await _ in EncodedBytes(frames, options: AnimationWriterOptions()) {}
    }
    expect(error, 6)
  }

  @Test func `errors are compared without it, and it follows them into a frame`() {
    let error = AnimatedImageError(.io, "no", underlyingError: Offline(station: 7))
    #expect(error == AnimatedImageError(.io, "no"))
    #expect(Set([error, AnimatedImageError(.io, "no")]).count == 1)
    #expect(error.inFrame(3).underlyingError as? Offline == Offline(station: 7))
    #expect(error.inFrame(3).frameIndex == 3)
  }
}
