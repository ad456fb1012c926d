internal import Synchronization
internal import SystemPackage

/// The destination of a written animation.
///
/// A blocking method of the writer calls the sink on the calling thread; an `async` method calls it on another thread.
/// Calls never overlap. A sink may block, but it must not wait for the writer. ``abandon()`` may be called on any
/// thread. After an error, nothing more is written to the sink. The last call is either ``finish()`` or ``abandon()``,
/// and is made exactly once. If the task is cancelled while the last bytes are being written, the file may still be
/// completed.
public protocol AnimationSink: AnyObject, Sendable {
  /// Whether ``patch(_:at:)`` can replace bytes that have already been written. Default: false.
  var canPatch: Bool { get }
  /// Writes `bytes` after those that have already been written.
  func write(_ bytes: [UInt8]) throws(AnimatedImageError)
  /// Overwrites earlier bytes with `bytes`, starting at `offset` in the file.
  func patch(_ bytes: [UInt8], at offset: Int) throws(AnimatedImageError)
  /// Completes the file, once all bytes have been written. If this method throws, the sink itself must have discarded
  /// the file: ``abandon()`` is not called.
  func finish() throws(AnimatedImageError)
  /// Discards the bytes written so far, because the animation will not be completed.
  func abandon()
}

/// A sink that may have to wait, for example for the reader of a pipe, and that stops waiting when writing is
/// cancelled.
package protocol InterruptibleSink: AnimationSink {
  /// Sets the closure that tells whether writing is cancelled.
  ///
  /// - Parameter isCancelled: A closure that the sink polls while it waits. When the closure returns true,
  ///   ``write(_:)`` throws `cancelled`.
  func observe(_ isCancelled: @escaping @Sendable () -> Bool)
}

extension AnimationSink {
  /// Passes `isCancelled` to the sink if it is an ``InterruptibleSink``.
  func observe(_ isCancelled: @escaping @Sendable () -> Bool) {
    (self as? any InterruptibleSink)?.observe(isCancelled)
  }

  /// Makes room for `count` more bytes if the sink keeps the file in memory. Call this method before ``write(_:)``.
  ///
  /// - Throws: `outOfMemory` if allocation fails.
  func makeRoom(for count: Int) throws(AnimatedImageError) {
    try (self as? MemorySink)?.reserve(count)
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
  /// The default implementation: false.
  public var canPatch: Bool { false }

  /// The default implementation: throws `parameter`. The writer calls this method only if ``canPatch`` is true.
  public func patch(_ bytes: [UInt8], at offset: Int) throws(AnimatedImageError) {
    throw AnimatedImageError(.parameter, "bytes already written to this output cannot be replaced")
  }
}

/// A sink that keeps the written animation in memory.
public final class MemorySink: AnimationSink {
  private let state = Mutex<(bytes: [UInt8], isComplete: Bool)>(([], false))

  /// Creates an empty sink.
  public init() {}

  /// The bytes of the file, or an empty array while the file is incomplete.
  public var bytes: [UInt8] { state.withLock { $0.isComplete ? $0.bytes : [] } }

  /// Whether bytes that have already been written can be replaced: always true.
  public var canPatch: Bool { true }

  /// Appends `bytes` to the file.
  public func write(_ bytes: [UInt8]) { state.withLock { $0.bytes += bytes } }

  /// Makes room for `count` more bytes, because ``write(_:)`` cannot throw.
  ///
  /// - Throws: `outOfMemory` if allocation fails.
  package func reserve(_ count: Int) throws(AnimatedImageError) {
    try state.withLock { (state) throws(AnimatedImageError) in
      try state.bytes.makeRoom(adding: count)
    }
  }

  /// Overwrites earlier bytes with `bytes`, starting at `offset` in the file.
  public func patch(_ bytes: [UInt8], at offset: Int) {
    state.withLock { $0.bytes.replaceSubrange(offset..<offset + bytes.count, with: bytes) }
  }

  /// Completes the file, which makes ``bytes`` available.
  public func finish() { state.withLock { $0.isComplete = true } }

  /// Discards all bytes.
  public func abandon() { state.withLock { $0.bytes = [] } }
}

/// A sink that passes the bytes of the written animation to a closure, in order.
public final class CallbackSink: AnimationSink {
  private let take: @Sendable ([UInt8]) throws -> Void

  /// Creates a sink that calls `take` with each chunk of bytes.
  ///
  /// - Parameter take: The closure. If it throws, writing fails; while it blocks, the writer waits.
  public init(_ take: @escaping @Sendable ([UInt8]) throws -> Void) { self.take = take }

