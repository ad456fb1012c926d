import Foundation
import Synchronization
import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

@testable import ZoetropeCore
@testable import ZoetropeWriting

/// Four pictures, and how they are written.
enum WrittenPictures {
  static let all: [Bitmap] = (0..<4).map { step in
    Pictures.make(30, 20) { x, y in
      RGBA(red: UInt8((x * 7 + step * 40) & 255), green: UInt8(y * 9), blue: UInt8(step))
    }
  }
  static let delay = FrameDelay(numerator: 1, denominator: 25)

  static func write(_ options: AnimationWriterOptions, to sink: some AnimationSink) throws {
    let writer = try AnimationWriter(to: sink, options: options)
    for picture in all { try writer.append(picture, delay: delay) }
    try writer.finish()
  }

  static func bytes() throws -> [UInt8] {
    let sink = MemorySink()
    try write(AnimationWriterOptions(), to: sink)
    return sink.bytes
  }
}

/// When bytes reach a sink, on which threads, and what a sink may do meanwhile.
@Suite(.timeLimit(.minutes(10)), .startsThreads) struct WriterSinkTests {
  @Test func `bytes for a sink that cannot be patched come at once if the count is known`() throws {
    let parts = Mutex<[[UInt8]]>([])
    let sink = CallbackSink { part in parts.withLock { $0.append(part) } }
    try WrittenPictures.write(AnimationWriterOptions(frameCount: 4), to: sink)
    #expect(parts.withLock { $0.count } > 4)
    #expect(try parts.withLock { $0.flatMap { $0 } } == WrittenPictures.bytes())
  }

  @Test func `otherwise they come at the end`() throws {
    let parts = Mutex<[[UInt8]]>([])
    let writer = try AnimationWriter(
      to: CallbackSink { part in parts.withLock { $0.append(part) } })
    for picture in WrittenPictures.all { try writer.append(picture, delay: WrittenPictures.delay) }
    #expect(parts.withLock { $0.isEmpty })
    try writer.finish()
    #expect(try parts.withLock { $0.flatMap { $0 } } == WrittenPictures.bytes())
  }

  @Test func `the chunks of a sequence are the file`() async throws {
    let image = try AnimatedImage(bytes: WrittenPictures.bytes())
    var bytes: [UInt8] = []
    // Scheduling decides how many there are: what was written since the last one is one chunk.
    for try await chunk in image.reencoded() {
      #expect(!chunk.isEmpty)
      bytes += chunk
    }
    let sink = MemorySink()
    try await image.reencode(to: sink)
    #expect(bytes == sink.bytes)
    let copy = try AnimatedImage(bytes: bytes)
    #expect(copy.frames.map(\.delay) == image.frames.map(\.delay))
  }

  @Test func `a sequence of frames becomes bytes too`() async throws {
    let frames = AsyncStream<WritableFrame> { stream in
      for picture in WrittenPictures.all {
        stream.yield(WritableFrame(bitmap: picture, delay: WrittenPictures.delay))
      }
      stream.finish()
    }
    var bytes: [UInt8] = []
    for try await chunk in EncodedBytes(frames, options: AnimationWriterOptions()) {
      bytes += chunk
    }
    #expect(try bytes == WrittenPictures.bytes())
  }

  @Test func `every second frame of an animation is compared with the one written before`()
    throws
  {
    let image = try AnimatedImage(
      bytes: DeltaGIF.make(width: 48, height: 48, frameCount: 12, patch: 9))
    let sink = MemorySink()
    let writer = try AnimationWriter(to: sink)
    let reader = FrameReader(image)
    var pictures: [Bitmap] = []
    while let frame = try reader.next() {
      guard frame.index % 2 == 0 else { continue }
      pictures.append(frame.bitmap)
      try writer.append(WritableFrame(frame, delay: WrittenPictures.delay))
    }
    try writer.finish()
    let copy = FrameReader(try AnimatedImage(bytes: sink.bytes))
    for picture in pictures { #expect(try copy.next()?.bitmap == picture) }
    #expect(try copy.next() == nil)
  }

  @Test func `only the dirty rectangle of a consecutive frame is compared`() {
    let dirty = PixelRect(x: 1, y: 2, width: 3, height: 1)
    let frame = CompositedFrame(index: 4, bitmap: WrittenPictures.all[0], dirtyRect: dirty)
    #expect(WritableFrame(consecutive: frame, delay: WrittenPictures.delay).changed == dirty)
    #expect(WritableFrame(frame, delay: WrittenPictures.delay).changed == nil)
  }

  @Test func `a sink that blocks holds the frames back`() throws {
    let (gate, entered) = (ThreadSignal(), ThreadSignal())
    let sink = CallbackSink { _ in
      entered.post()
      gate.wait()
    }
    let options = AnimationWriterOptions(frameCount: 100, parallelism: 2)
    let writer = try AnimationWriter(to: sink, options: options)
    let appended = Mutex(0)
    let thread = SystemThread {
      for index in 0..<100 {
        try? writer.append(WrittenPictures.all[index % 4], delay: WrittenPictures.delay)
        appended.withLock { $0 += 1 }
      }
      _ = try? writer.finish()
    }
    entered.wait()
    // All but the first few wait for the sink, which takes nothing.
    #expect(appended.withLock { $0 } < 12)
    for _ in 0..<1000 { gate.post() }
    thread?.join()
    #expect(writer.progress.frameCount == 100)
  }

  @Test func `sinks that block hold up no decoding, and may wait for it`() async throws {
    let film = try AnimatedImage(bytes: WrittenPictures.bytes())
    let entered = AsyncStream.makeStream(of: Void.self)
    let gate = Monitor(false)
    // More of them than there are threads that decode.
    let count = DecodeThreads.processorCount + 2
    let files = try await withThrowingTaskGroup(of: [UInt8].self) { group in
      for _ in 0..<count {
        let parts = Mutex<[UInt8]>([])
        let sink = CallbackSink { part in
          if parts.withLock({ $0.isEmpty }) { entered.continuation.yield() }
          _ = gate.wait { $0 ? true : nil }
          parts.withLock { $0 += part }
        }
        let writer = try AnimationWriter(to: sink, options: AnimationWriterOptions(frameCount: 4))
        group.addTask {
          for picture in WrittenPictures.all {
            try await writer.append(picture, delay: WrittenPictures.delay)
          }
          try await writer.finish()
          return parts.withLock { $0 }
        }
      }
      var waiting = entered.stream.makeAsyncIterator()
      for _ in 0..<count { await waiting.next() }
      #expect(try await film.bitmap(at: 3) == WrittenPictures.all[3])
      gate.update { $0 = true }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(try files == Array(repeating: WrittenPictures.bytes(), count: count))
  }

  @Test func `only the calls of a writer write to its sink`() throws {
    let threads = Mutex<Set<pthread_t>>([])
    let sink = CallbackSink { _ in _ = threads.withLock { $0.insert(pthread_self()) } }
    try WrittenPictures.write(AnimationWriterOptions(frameCount: 4, parallelism: 4), to: sink)
    #expect(threads.withLock { $0 } == [pthread_self()])
  }

  @Test(arguments: [nil, 5]) func `a GIF is written as it is made`(frameCount: Int?) throws {
    let sizes = Mutex<[Int]>([])
    let sink = CallbackSink { part in sizes.withLock { $0.append(part.count) } }
    let writer = try AnimationWriter(
      to: sink,
      options: AnimationWriterOptions(format: .gif, frameCount: frameCount, parallelism: 1))
    for picture in WrittenPictures.all { try writer.append(picture, delay: WrittenPictures.delay) }
    #expect(sizes.withLock { $0.count } > 1)
    // Longer than a frame of a GIF may be: it takes two.
    try writer.append(WrittenPictures.all[0], delay: FrameDelay(numerator: 1000, denominator: 1))
    #expect(try writer.finish().frameCount == 6)
  }

  @Test func `a delay that takes several frames of an APNG is refused for a pipe`() throws {
    let writer = try AnimationWriter(
      to: CallbackSink { _ in }, options: AnimationWriterOptions(frameCount: 2))
    let error = #expect(throws: AnimatedImageError.self) {
      try writer.append(
        WrittenPictures.all[0], delay: FrameDelay(numerator: 65_536, denominator: 1))
      try writer.append(WrittenPictures.all[1], delay: WrittenPictures.delay)
      try writer.finish()
    }
    #expect(error?.code == .unwritable)
  }
}
