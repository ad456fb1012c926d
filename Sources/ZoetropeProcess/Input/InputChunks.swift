internal import Glibc
internal import SystemPackage
import Zoetrope

/// The bytes of an input, as they arrive. The input's descriptor is closed when its last user releases it.
struct InputChunks: AsyncSequence, Sendable {
  typealias Element = [UInt8]
  typealias Failure = AnimatedImageError

  /// The pause between two checks whether a followed file has grown, or whether data has arrived in a pipe.
  private static let interval = Duration.milliseconds(25)

  private let file: OwnedFile
  private let isFollowed: Bool
  private let patience: Duration?

  init(
    _ input: InputFile, isFollowed: Bool, _ patience: Duration?
  ) throws(AnimatedImageError) {
    file = try OwnedFile(input.path)
    // Standard input may also be a regular file. If it is followed, the end of the file is not final.
    self.isFollowed = isFollowed && file.isRegular
    self.patience = patience
  }

  func makeAsyncIterator() -> Iterator {
    Iterator(
      file: file, chunks: FileChunks(file.descriptor).makeAsyncIterator(), isFollowed: isFollowed,
      patience: patience)
  }

  struct Iterator: AsyncIteratorProtocol {
    fileprivate let file: OwnedFile
    fileprivate var chunks: FileChunks.Iterator
    fileprivate let isFollowed: Bool
    fileprivate let patience: Duration?

    mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(AnimatedImageError) -> [UInt8]? {
      let end = patience.map { ContinuousClock.now + $0 }
      while true {
        // A read of a pipe waits for data, so it begins only once there is data if the wait has an end.
        if end == nil || file.isReady {
          if let chunk = try await chunks.next(isolation: actor) { return chunk }
          guard isFollowed else { return nil }
        }
        guard end.map({ $0 > .now }) ?? true else { return nil }
        do { try await Task.sleep(for: InputChunks.interval) } catch { return nil }
      }
    }
  }
}

/// An open file, which is closed when its last user releases it. Standard input is borrowed and stays open.
private final class OwnedFile: Sendable {
  let descriptor: FileDescriptor
  private let isBorrowed: Bool

  init(_ path: FilePath?) throws(AnimatedImageError) {
    guard let path else {
      (descriptor, isBorrowed) = (.standardInput, true)
      return
    }
    descriptor = try FileDescriptor.opened(withoutWaiting: path)
    isBorrowed = false
  }

  deinit { if !isBorrowed { try? descriptor.close() } }

  var isRegular: Bool { (try? FileStatus(of: descriptor))?.isRegular ?? false }

  /// Whether a read would not wait, because there is data or the data has ended.
  var isReady: Bool {
    var request = [pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0)]
    return waitForEvents(&request, milliseconds: 0) > 0
  }
}