  /// Passes `bytes` to the closure. An error of the closure that is not an ``AnimatedImageError`` becomes the
  /// ``AnimatedImageError/underlyingError`` of one with the code ``AnimatedImageError/Code/io``.
  public func write(_ bytes: [UInt8]) throws(AnimatedImageError) {
    do {
      try take(bytes)
    } catch let error as AnimatedImageError {
      throw error
    } catch {
      throw AnimatedImageError(thrown: error)
    }
  }

  /// Does nothing.
  public func finish() {}

  /// Does nothing. The caller learns from the writer's error that the bytes are incomplete.
  public func abandon() {}
}

/// A sink that writes an animation to a file, which appears under its name only when it is complete.
///
/// The first bytes are written to a new temporary file in the same directory. The complete temporary file is renamed to
/// ``path``. A process that is killed leaves only the temporary file behind. If the new file replaces another one, it
/// gets the permissions of that file. If ``path`` is a symbolic link, the target of the link is replaced. An animation
/// may be written over the file that it is read from. If the file would become larger than the process may write
/// (`ulimit -f`), writing fails, and the process does not get SIGXFSZ.
///
/// Pipes and devices are written to directly. Opening a named pipe waits until the pipe has a reader, or until writing
/// is cancelled. A program that writes to pipes must ignore `SIGPIPE`.
public final class FileSink: AnimationSink {
  /// The path of the file, pipe or device that is written.
  public let path: FilePath
  /// The path, made absolute.
  private let location: FilePath
  private let isReplacing: Bool
  private let output = Mutex<Output>(.none)
  private let isCancelled = Mutex<@Sendable () -> Bool>({ false })

  private enum Output {
    case none
    case file(TemporaryFile)
    /// A pipe or a device, opened for non-blocking writes.
    case stream(FileDescriptor)
  }

  /// Creates a sink that writes to `path`. The file is created when the first bytes are written.
  ///
  /// A relative path refers to the directory that is current now, even if the process changes its directory later.
  ///
  /// - Parameter replaces: Whether to replace an existing file. Default: true. If false and the file exists, writing
  ///   fails with ``AnimatedImageError/Code/io``.
  public init(_ path: some FilePathConvertible, replaces: Bool = true) {
    self.path = path.filePath
    location = FileSystem.absolute(self.path)
    isReplacing = replaces
  }

  deinit { abandon() }

  private var isStream: Bool {
    FileStatus(at: location).map { !$0.isRegular && !$0.isDirectory } ?? false
  }

  /// Whether bytes that have already been written can be replaced: true for a file, false for a pipe or a device.
  public var canPatch: Bool { !isStream }

  /// Appends `bytes` to the file.
  public func write(_ bytes: [UInt8]) throws(AnimatedImageError) {
    try perform { (output) throws(Errno) in
      if case .none = output { output = try open() }
      switch output {
      case .file(let file):
        try file.checkSizeLimit(adding: bytes.count)
        try file.descriptor.writeAll(bytes)
      case .stream(let descriptor):
        try descriptor.writeAll(bytes, isCancelled: poll)
      case .none: break
      }
    }
  }

  /// A closure that returns true once the sink has to stop waiting.
  private var poll: @Sendable () -> Bool { isCancelled.withLock { $0 } }

  private func open() throws(Errno) -> Output {
    if isStream {
      return .stream(
        try FileSystem.openForWriting(stream: location, isCancelled: poll))
    }
    // Check here as well, so that writing fails before any work is done. `publish` checks again, without a race.
    if !isReplacing, FileStatus(at: location, followsLinks: false) != nil { throw .fileExists }
    return .file(
      try TemporaryFile(for: isReplacing ? FileSystem.followingLinks(location) : location))
  }

  /// Overwrites earlier bytes with `bytes`, starting at `offset` in the file.
  public func patch(_ bytes: [UInt8], at offset: Int) throws(AnimatedImageError) {
    try perform { (output) throws(Errno) in
      guard case .file(let file) = output else { throw .illegalSeek }
      try file.descriptor.writeAll(bytes, at: offset)
    }
  }

  /// Completes the file. The temporary file is renamed to ``path``; a pipe or device is closed.
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

  /// Removes the temporary file, or closes the pipe or device.
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
    if let failure {
      throw AnimatedImageError(.io, "\(path.quoted): \(failure)", systemError: failure)
    }
  }
}

extension FileSink: InterruptibleSink {
  package func observe(_ isCancelled: @escaping @Sendable () -> Bool) {
    self.isCancelled.withLock { $0 = isCancelled }
  }
}
