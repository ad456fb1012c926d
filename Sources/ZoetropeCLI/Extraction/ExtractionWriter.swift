import SystemPackage
import Zoetrope
import ZoetropeProcess

/// A composited frame that is to be encoded and written.
struct FrameJob: Sendable {
  /// The position of the frame among the outputs of this input, from 0.
  let place: Int
  let bitmap: Bitmap
  /// The path of the frame's file, or nil if the frame is written to the stream.
  let path: FilePath?
  /// The name of the frame's file in an archive, or nil if the stream is not an archive.
  var entry: [UInt8]?
  /// How many times in a row the frame is written to the stream.
  var repeats = 1
}

/// Encodes and writes frames on several threads. The number of frames in progress is bounded.
///
/// The compositing thread submits frames in order. If enough frames are waiting, that thread encodes one of them
/// itself, so `jobs` threads are busy, including the caller's. Frames for a stream are written in order; frames with
/// files of their own are written as soon as they are encoded.
final class ExtractionWriter {
  private let shared: Monitor<State>
  private let context: Context
  private let encoder: FrameEncoder
  private var threads: [SystemThread] = []
  private let jobs: Int

  /// The values that all threads share and that do not change.
  struct Context: Sendable {
    let form: PictureForm
    let metadata: AnimationMetadata?
    /// Whether existing files may be replaced.
    let isReplacing: Bool
    /// The stream for frames that have no file of their own.
    var stream = OutputStream.standardOutput
  }

  /// A frame that is encoded and ready for the stream.
  struct Encoded {
    let bytes: [UInt8]
    let repeats: Int
    let written: WrittenFrame
  }

  struct State {
    var queue: [FrameJob] = []
    /// The number of frames that have been submitted and not yet written.
    var pending = 0
    /// The encoded frames for the stream that have to wait for an earlier frame, by place.
    var ready: [Int: Encoded] = [:]
    /// The place of the frame that is written to the stream next.
    var nextPlace = 0
    var isStreaming = false
    var written: [Int: WrittenFrame] = [:]
    var byteCount = 0
    var failure: WriteFailure?
    var isClosed = false
  }

  init(jobs: Int, context: Context) {
    self.context = context
    shared = Monitor(State())
    encoder = FrameEncoder(context.form, metadata: context.metadata)
    self.jobs = max(1, jobs)
    for _ in 1..<max(1, jobs) {
      let (shared, context) = (shared, context)
      let thread = SystemThread {
        let encoder = FrameEncoder(context.form, metadata: context.metadata)
        while let job = Self.takeJob(shared) { Self.process(job, encoder, shared, context) }
      }
      // If a thread cannot be created, the work only takes longer.
      if let thread { threads.append(thread) }
    }
  }

  /// Returns how many frames may be in progress. The number is enough to keep `jobs` threads busy, but the frames
  /// together have at most a gigabyte. A frame of the largest canvas has 256 MB, and there may be 64 threads.
  static func window(jobs: Int, frameByteCount: Int) -> Int {
    max(1, min(jobs * 2, (1 << 30) / max(frameByteCount, 1)))
  }

  /// Whether a frame could not be written. ``finish()`` returns the reason.
  var hasFailed: Bool { shared.update { $0.failure != nil } }

  /// Submits a frame. If there is room for another frame, returns immediately. Otherwise encodes waiting frames until
  /// there is room.
  func submit(_ job: FrameJob) throws(WriteFailure) {
    if threads.isEmpty {
      shared.update { $0.pending += 1 }
      Self.process(job, encoder, shared, context)
    } else {
      shared.update {
        $0.pending += 1
        $0.queue.append(job)
      }
      let window = Self.window(
        jobs: jobs, frameByteCount: job.bitmap.bytesPerRow * job.bitmap.height)
      while let job = waitForRoom(in: window) { Self.process(job, encoder, shared, context) }
    }
    if let failure = shared.update({ $0.failure }) { throw failure }
  }

