internal import Glibc
public import SystemPackage
internal import ZoetropeShims

/// The bytes of a pipe, socket, terminal or file from its current position on, in chunks as they arrive.
///
/// A chunk holds the bytes available at the time, at most 64 KiB, and never waits for more. Bytes are read on demand,
/// so a slow reader blocks the writer of a pipe. Waiting happens on a separate thread and never blocks the cooperative
/// pool. Cancelling the iterating task ends the sequence within a tenth of a second. An iterator reads from a
/// duplicate, so you may close the descriptor once the iterator exists.
///
/// ```swift
/// let image = try await StreamedImage(FileChunks(.standardInput))
/// ```
public struct FileChunks: AsyncSequence, Sendable {
  private let descriptor: FileDescriptor
  private let following: Duration?

  /// Creates the sequence. Reads nothing yet.
  ///
  /// - Parameters:
  ///   - descriptor: The descriptor to read.
  ///   - following: The interval between checks for more data at the end of a file that another program is still
  ///     writing. The sequence then ends only when the task is cancelled or the iterator is released; `StreamedImage`
  ///     releases it after the end marker. Default: nil, which ends the sequence at the end of the file.
  public init(_ descriptor: FileDescriptor, following: Duration? = nil) {
    self.descriptor = descriptor
    self.following = following
  }

  /// Creates an iterator. Use only one: each chunk goes to only one iterator.
  public func makeAsyncIterator() -> Iterator {
    Iterator(source: OwnedDescriptor.duplicate(of: descriptor), following: following)
  }

  /// Reads chunks one by one.
  public struct Iterator: AsyncIteratorProtocol {
    private static let chunkSize = 1 << 16

    fileprivate let source: Result<OwnedDescriptor, AnimatedImageError>
    let following: Duration?

    /// Returns the next chunk, or nil at the end or if the task is cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(AnimatedImageError) -> [UInt8]? {
      let source = try source.get()
      while !Task.isCancelled {
        let result = await Self.onThread { flag in
          Result { () throws(AnimatedImageError) in
            try Self.read(source) { flag.isRaised }
          }
        }
        guard let chunk = try result.get() else { return nil }
        if !chunk.isEmpty { return chunk }
        guard let following else { return nil }
        do { try await Task.sleep(for: following) } catch { return nil }
      }
      return nil
    }

    /// Runs `work`, which may block, on a separate thread.
    private static func onThread(
      _ work: @escaping @Sendable (CancelFlag) -> Result<[UInt8]?, AnimatedImageError>
    ) async -> Result<[UInt8]?, AnimatedImageError> {
      let flag = CancelFlag()
      let handover = ResultHandover<Result<[UInt8]?, AnimatedImageError>>()
      return await withTaskCancellationHandler {
        let noThread = AnimatedImageError(.io, "cannot create a thread")
        guard startThread(running: { handover.close(with: work(flag)) }) else {
          return .failure(noThread)
        }
        return await handover.value() ?? .failure(noThread)
      } onCancel: {
        flag.raise()
      }
    }

    /// Returns the available bytes after waiting for the first; an empty array at the end, nil if `isCancelled`.
    private static func read(
      _ source: OwnedDescriptor, isCancelled: () -> Bool
    ) throws(AnimatedImageError) -> [UInt8]? {
      while !isCancelled() {
        var request = [pollfd(fd: source.descriptor.rawValue, events: Int16(POLLIN), revents: 0)]
        let ready = waitForEvents(&request, milliseconds: 100)
        if ready < 0, errno != EINTR { throw FileSource.failure(Errno(rawValue: errno)) }
        guard ready > 0 else { continue }
        // Bytes consumed by a cancelled reader would be lost to the next one.
        if isCancelled() { return nil }
        var chunk = [UInt8](repeating: 0, count: chunkSize)
        do {
          let count = try (source.unblocked ?? source.descriptor).read(into: &chunk)
          chunk.removeLast(chunkSize - count)
          return chunk
        } catch Errno.resourceTemporarilyUnavailable {
          // Another reader of the pipe took the data.
          continue
        } catch {
          throw FileSource.failure(error)
        }
      }
      return nil
    }
  }
}

/// A duplicated descriptor, closed once no iterator and no read uses it. Closing it earlier could let a read hit
/// another file that has reused its number.
private final class OwnedDescriptor: Sendable {
  /// The descriptor to wait for: only the caller's descriptor knows whether the pipe had a writer.
  let descriptor: FileDescriptor
  /// The same pipe, opened again in non-blocking mode, or nil if the system does not allow that. A read from a blocking
  /// pipe would wait indefinitely if another reader consumed the bytes first. The caller's descriptor cannot be
  /// switched to that mode, because other processes share it.
  let unblocked: FileDescriptor?

  private init(_ descriptor: FileDescriptor) {
    self.descriptor = descriptor
    let number = zt_open_pipe_again(descriptor.rawValue)
    unblocked = number < 0 ? nil : FileDescriptor(rawValue: number)
  }

  deinit {
    try? descriptor.close()
    try? unblocked?.close()
  }

  static func duplicate(
    of descriptor: FileDescriptor
  ) -> Result<OwnedDescriptor, AnimatedImageError> {
    do {
      let copy = try IdleFiles.shared.open {
        let copy = fcntl(descriptor.rawValue, F_DUPFD_CLOEXEC, 0)
        if copy < 0 { throw Errno(rawValue: errno) }
        return FileDescriptor(rawValue: copy)
      }
      return .success(OwnedDescriptor(copy))
    } catch {
      return .failure(FileSource.failure(error))
    }
  }
}
