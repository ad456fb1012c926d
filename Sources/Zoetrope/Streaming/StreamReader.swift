internal import Synchronization

/// Reads the composited frames of a stream on the calling thread; only frames that have arrived.
///
/// While bytes arrive it is a ``FrameReader`` whose list of frames grows: a jump back replays from the last
/// independent frame. At the first jump after the stream has ended it becomes a ``SeekingReader`` of the whole
/// image, whose jumps are bounded. Not `Sendable`.
package final class StreamReader {
  private let core: StreamCore
  private var arrived: ArrivedFrames
  private var settled: SeekingReader?
  /// Nil if frames are used as decoded.
  private var renderer: FrameRenderer?
  /// Reads frames as stored; nil until one is asked for.
  private var stored: StoredFrameReader?

  package init(_ core: StreamCore, _ rendering: Rendering) {
    self.core = core
    arrived = ArrivedFrames(core)
    if rendering != Rendering(), let size = core.header?.canvasSize {
      renderer = FrameRenderer(rendering, of: size, options: core.options)
    }
  }

  /// Frame `index`, which has arrived.
  package func frame(
    at index: Int, isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> CompositedFrame {
    try renderer?.check()
    let frame = try composite(index, isCancelled)
    core.noteDecoded(index)
    return try renderer?.render(frame, isCancelled: isCancelled) ?? frame
  }

  /// The stored pixels of frame `index`, which has arrived, unscaled; nil for a frame without pixels.
  package func storedFrame(at index: Int) throws(AnimatedImageError) -> CompositedFrame? {
    try storedReader().read(core.frame(index))
  }

  private func storedReader() throws(AnimatedImageError) -> StoredFrameReader {
    if let stored { return stored }
    let made = StoredFrameReader(try AnimatedImage(growing: core))
    stored = made
    return made
  }

  /// Gives up the memory that waits for the next frames.
  package func rest() {
    arrived.rest()
    settled?.rest()
    renderer?.rest()
  }

  private func composite(
    _ index: Int, _ isCancelled: () -> Bool
  ) throws(AnimatedImageError) -> CompositedFrame {
    if let settled { return try settled.frame(at: index, isCancelled: isCancelled) }
    // A reader that is asked for another frame than its next starts over anyway.
    if index != arrived.nextIndex, let image = core.settled {
      let player = image.preparedForPlaying
      let seeking = SeekingReader(
        player, store: player.access.checkpoints(of: player), keepsCheckpoints: false)
      settled = seeking
      arrived.forget()
      return try seeking.frame(at: index, isCancelled: isCancelled).allDirty
    }
    return try arrived.reader(reaching: index).frame(at: index, isCancelled: isCancelled)
  }
}

/// A reader used on decode threads, one call at a time: copies of an iterator share it.
final class LentStreamReader: Sendable {
  private let reader: Mutex<StreamReader>

  init(_ reader: sending StreamReader) { self.reader = Mutex(reader) }

  func frame(
    at index: Int, isCancelled: @Sendable () -> Bool
  ) -> Result<CompositedFrame, AnimatedImageError> {
    Result { () throws(AnimatedImageError) in
      try reader.withLock { (reader) throws(AnimatedImageError) in
        try reader.frame(at: index, isCancelled: isCancelled)
      }
    }
  }
}

/// A reader of the frames that have arrived, made when it is first asked for, whose list grows.
struct ArrivedFrames {
  private let core: StreamCore
  private var reader: FrameReader?

  init(_ core: StreamCore) { self.core = core }

  /// The frame that the reader reads next; nil before there is one.
  var nextIndex: Int? { reader?.nextIndex }

  func rest() { reader?.rest() }

  /// The reader, which knows frame `index`, if that has arrived.
  mutating func reader(reaching index: Int) throws(AnimatedImageError) -> FrameReader {
    guard let reader else {
      let made = FrameReader(try AnimatedImage(growing: core))
      reader = made
      return made
    }
    let known = reader.image.frames.count
    if index >= known { reader.append(core.arrival(after: known).frames) }
    return reader
  }

  /// Gives up the reader.
  mutating func forget() { reader = nil }
}

extension AnimatedImage {
  /// The frames of `core` that have arrived, for decoding on one thread; the bytes are all that are received
  /// at the time of each read.
  fileprivate init(growing core: StreamCore) throws(AnimatedImageError) {
    guard let image = core.image else {
      throw AnimatedImageError(.noFrames, "no frame has arrived")
    }
    self = image
    options.parallelism = 1
    source = ReceivedSource(core.received)
  }
}
