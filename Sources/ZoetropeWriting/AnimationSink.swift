internal import Synchronization

/// Where the bytes of a written animation go.
///
/// One thread at a time calls it, not always the same one: a call may block, but must not wait for the writer. After
/// an error nothing more is written. Either ``finish()`` or ``abandon()`` is called last, and only once.
public protocol AnimationSink: AnyObject, Sendable {
  /// Whether ``patch(_:at:)`` can replace bytes that were written.
  var canPatch: Bool { get }
  /// Takes the next bytes.
  func write(_ bytes: [UInt8]) throws(AnimatedImageError)
  /// Replaces bytes that were written, from `offset` on.
  func patch(_ bytes: [UInt8], at offset: Int) throws(AnimatedImageError)
  /// Called once all bytes are written.
  func finish() throws(AnimatedImageError)
  /// Called if the animation is not completed. What was written is of no use.
  func abandon()
}

/// Keeps a written animation in memory.
public final class MemorySink: AnimationSink {
  private let state = Mutex<(bytes: [UInt8], isComplete: Bool)>(([], false))

  /// Creates an empty one.
  public init() {}

  /// The bytes of the complete file; empty until it is complete.
  public var bytes: [UInt8] { state.withLock { $0.isComplete ? $0.bytes : [] } }

  /// Always true.
  public var canPatch: Bool { true }

  /// Appends `bytes`.
  public func write(_ bytes: [UInt8]) { state.withLock { $0.bytes += bytes } }

  /// Replaces bytes.
  public func patch(_ bytes: [UInt8], at offset: Int) {
    state.withLock { $0.bytes.replaceSubrange(offset..<offset + bytes.count, with: bytes) }
  }

  /// Makes ``bytes`` available.
  public func finish() { state.withLock { $0.isComplete = true } }

  /// Drops the bytes.
  public func abandon() { state.withLock { $0.bytes = [] } }
}

/// Hands the bytes of a written animation to a closure, in order.
public final class CallbackSink: AnimationSink {
  private let take: @Sendable ([UInt8]) throws -> Void

  /// - Parameter take: Receives each chunk; an error that it throws ends the writing. It may block, which holds the
  ///   writer back.
  public init(_ take: @escaping @Sendable ([UInt8]) throws -> Void) { self.take = take }

  /// Always false.
  public var canPatch: Bool { false }

  /// Calls the closure. Errors that are no ``AnimatedImageError`` become ``AnimatedImageError/Code/io``.
  public func write(_ bytes: [UInt8]) throws(AnimatedImageError) {
    do {
      try take(bytes)
    } catch let error as AnimatedImageError {
      throw error
    } catch {
      throw AnimatedImageError(.io, "\(error)")
    }
  }

  /// Never called.
  public func patch(_ bytes: [UInt8], at offset: Int) throws(AnimatedImageError) {
    throw AnimatedImageError(.parameter, "these bytes cannot be replaced")
  }

  /// Does nothing.
  public func finish() {}

  /// Does nothing: the closure's owner learns from the writer that the bytes are not complete.
  public func abandon() {}
}
