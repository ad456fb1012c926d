internal import Glibc
public import SystemPackage
internal import ZoetropeShims

/// An asynchronous sequence of the bytes of a pipe, socket, terminal or file, in chunks as they arrive. A file is read
/// from the descriptor's current position on.
///
/// A chunk holds the bytes that are available when it is read, at most 64 KiB. The iterator waits only for the first
/// byte of a chunk, never for more bytes to fill it. Bytes are read on demand, so a slow consumer blocks a program that
/// writes to the pipe. Waiting happens on a separate thread and never blocks Swift's cooperative thread pool.
/// Cancelling the iterating task ends the sequence within a tenth of a second. An iterator reads from a duplicate of
/// the descriptor, so you may close the original once the iterator exists.
///
/// ```swift
/// let image = try await StreamedImage(FileChunks(.standardInput))
/// ```
public struct FileChunks: AsyncSequence, Sendable {
  private let descriptor: FileDescriptor
  private let following: Duration?

  /// Creates a sequence of the bytes behind `descriptor`, without reading any of them yet.
  ///
  /// - Parameters:
  ///   - descriptor: The descriptor to read.
  ///   - following: The interval between checks for more data at the end of a file to which another program is still
  ///     writing. With an interval, the sequence ends only when the task is cancelled or the iterator is released;
  ///     `StreamedImage` releases the iterator after the image's end marker. Default: nil, which ends the sequence at
  ///     the end of the file.
  public init(_ descriptor: FileDescriptor, following: Duration? = nil) {
    self.descriptor = descriptor
    self.following = following
  }

  /// Creates an iterator. Use only one iterator per descriptor, because each chunk is returned by only one iterator.
  public func makeAsyncIterator() -> Iterator {
    Iterator(source: OwnedDescriptor.duplicate(of: descriptor), following: following)
  }

  /// An iterator that reads one chunk per call of ``next(isolation:)``.
  public struct Iterator: AsyncIteratorProtocol {
    private static let chunkSize = 1 << 16

    fileprivate let source: Result<OwnedDescriptor, AnimatedImageError>
    let following: Duration?

    /// Returns the next chunk, or nil if the data has ended or the task is cancelled.
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

    /// Runs `work`, which may block, on a separate thread and returns its result.
    private static func onThread(
      _ work: @escaping @Sendable (CancelFlag) -> Result<[UInt8]?, AnimatedImageError>
    ) async -> Result<[UInt8]?, AnimatedImageError> {
      let flag = CancelFlag()
      let handover = ResultHandover<Result<[UInt8]?, AnimatedImageError>>()
      return await withTaskCancellationHandler {
        let noThread = AnimatedImageError(.outOfMemory, "cannot create a thread")
        guard startThread(running: { handover.close(with: work(flag)) }) else {
          return .failure(noThread)
        }
        return await handover.value() ?? .failure(noThread)
      } onCancel: {
        flag.raise()
      }
    }

    /// Waits until at least one byte is available and returns the available bytes. Returns an empty array at the end of
    /// the data, and nil once `isCancelled` returns true.
    private static func read(
      _ source: OwnedDescriptor, isCancelled: () -> Bool
    ) throws(AnimatedImageError) -> [UInt8]? {
      while !isCancelled() {
        var request = [pollfd(fd: source.descriptor.rawValue, events: Int16(POLLIN), revents: 0)]
        let ready = waitForEvents(&request, milliseconds: 100)
        if ready < 0, errno != EINTR { throw FileSource.failure(Errno(rawValue: errno)) }
        guard ready > 0 else { continue }
        // Bytes consumed by a cancelled reader would be lost to the next reader.
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

/// A duplicate of a descriptor, which is closed when no iterator and no read uses it any more. If it were closed
/// earlier, another file could get the same descriptor number, and a read in progress could read from that file.
private final class OwnedDescriptor: Sendable {
  /// The duplicate, which is used to wait for data. Only the caller's open file description, which the duplicate
  /// shares, records whether the pipe has had a writer.
  let descriptor: FileDescriptor
  /// The same pipe, opened again in non-blocking mode, or nil if this is not a pipe or the system does not allow that.
  /// In blocking mode, a read would wait indefinitely if another reader consumed the bytes first. The caller's
  /// descriptor cannot be switched to non-blocking mode, because other processes share its open file description.
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
