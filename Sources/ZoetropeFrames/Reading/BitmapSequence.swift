internal import Synchronization

/// A sequence of composited frames, which are decoded on demand and delivered without timing.
///
/// The sequence ends after the last frame. If the iterating task is cancelled, the sequence ends without an error. An
/// error is thrown only after all frames before it have been consumed.
public struct BitmapSequence: AsyncSequence, Sendable {
  /// The image is retained, because releasing a ``StreamedImage`` ends its stream.
  private let image: any AnimationSource
  private let rendering: Rendering
  private let cache: (any FrameCaching)?
  private let isEmpty: Bool
  private let contains: @Sendable (Int) -> Bool

  init(
    _ image: any AnimationSource, rendering: Rendering, cache: (any FrameCaching)?, isEmpty: Bool,
    where contains: @escaping @Sendable (Int) -> Bool
  ) {
    self.image = image
    self.rendering = rendering
    self.cache = cache
    self.isEmpty = isEmpty
    self.contains = contains
  }

  /// Creates an iterator that begins at the first frame of the range.
  public func makeAsyncIterator() -> Iterator {
    Iterator(image, rendering: rendering, cache: cache, isOver: isEmpty, where: contains)
  }

  /// An iterator over the frames. Copies of an iterator share one decoder and wait for each other.
  public struct Iterator: AsyncIteratorProtocol {
    private let image: any AnimationSource
    private let origin: any ImageOrigin
    private let reader: Lent<RenderedReader>
    private let contains: @Sendable (Int) -> Bool
    private var next = 0
    private var hasBegun = false
    private var isOver: Bool

    init(
      _ image: any AnimationSource, rendering: Rendering, cache: (any FrameCaching)?, isOver: Bool,
      where contains: @escaping @Sendable (Int) -> Bool
    ) {
      self.image = image
      origin = image.origin.base
      self.contains = contains
      self.isOver = isOver
      let reader = RenderedReader(origin, rendering: rendering, cache: cache)
      reader.isOnePass = true
      if origin.arrivals == nil {
        // `relative(to:)` is not used: it traps for a closed range up to `Int.max`, and it reverses the bounds of a
        // partial range that begins past the last frame. Frames after the range are not decoded ahead.
        reader.lastWanted = (0..<origin.frameCount).last(where: contains)
      }
      self.reader = Lent(reader)
    }

    /// Decodes the next frame and returns it. Returns nil after the last frame, and if the task is cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(AnimatedImageError) -> CompositedFrame? {
      guard !isOver, let index = await nextIndex(), !Task.isCancelled else { return nil }
      next = index + 1
      hasBegun = true
      do throws(AnimatedImageError) {
        return try await reader.frame(at: index)
      } catch {
        isOver = true
        if error.code == .cancelled { return nil }
        throw error
      }
    }

    /// Waits until the next frame of the range has arrived, and returns the index of that frame. Returns nil if the
    /// range has no further frame.
    private func nextIndex() async -> Int? {
      var index = next
      while true {
        let isWanted = contains(index)
        // A range is contiguous, so it contains no later frame.
        if hasBegun, !isWanted { return nil }
        if index >= origin.frameCount {
          guard let arrivals = origin.arrivals, await arrivals.waitForFrame(index),
            index < origin.frameCount
          else { return nil }
        }
        if isWanted { return index }
        index += 1
      }
    }
  }
}

/// A reader that is used on decode threads by one call at a time.
///
/// Calls take turns because an iterator can be copied. An actor that copies an iterator, awaits a frame and stores the
/// copy back may be reentered during the await. Two decode threads would then use the same reader. The lock is never
/// contended; it shows the compiler that only one thread at a time uses the reader.
final class Lent<Reader>: Sendable {
  private let reader: Mutex<Reader>
  /// Calls wait here, where they can be cancelled and hold up no thread of the library.
  private let turns = OpenGate(limit: 1)

  init(_ reader: sending Reader) { self.reader = Mutex(reader) }

  /// The number of calls that wait for their turn.
  var waitingCount: Int { turns.waitingCount }

  /// Calls `body` with the reader on one of the library's threads, and returns the result of `body`. The flag is raised
  /// when the calling task is cancelled.
  ///
  /// - Throws: The errors of `body`; `cancelled` if the task is cancelled before its turn.
  func value<Value: Sendable>(
    _ body: @escaping @Sendable (Reader, CancelFlag) throws(AnimatedImageError) -> Value
  ) async throws(AnimatedImageError) -> Value {
    guard let turn = await turns.enter() else {
      throw AnimatedImageError(.cancelled, "stopped before decoding")
    }
    defer { turn.leave() }
    return try await DecodeThreads.shared.value { [self] flag throws(AnimatedImageError) in
      try reader.withLock { (reader) throws(AnimatedImageError) in try body(reader, flag) }
    }
  }
}

extension Lent<RenderedReader> {
  private enum Step: Sendable {
    case done(CompositedFrame)
    case lacking(FrameFetch)
  }

  /// Decodes frame `index` on another thread, after the bytes that the frame needs have been fetched, and returns it.
  func frame(at index: Int) async throws(AnimatedImageError) -> CompositedFrame {
    while true {
      let step = try await value { (reader, flag) throws(AnimatedImageError) in
        if let fetch = reader.fetch(for: index) { return Step.lacking(fetch) }
        do throws(AnimatedImageError) {
          return .done(try reader.frame(at: index) { flag.isRaised })
        } catch {
          // Either the replay is longer than expected, or bytes have been dropped in the meantime.
          guard error.code == .bytesMissing else { throw error }
          return .lacking(reader.fetch(for: index) ?? { nil })
        }
      }
      switch step {
      case .done(let frame): return frame
      case .lacking(let fetch): if let error = await fetch() { throw error }
      }
    }
  }
}
