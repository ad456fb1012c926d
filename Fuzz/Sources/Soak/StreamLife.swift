import Zoetrope

import ZoetropeCaching
import ZoetropeCodec
import ZoetropeCore
import ZoetropeFrames
import ZoetropePlayback
import ZoetropeStore
import ZoetropeTestSupport

/// The life of one stream: a producer that completes, ends early, throws or stalls, something that reads the
/// stream, and an end at any moment.
struct StreamLife {
  /// What becomes of the producer after the bytes that it gives.
  private enum Producer: CaseIterable { case complete, endsEarly, throwing, stalls }

  /// What reads the stream.
  private enum Consumer: CaseIterable { case none, bitmaps, player, partialFrames, updates }

  /// How it ends.
  private enum Ending: CaseIterable { case cancel, drop, cancelConsumer, wait }

  private struct Outage: Error {}

  let seed: UInt64
  let bytes: [UInt8]

  /// Gives what was wrong or left when it was over.
  func run() async -> [String] {
    var random = SplitMix64(seed: seed)
    let producer = Producer.allCases.randomElement(using: &random) ?? .complete
    let isGone = CancelFlag()
    var faults: [String] = []
    weak var core: StreamCore?
    do {
      let opening = open(producer, isGone, &random)
      // One that stalls before its canvas is known ends only when cancelled.
      if producer == .stalls {
        for _ in 0..<200 { await Task.yield() }
        opening.cancel()
      }
      if let stream = await opening.value {
        core = stream.core
        await use(stream, stalls: producer == .stalls, &random)
      }
    }
    for _ in 0..<10_000 where core != nil || !isGone.isRaised {
      try? await Task.sleep(for: .milliseconds(1))
    }
    if core != nil { faults.append("the stream is still there") }
    if !isGone.isRaised { faults.append("the producer was not told") }
    return faults.map { "seed \(seed): \($0)" }
  }

  /// Begins to open a stream of the bytes that `producer` gives; `isGone` is raised when that is told to end. Of
  /// the producer nothing stays here: a stream that needs no more bytes just drops it.
  private func open(
    _ producer: Producer, _ isGone: CancelFlag, _ random: inout SplitMix64
  ) -> Task<StreamedImage?, Never> {
    let (chunks, source) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
    source.onTermination = { _ in isGone.raise() }
    let count =
      producer == .complete ? bytes.count : Int.random(in: 0...bytes.count, using: &random)
    var start = 0
    while start < count {
      let end = min(start + Int.random(in: 1...4096, using: &random), count)
      source.yield(Array(bytes[start..<end]))
      start = end
    }
    switch producer {
    case .complete, .endsEarly: source.finish()
    case .throwing: source.finish(throwing: Outage())
    case .stalls: break
    }
    // Without memory for bytes, all of them go to a temporary file.
    let storage = StreamStorage(memoryByteLimit: [0, 1 << 18].randomElement(using: &random) ?? 0)
    return Task { try? await StreamedImage(chunks, storage: storage) }
  }

  /// Reads the stream for a while and ends it.
  private func use(
    _ stream: StreamedImage, stalls: Bool, _ random: inout SplitMix64
  ) async {
    let consumer = Consumer.allCases.randomElement(using: &random) ?? .none
    let limit = Int.random(in: 0...6, using: &random)
    let reading = Task {
      var left = limit
      switch consumer {
      case .none: break
      case .bitmaps:
        for try await _ in stream.bitmaps() where left > 0 { left -= 1 }
      case .player:
        let player = FrameScheduler(stream, clock: ManualClock(.jumping))
        for try await _ in player.play() {
          left -= 1
          if left < 0 { break }
        }
      case .partialFrames:
        for await _ in stream.updates {
          _ = try await stream.partialFrame()
          left -= 1
          if left < 0 { break }
        }
      case .updates: for await _ in stream.updates {}
      }
    }
    for _ in 0..<Int.random(in: 0...40, using: &random) { await Task.yield() }
    switch Ending.allCases.randomElement(using: &random) ?? .cancel {
    case .cancel: stream.cancel()
    case .cancelConsumer: reading.cancel()
    case .wait where !stalls: _ = await stream.waitUntilEnded()
    case .drop, .wait: break
    }
    reading.cancel()
    _ = await reading.result
  }
}
