internal import Synchronization
internal import SystemPackage

/// The destination of a written animation.
///
/// A blocking call of the writer calls the sink on the calling thread; an `async` call calls it on another thread. A
/// sink may block, but must not wait for the writer. ``abandon()`` may be called on any thread. Calls never overlap.
/// After an error, nothing more is written. The last call is either ``finish()`` or ``abandon()``, exactly once. A task
/// that is cancelled while the last bytes are written may still complete the file.
public protocol AnimationSink: AnyObject, Sendable {
  /// Whether ``patch(_:at:)`` can replace bytes that are already written. Default: false.
  var canPatch: Bool { get }
  /// Takes the next bytes.
  func write(_ bytes: [UInt8]) throws(AnimatedImageError)
  /// Replaces bytes that are already written, starting at `offset`.
  func patch(_ bytes: [UInt8], at offset: Int) throws(AnimatedImageError)
  /// Called when all bytes are written. If it throws, the sink has to discard them itself.
  func finish() throws(AnimatedImageError)
  /// Called if the animation is not completed. Discard the bytes written so far.
  func abandon()
}

/// A sink that may wait, for example for the reader of a pipe, and whose wait can be cancelled.
package protocol InterruptibleSink: AnimationSink {
  /// - Parameter isCancelled: Polled while the sink waits; if true, ``write(_:)`` throws `cancelled`.
  func observe(_ isCancelled: @escaping @Sendable () -> Bool)
}

extension AnimationSink {
  /// Passes `isCancelled` to the sink if it is an ``InterruptibleSink``.
  func observe(_ isCancelled: @escaping @Sendable () -> Bool) {
    (self as? any InterruptibleSink)?.observe(isCancelled)
  }

  /// Calls `body`, and abandons the sink if `body` throws.
  func orAbandon<Value>(
    _ body: () throws(AnimatedImageError) -> Value
  ) throws(AnimatedImageError) -> Value {
    do throws(AnimatedImageError) {
      return try body()
    } catch {
      abandon()
      throw error
    }
  }
}

extension AnimationSink {
  /// False by default.
  public var canPatch: Bool { false }

  /// Called only if ``canPatch`` is true.
  public func patch(_ bytes: [UInt8], at offset: Int) throws(AnimatedImageError) {
    throw AnimatedImageError(.parameter, "bytes already written to this output cannot be replaced")
  }
}

/// Keeps a written animation in memory.
public final class MemorySink: AnimationSink {
  private let state = Mutex<(bytes: [UInt8], isComplete: Bool)>(([], false))

  /// Creates an empty sink.
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

/// Passes the bytes of a written animation to a closure, in order.
public final class CallbackSink: AnimationSink {
  private let take: @Sendable ([UInt8]) throws -> Void

  /// - Parameter take: Receives each chunk. If it throws, writing ends; if it blocks, the writer waits.
  public init(_ take: @escaping @Sendable ([UInt8]) throws -> Void) { self.take = take }

  /// Calls the closure. Errors other than ``AnimatedImageError`` become ``AnimatedImageError/Code/io``.
  public func write(_ bytes: [UInt8]) throws(AnimatedImageError) {
    do {
      try take(bytes)
    } catch let error as AnimatedImageError {
      throw error
    } catch {
      throw AnimatedImageError(.io, "\(error)")
    }
  }

  /// Does nothing.
  public func finish() {}

  /// Does nothing. The error of the writer tells the caller that the bytes are incomplete.
  public func abandon() {}
}

/// Writes an animation to a file that appears only when it is complete.
///
/// The first bytes create a temporary file in the same directory, which is renamed when it is complete. A process
/// that is killed leaves only the temporary file. The new file has the permissions of the file that it replaces. If
/// the path is a symbolic link, its target is replaced. An animation may be written over the file it is read from.
///
/// Pipes and devices are written directly. Opening a named pipe waits until it has a reader or the writer is cancelled.
/// A program that writes to pipes must ignore `SIGPIPE`.
public final class FileSink: AnimationSink {
  /// The path of the file.
  public let path: FilePath
  private let isReplacing: Bool
  private let output = Mutex<Output>(.none)
  private let isCancelled = Mutex<@Sendable () -> Bool>({ false })

  private enum Output {
    case none
    case file(TemporaryFile)
    /// A pipe or a device, whose descriptor does not block.
    case stream(FileDescriptor)
  }

  /// Creates a sink; the file is created with the first bytes.
  ///
  /// - Parameter replaces: Whether to replace an existing file. Default: true. If false and the file exists, writing
  ///   fails with ``AnimatedImageError/Code/io``.
  public init(_ path: some FilePathConvertible, replaces: Bool = true) {
    self.path = path.filePath
    isReplacing = replaces
  }

  deinit { abandon() }

  private var isStream: Bool {
    FileStatus(at: path).map { !$0.isRegular && !$0.isDirectory } ?? false
  }

  /// Whether the destination is a file, not a pipe or a device.
  public var canPatch: Bool { !isStream }

  /// Appends `bytes`.
  public func write(_ bytes: [UInt8]) throws(AnimatedImageError) {
    try perform { (output) throws(Errno) in
      if case .none = output { output = try open() }
      switch output {
      case .file(let file): try file.descriptor.writeAll(bytes)
      case .stream(let descriptor):
        try descriptor.writeAll(bytes, isCancelled: poll)
      case .none: break
      }
    }
  }

  /// Returns true to end a wait.
  private var poll: @Sendable () -> Bool { isCancelled.withLock { $0 } }

  private func open() throws(Errno) -> Output {
    if isStream {
      return .stream(
        try FileSystem.openForWriting(stream: path, isCancelled: poll))
    }
    // Checked here to fail before any work. `publish` checks again, without a race.
    if !isReplacing, FileStatus(at: path, followsLinks: false) != nil { throw .fileExists }
    return .file(try TemporaryFile(for: isReplacing ? FileSystem.followingLinks(path) : path))
  }

  /// Replaces bytes.
  public func patch(_ bytes: [UInt8], at offset: Int) throws(AnimatedImageError) {
    try perform { (output) throws(Errno) in
      guard case .file(let file) = output else { throw .illegalSeek }
      try file.descriptor.writeAll(bytes, at: offset)
    }
  }

  /// Renames the file to its final name.
  public func finish() throws(AnimatedImageError) {
    try perform { (output) throws(Errno) in
      defer { output = .none }
      switch output {
      case .file(let file): try file.publish(isReplacing: isReplacing)
      case .stream(let descriptor):
        do { try descriptor.close() } catch { throw error as? Errno ?? .ioError }
      case .none: break
      }
    }
  }

  /// Removes the temporary file.
  public func abandon() {
    output.withLock { output in
      switch output {
      case .file(let file): file.discard()
      case .stream(let descriptor): try? descriptor.close()
      case .none: break
      }
      output = .none
    }
  }

  private func perform(_ body: (inout Output) throws(Errno) -> Void) throws(AnimatedImageError) {
    let failure: Errno? = output.withLock { output in
      do throws(Errno) {
        try body(&output)
        return nil
      } catch {
        return error
      }
    }
    if failure == .canceled { throw EncodingQueue.cancelled }
    if let failure { throw AnimatedImageError(.io, "\(path): \(failure)", systemError: failure) }
  }
}

extension FileSink: InterruptibleSink {
  package func observe(_ isCancelled: @escaping @Sendable () -> Bool) {
    self.isCancelled.withLock { $0 = isCancelled }
  }
}