  /// The numbers of frames and bytes that have been written so far.
  var progress: (frames: Int, bytes: Int?) {
    shared.update { ($0.written.count, $0.byteCount) }
  }

  /// Writes all pending frames, and ends the threads.
  ///
  /// - Returns: The frames that were written, by place, and the reason why writing stopped early, or nil if it did not.
  func finish() -> (written: [Int: WrittenFrame], failure: WriteFailure?) {
    while let job = shared.update({ $0.queue.isEmpty ? nil : $0.queue.removeFirst() }) {
      Self.process(job, encoder, shared, context)
    }
    shared.update { $0.isClosed = true }
    for thread in threads { thread.join() }
    threads = []
    return shared.update { ($0.written, $0.failure) }
  }

  /// Waits until there is room for another frame, and then returns nil. If a frame is waiting meanwhile, returns it for
  /// the caller to encode.
  private func waitForRoom(in window: Int) -> FrameJob? {
    shared.wait { state -> FrameJob?? in
      if state.pending < window || state.failure != nil { return .some(nil) }
      return state.queue.isEmpty ? nil : .some(state.queue.removeFirst())
    }
  }

  /// Waits for the next frame for a worker thread and returns it. Returns nil if there will be no more frames.
  private static func takeJob(_ shared: Monitor<State>) -> FrameJob? {
    shared.wait { state -> FrameJob?? in
      if !state.queue.isEmpty { return .some(state.queue.removeFirst()) }
      return state.isClosed ? .some(nil) : nil
    }
  }

  private static func process(
    _ job: FrameJob, _ encoder: FrameEncoder, _ shared: Monitor<State>, _ context: Context
  ) {
    do throws(WriteFailure) {
      if let failure = shared.update({ $0.failure }) { throw failure }
      if let status = Signals.ending { throw .stopped(status) }
      let bytes = try encoder.encode(job.bitmap)
      if let path = job.path {
        try OutputFile.write(bytes, to: path, isReplacing: context.isReplacing)
        let written = WrittenFrame(name: FileName(path), byteCount: bytes.count)
        shared.update { $0.finish(job.place, written) }
      } else {
        let output = context.stream
        let name = job.entry ?? Array((output == .standardOutput ? "-" : output.name).utf8)
        let written = WrittenFrame(name: FileName(name), byteCount: bytes.count * job.repeats)
        let encoded = Encoded(
          bytes: job.entry.map { TarArchive.file($0, bytes) } ?? bytes, repeats: job.repeats,
          written: written)
        try stream(encoded, of: job, shared, output)
      }
    } catch {
      shared.update {
        if $0.failure == nil { $0.failure = error }
        $0.pending -= 1
      }
    }
  }

  /// Writes the next frames to the stream, as far as they are encoded, unless another thread is already writing to the
  /// stream.
  private static func stream(
    _ encoded: Encoded, of job: FrameJob, _ shared: Monitor<State>, _ stream: OutputStream
  ) throws(WriteFailure) {
    var next = shared.update { state -> Encoded? in
      state.ready[job.place] = encoded
      return state.startStreaming()
    }
    while let frame = next {
      do throws(WriteFailure) {
        for _ in 0..<frame.repeats { try stream.write(frame.bytes) }
      } catch {
        shared.update { $0.isStreaming = false }
        throw error
      }
      next = shared.update { state -> Encoded? in
        state.isStreaming = false
        state.finish(state.nextPlace, frame.written)
        state.nextPlace += 1
        return state.startStreaming()
      }
    }
  }
}

extension ExtractionWriter.State {
  fileprivate mutating func finish(_ place: Int, _ frame: WrittenFrame) {
    written[place] = frame
    byteCount += frame.byteCount
    pending -= 1
  }

  /// Returns the frame to write to the stream next, if it is encoded and no thread is writing to the stream. Otherwise
  /// returns nil.
  fileprivate mutating func startStreaming() -> ExtractionWriter.Encoded? {
    guard !isStreaming, failure == nil, let next = ready.removeValue(forKey: nextPlace) else {
      return nil
    }
    isStreaming = true
    return next
  }
}
